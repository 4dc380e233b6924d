/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file holding.h
 * @brief What a connection has acquired of which counter.
 *
 * A counter in the list is not freed, because its consumption is not 0.
 *
 * Lock:  that of the counters, except store_holding_prepare().
 */
#ifndef APPPOOL_STORE_COMMAND_HOLDING_H
#define APPPOOL_STORE_COMMAND_HOLDING_H

#include <stdbool.h>
#include <stdint.h>

/** Counters that one connection can hold. */
#define STORE_HOLDINGS_MAX 1024

typedef struct store_counter store_counter_t;

typedef struct {
    store_counter_t *counter;
    uint32_t resources; /**< never 0 */
} store_holding_t;

/** All zero: nothing. */
typedef struct {
    store_holding_t *all;
    uint32_t n, room;
} store_holdings_t;

/** Make room for one more, without the lock. */
void store_holding_prepare(store_holdings_t *);

/** @return NULL: nothing of this counter */
store_holding_t *store_holding_find(const store_holdings_t *,
                                    const store_counter_t *);

/** @return false: there was no room for one more */
bool store_holding_add(store_holdings_t *, store_counter_t *,
                       uint32_t resources);

/** @param resources at most those of the holding */
void store_holding_reduce(store_holdings_t *, store_holding_t *,
                          uint32_t resources);

#endif
