/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file counter.h
 * @brief Counters of a space: how much of a resource is in use, by whom.
 *
 * A counter has a name and a consumption. A connection acquires resources if
 * the consumption does not become larger than the maximum that it names, and
 * releases them. What it has not released when it ends is released then. A
 * counter is made when something is first acquired. Counters have nothing to do
 * with keys: they are private memory, are not evicted, not replicated, and
 * do not survive the store.
 *
 * A counter that nobody holds is kept to the end of the day, because of its
 * maximum (UTC), or until its memory is needed.
 *
 * Lock:  one for each table, inside of each function. Under it: no system call,
 *        no malloc, and no other lock.
 * Trust: names and numbers are those of a client. A space has at most
 *        STORE_COUNTERS_MAX counters, which have at most a sixteenth of its size.
 *        A connection can hold at most STORE_HOLDINGS_MAX counters.
 * Source: the counters of yrmcds 1.1.
 */
#ifndef APPPOOL_STORE_COMMAND_COUNTER_H
#define APPPOOL_STORE_COMMAND_COUNTER_H

#include <stdbool.h>

#include "store/command/holding.h"
#include "store/memory/extent.h"

#define STORE_COUNTERS_MAX 65536

/** As yrmcds sends it. */
typedef enum {
    STORE_COUNTER_DONE = 0,
    STORE_COUNTER_NOT_FOUND = 0x01,
    STORE_COUNTER_INVALID = 0x04,
    STORE_COUNTER_UNAVAILABLE = 0x21,
    STORE_COUNTER_NOT_ACQUIRED = 0x22,
    STORE_COUNTER_UNKNOWN = 0x81,
    STORE_COUNTER_NO_MEMORY = 0x82,
    STORE_COUNTER_TOO_MANY = 0x182 /**< sent as NO_MEMORY: STORE_HOLDINGS_MAX */
} store_counter_status_t;

/** The counters of a space. */
typedef struct store_counter_table store_counter_table_t;

typedef struct {
    const char *at;
    uint16_t n; /**< 1 .. 65535 */
} store_counter_name_t;

/** Their table. It is made when it is first asked for.
 *  @return NULL: no memory */
store_counter_table_t *store_counter_table(const store_space_t *);

/** The space is closed, and has no connection. */
void store_counter_forget(const store_space_t *);

store_counter_status_t store_counter_get(store_counter_table_t *,
                                         store_counter_name_t,
                                         uint32_t *consumption);

/** @param resources 1 .. maximum */
store_counter_status_t store_counter_acquire(store_counter_table_t *,
                                             store_holdings_t *,
                                             store_counter_name_t,
                                             uint32_t resources,
                                             uint32_t maximum);

store_counter_status_t store_counter_release(store_counter_table_t *,
                                             store_holdings_t *,
                                             store_counter_name_t,
                                             uint32_t resources);

/** Release all, and free the list. */
void store_counter_release_all(store_counter_table_t *, store_holdings_t *);

/** What a walk sees; valid during the call. */
typedef struct {
    store_counter_name_t name;
    uint32_t consumption;
    uint32_t most; /**< of this day, UTC */
} store_counter_view_t;

/**
 * Look at some counters. One that is there during the whole walk is seen once.
 * @param cursor 0 at the beginning; the function moves it
 * @param n      places in the table, with or without a counter
 * @param look   is called under the lock. false: it has no room for this one
 * @return false: that was the last one
 */
bool store_counter_walk(store_counter_table_t *, uint32_t *cursor, unsigned n,
                        bool (*look)(void *ctx, const store_counter_view_t *),
                        void *ctx);

typedef struct {
    uint64_t objects;       /**< counters */
    uint64_t objects_total; /**< that were ever made */
    uint64_t bytes;         /**< of their memory */
} store_counter_figures_t;

/** All zero, if the space has no table. */
store_counter_figures_t store_counter_figures(const store_space_t *);

#endif
