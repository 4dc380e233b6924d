/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file evict.h
 * @brief Room for a chunk when no chunk and no page is free.
 *
 * Lock:  the caller has the lock of the chunks, so no chunk gets another owner
 *        meanwhile. The lock of the victim's bucket is only tried.
 * Crash: a victim is removed by one store, to its state.
 */
#ifndef APPPOOL_STORE_MEMORY_EVICT_H
#define APPPOOL_STORE_MEMORY_EVICT_H

#include "store/memory/extent.h"

/** Why an item is removed, which decides what is counted. */
typedef enum {
    STORE_EVICT_LIVING, /**< living or dead, for its memory */
    STORE_EVICT_LARGE,  /**< the same, because the large ones have too much: its
                             class needs no page */
    STORE_EVICT_DEAD,   /**< only if it is dead, for its memory */
    STORE_EVICT_SWEPT   /**< only if it is dead */
} store_evict_why_t;

/**
 * Remove the least recently used of some items of the class, or a dead one.
 * @return 1: something was freed. 0: there is no room
 */
int store_evict(store_space_t *, unsigned class_);

/**
 * The least recently used of some items of the class, unless one of them is
 * dead: that one is removed.
 * @param freed 1: something was freed
 * @return NULL also if no item can be removed
 */
store_item_t *store_evict_victim(store_space_t *, unsigned class_, int *freed);

/** Remove this item, if no thread uses it and its bucket is not locked.
 * @param now s on the store's clock
 * @return 1: it was removed */
int store_evict_item(store_space_t *, store_item_t *, uint32_t now,
                     store_evict_why_t);

/** Has it expired, or was it flushed? */
int store_evict_is_dead(const store_space_t *, const store_item_t *,
                        uint32_t now);

/** Was it unused longer than another one? */
int store_evict_is_older(const store_item_t *, const store_item_t *than);

/** The item that a chunk belongs to: a piece belongs to its head. */
store_item_t *store_evict_owner(const store_space_t *, store_ref_t);

/** Is it LIVE, and only the index has it? Under the lock of its bucket that
 * stays so. */
int store_evict_is_unused(const store_item_t *);

#endif
