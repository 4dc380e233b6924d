/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file push.h
 * @brief When a master sends what it has gathered for a slave, and the marks.
 *
 * Each push has a mark at its end, if there are changes before it. Without
 * changes there is one mark a second: then the slave knows that it has all. One
 * follows the first echo at once: without it, the slave is not ready (mark.h).
 *
 * Lock:  none; one thread.
 * Errors: -1: the connection is over; see slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_PUSH_H
#define APPPOOL_STORE_CLUSTER_PUSH_H

#include <time.h>

#include "store/cluster/sender.h"

typedef struct {
    struct timespec at; /**< of CLOCK_MONOTONIC: the last push */
    uint64_t changes;   /**< that it had */
    uint64_t sent;      /**< changes before its end, as the cursor counts */
    int64_t marked_at;  /**< ms: the last mark; 0: none */
    int has_echoed;     /**< the slave, before the last mark */
} store_push_t;

/** Send all. The slave has all changes up to the place of the cursor then. */
int store_push(store_push_t *, store_sender_t *, const store_cursor_t *);

#define STORE_PUSH_PATIENCE 5 /* ms */

/** A client waits, and the slave has not echoed the mark of the last push. What
 * comes meanwhile is sent together after the echo: each push wakes the slave and
 * this thread. A slave that takes longer than STORE_PUSH_PATIENCE gets the next
 * one nevertheless. */
int store_push_is_early(const store_push_t *, const store_slave_link_t *);

/** Wait for more changes, so that they are sent together. A change that comes
 * alone does not wait. While a client waits, this is shorter. */
void store_push_gather(const store_push_t *);

#endif
