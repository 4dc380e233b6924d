/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file backoff.h
 * @brief A slave that was too slow has to wait before it joins again: 1 s, then
 *        2, 4 .. 60 s. A copy that is never complete helps nobody, and costs
 *        the master.
 *
 * Lock:  the main thread.
 */
#ifndef APPPOOL_STORE_CLUSTER_BACKOFF_H
#define APPPOOL_STORE_CLUSTER_BACKOFF_H

#include "store/cluster/cluster.h"

typedef struct {
    store_address_t address;
    int64_t until; /**< ms */
    int64_t wait;  /**< ms: the last one; 0: this entry is free */
} store_backoff_entry_t;

typedef struct {
    store_backoff_entry_t entry[STORE_PEERS * 2]; /**< no others are let in */
} store_backoff_t;

/** It was too slow again. @param now ms */
void store_backoff_add(store_backoff_t *, const store_address_t *, int64_t now);

/** May it join? */
int store_backoff_is_over(const store_backoff_t *, const store_address_t *,
                          int64_t now);

#endif
