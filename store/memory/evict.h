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

#include "store/memory/chunk.h"
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
 * @param now   s on the store's clock
 * @param freed 1: something was freed
 * @return NULL also if no item can be removed
 */
store_item_t *store_evict_victim(store_space_t *, unsigned class_, uint32_t now,
                                 int *freed);

/** Remove this item, if no thread uses it and its bucket is not locked.
 * @param now s on the store's clock
 * @return 1: it was removed */
int store_evict_item(store_space_t *, store_item_t *, uint32_t now,
                     store_evict_why_t);

/** Has it expired, or was it flushed? */
static inline int store_evict_is_dead(const store_space_t *space,
                                      const store_item_t *item, uint32_t now)
{
    return store_expired(item, now) || store_flushed(space, item);
}

/** Was it unused longer than another one? */
static inline int store_evict_is_older(const store_item_t *item,
                                       const store_item_t *than)
{
    uint32_t used = STORE_GET(item->used), other = STORE_GET(than->used);

    return used < other || (used == other && store_cas(item) < store_cas(than));
}

/** The item that a chunk belongs to: a piece belongs to its head. Until the lock
 * of the chunks is given back, a piece has the head that it names. */
static inline store_item_t *store_evict_owner(const store_space_t *space,
                                              store_item_t *chunk)
{
    return store_state(chunk) == STORE_PIECE ? store_at(space, chunk->flags)
                                             : chunk;
}

/** Is it the head or the end of a value in pieces? Most of that value is in other
 * pages. So to evict it for this chunk frees much more than is needed: a page has
 * up to 1,364 heads. */
static inline int store_evict_is_part(const store_item_t *chunk,
                                      unsigned class_)
{
    return class_ < STORE_CLASSES - 1 &&
           (store_state(chunk) == STORE_PIECE ||
            (STORE_GET(chunk->bits) & STORE_CHAINED));
}

/** Is it LIVE, and only the index has it? Under the lock of its bucket that
 * stays so. */
static inline int store_evict_is_unused(const store_item_t *item)
{
    /* ACQUIRE: the threads that gave a reference back have read the item. */
    return store_state(item) == STORE_LIVE &&
           __atomic_load_n(&item->refs, __ATOMIC_ACQUIRE) == 1;
}

#endif
