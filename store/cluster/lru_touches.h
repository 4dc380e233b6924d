/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lru_touches.h
 * @brief Tells a slave of ours which items were read lately.
 *
 * A read changes nothing, so it is not in the list of changes. But a slave that
 * is promoted has to evict what was unused longest. So a feeder goes over all
 * items now and then, and sends a touch for each one that was read since it was
 * there before. A space that evicts gets its turn after a quarter of the age of
 * what it evicts. So an item that is read all the time is younger on the slave,
 * too, than what is evicted there.
 *
 * Nobody waits for a use, and it has no position: nothing is confirmed by it.
 * At most 1024 uses are sent in a second, and only while the slave answers. If
 * there are more, each comes later.
 *
 * Lock:  one thread. It takes one bucket lock at a time, for as long as
 *        the list of one bucket is.
 * Errors: -1: the connection is over; see slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_LRU_TOUCHES_H
#define APPPOOL_STORE_CLUSTER_LRU_TOUCHES_H

#include "store/cluster/sender.h"

#define STORE_LRU_TOUCHES_ROOM 128 /* items of some buckets */

/** When this space had its last turn, and from when on it looks for uses. */
typedef struct {
    uint32_t from, began; /**< s on the store's clock */
} store_lru_touches_turn_t;

typedef struct {
    store_lru_touches_turn_t turn[STORE_SPACES]; /**< by slot */
    unsigned at;     /**< the next space, in the caller's list */
    uint32_t bucket; /**< the next one of its turn; 0: it has not begun */
    unsigned left;   /**< uses that may be sent in this second */
    int64_t second;  /**< ms: when that began */
    unsigned heard;  /**< of the outbox, at that time */

    store_item_t *taken[STORE_LRU_TOUCHES_ROOM]; /**< references */
    unsigned n;
} store_lru_touches_t;

/** Uses are told from now on. */
void store_lru_touches_begin(store_lru_touches_t *);

/**
 * Send some uses, if any are due.
 * @param spaces that the slave gets
 * @return 1: there may be more at once; 0: not before some time has passed; -1
 */
int store_lru_touches_run(store_lru_touches_t *, store_space_t *const *spaces,
                          unsigned n, store_sender_t *);

#endif
