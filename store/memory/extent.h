/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file extent.h
 * @brief A space in memory: its extent, and what leads to its keys and chunks.
 *
 * Other folders read `name`, `slot`, `entry`, `figures` and `confirm` only. The
 * rest belongs to store/memory.
 *
 * Lock:  see the comment of each field. An item may be read under the lock of
 *        its bucket, or with a reference to it.
 */
#ifndef APPPOOL_STORE_MEMORY_EXTENT_H
#define APPPOOL_STORE_MEMORY_EXTENT_H

#include <stdint.h>

#include "base/store_figures.h"
#include "base/store_format.h"
#include "store/atomic.h"

struct store_table;
struct store_chunks;
struct store_sweep;

/** AppStoreConfirm: what a reply to a write waits for. */
typedef enum {
    STORE_CONFIRM_OFF,   /**< nothing */
    STORE_CONFIRM_ON,    /**< the slaves, as long as there is one */
    STORE_CONFIRM_REFUSE /**< the slaves; without one, writes are refused */
} store_space_confirm_t;

typedef struct store_space {
    unsigned slot;    /**< in the directory */
    const char *name; /**< in the directory */
    store_entry_t *entry;
    store_space_figures_t *figures;
    char *base;         /**< its extent, mapped */
    uint32_t pages_max; /**< the limit; atomic */
    int evict;          /**< may living items be evicted? atomic */
    int confirm;        /**< store_space_confirm_t; atomic */
    struct store_table *table;
    struct store_chunks *chunks;
    struct store_sweep *sweep;
    store_ref_t large_hand; /**< a large value, in the ring of all of them
                                 (chunk.h); 0: there is none. Lock: of the
                                 chunks */
    uint32_t large_chunks;  /**< of their pieces; the same lock */
    uint64_t large_coming;  /**< bytes of those that clients send now; atomic */
} store_space_t;

/** How far a walk through the bytes of one value has come. Zero at first. */
typedef struct {
    store_ref_t piece;
    uint32_t offset; /**< of the piece in the value */
} store_place_t;

/** The address of a reference. It must be one that this space gave. */
static inline store_item_t *store_at(const store_space_t *space,
                                     store_ref_t ref)
{
    return (store_item_t *)(uintptr_t)(space->base +
                                       (uint64_t)ref * STORE_UNIT);
}

static inline store_ref_t store_ref(const store_space_t *space,
                                    const store_item_t *item)
{
    return (store_ref_t)((uint64_t)((const char *)item - space->base) /
                         STORE_UNIT);
}

static inline char *store_item_key(const store_item_t *item)
{
    return (char *)(uintptr_t)(item + 1);
}

/** Bytes of header, key and value. */
static inline uint32_t store_item_size(const store_item_t *item)
{
    return (uint32_t)sizeof *item + item->klen + item->length;
}

/* ---- fields that a thread may read while another one writes them ---- */

static inline uint8_t store_state(const store_item_t *item)
{
    return STORE_GET_ACQUIRE(item->state);
}

/** Everything that was written before is there when the state is. */
static inline void store_state_set(store_item_t *item, uint8_t state)
{
    STORE_SET_RELEASE(item->state, state);
}

/** Chunks are aligned to 8 bytes, though the structure promises only 4. */
static inline uint64_t store_cas(const store_item_t *item)
{
    return __atomic_load_n(
        (const uint64_t *)__builtin_assume_aligned(item, STORE_UNIT),
        __ATOMIC_RELAXED);
}

static inline void store_cas_set(store_item_t *item, uint64_t cas)
{
    __atomic_store_n((uint64_t *)__builtin_assume_aligned(item, STORE_UNIT),
                     cas, __ATOMIC_RELAXED);
}

/** Has it expired? One that a connection has locked stays until the unlock.
 * @param now s on the store's clock */
static inline int store_expired(const store_item_t *item, uint32_t now)
{
    uint32_t exptime = STORE_GET(item->exptime);

    return exptime != 0 && exptime <= now &&
           !(STORE_GET(item->bits) & STORE_LOCKED);
}

/** Was it flushed? One that is locked stays until the unlock. A cas that a
 * client chose does not show which item is older. So such an item has the
 * number of the flushes before it. */
static inline int store_flushed(const store_space_t *space,
                                const store_item_t *item)
{
    unsigned bits = STORE_GET(item->bits);

    if (bits & STORE_LOCKED)
        return 0;
    if (bits & STORE_CAS_CHOSEN)
        return STORE_GET(item->flushes) !=
               (uint8_t)STORE_GET(space->entry->flushes);
    return store_cas(item) <= STORE_GET(space->entry->flushed);
}

/** Has it expired, or was it flushed? @param now s on the store's clock */
static inline int store_dead(const store_space_t *space,
                             const store_item_t *item, uint32_t now)
{
    return store_expired(item, now) || store_flushed(space, item);
}

/** s since its last use. */
static inline uint32_t store_age(const store_item_t *item, uint32_t now)
{
    uint32_t used = STORE_GET(item->used);

    return used < now ? now - used : 0;
}

/** Was it unused longer than another one? */
static inline int store_older(const store_item_t *item,
                              const store_item_t *than)
{
    uint32_t used = STORE_GET(item->used), other = STORE_GET(than->used);

    return used < other || (used == other && store_cas(item) < store_cas(than));
}

/** Is it LIVE, and only the index has it? Under the lock of its bucket that
 * stays so. */
static inline int store_unused(const store_item_t *item)
{
    /* ACQUIRE: the threads that gave a reference back have read the item. */
    return store_state(item) == STORE_LIVE &&
           STORE_GET_ACQUIRE(item->refs) == 1;
}

/** The item that a chunk belongs to: a piece belongs to its head. Until the
 * lock of the chunks is given back, a piece has the head that it names. */
static inline store_item_t *store_owner(const store_space_t *space,
                                        store_item_t *chunk)
{
    return store_state(chunk) == STORE_PIECE ? store_at(space, chunk->flags)
                                             : chunk;
}

#endif
