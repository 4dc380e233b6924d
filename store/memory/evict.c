/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/evict.h"

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/chunk.h"
#include "store/memory/piece.h"
#include "store/memory/table.h"

#define CANDIDATES 16
#define ROUNDS     8 /* of candidates, until one can be removed */
/* Chunks that are looked at. Many may be written to or read now, and are no
 * candidates. */
#define LOOKS      4096

int store_evict_is_dead(const store_space_t *space, const store_item_t *item,
                        uint32_t now)
{
    return store_expired(item, now) || store_flushed(space, item);
}

int store_evict_is_unused(const store_item_t *item)
{
    /* ACQUIRE: the threads that gave a reference back have read the item. */
    return store_state(item) == STORE_LIVE &&
           __atomic_load_n(&item->refs, __ATOMIC_ACQUIRE) == 1;
}

static void count_eviction(store_space_t *space, const store_item_t *item,
                           uint32_t now)
{
    int class_ =
        store_chunk_class(space, store_chunk_page(store_ref(space, item)));
    store_class_stat_t *stat = store_chunk_stat(space, (unsigned)class_);
    uint32_t used = STORE_GET(item->used);

    stat->evictions++;
    stat->evicted_age = used < now ? now - used : 0;
    STORE_ADD(space->figures->evictions, 1);
    STORE_SET(space->figures->evicted_age, stat->evicted_age);
}

static void count(store_space_t *space, const store_item_t *item, uint32_t now,
                  int dead, store_evict_why_t why)
{
    store_space_figures_t *figures = space->figures;

    STORE_ADD(figures->items, (uint64_t)-1);
    STORE_ADD(figures->item_bytes, -(uint64_t)store_item_size(item));
    if (!dead && why == STORE_EVICT_LARGE)
        STORE_ADD(figures->evictions, 1);
    else if (!dead)
        count_eviction(space, item, now);
    else if (why == STORE_EVICT_SWEPT)
        STORE_ADD(figures->expired, 1);
    else
        STORE_ADD(figures->reclaimed, 1);
}

static int may_live(store_evict_why_t why)
{
    return why == STORE_EVICT_LIVING || why == STORE_EVICT_LARGE;
}

int store_evict_item(store_space_t *space, store_item_t *item, uint32_t now,
                     store_evict_why_t why)
{
    uint64_t hash;
    int dead, taken;

    if (!store_evict_is_unused(item))
        return 0;
    hash = store_table_hash(store_item_key(item), item->klen);
    if (!store_table_try(space->table, hash))
        return 0;
    dead = store_evict_is_dead(space, item, now);
    taken = store_evict_is_unused(item) && (dead || may_live(why));
    if (taken) {
        store_table_unlink(space, hash, item);
        store_state_set(item, STORE_FREE);
        store_changes_add(space, STORE_CHANGE_REMOVE, store_item_key(item),
                          item->klen, store_cas(item));
    }
    store_table_unlock(space->table, hash);
    if (taken) {
        count(space, item, now, dead, why);
        store_piece_free(space, item);
    }
    return taken;
}

/* Until the lock of the chunks is given back, a piece has the head that it
 * names. */
store_item_t *store_evict_owner(const store_space_t *space, store_ref_t ref)
{
    store_item_t *item = store_at(space, ref);

    return store_state(item) == STORE_PIECE ? store_at(space, item->flags)
                                            : item;
}

int store_evict_is_older(const store_item_t *item, const store_item_t *than)
{
    uint32_t used = STORE_GET(item->used), other = STORE_GET(than->used);

    return used < other || (used == other && store_cas(item) < store_cas(than));
}

/* @return 1: it was dead, and is removed */
static int look(store_space_t *space, store_item_t *chunk, uint32_t now,
                store_item_t **oldest, int *candidates)
{
    store_item_t *item = store_evict_owner(space, store_ref(space, chunk));

    if (!store_evict_is_unused(item))
        return 0;
    if (store_evict_is_dead(space, item, now) &&
        store_evict_item(space, item, now, STORE_EVICT_DEAD))
        return 1;
    if (!*oldest || store_evict_is_older(item, *oldest))
        *oldest = item;
    ++*candidates;
    return 0;
}

store_item_t *store_evict_victim(store_space_t *space, unsigned class_,
                                 int *freed)
{
    uint32_t now = store_clock();
    int candidates = 0, looks;
    store_item_t *oldest = NULL;
    store_sample_t sample;

    *freed = 0;
    for (looks = 0; looks < LOOKS && candidates < CANDIDATES;
         looks += STORE_SAMPLE) {
        unsigned i;

        store_chunk_sample(space, class_, &sample);
        for (i = 0; i < sample.n && !*freed; i++)
            *freed = look(space, sample.chunk[i], now, &oldest, &candidates);
        if (*freed || sample.n == 0)
            return NULL;
    }
    return oldest;
}

int store_evict(store_space_t *space, unsigned class_)
{
    int rounds, freed = 0;

    for (rounds = 0; rounds < ROUNDS; rounds++) {
        store_item_t *item = store_evict_victim(space, class_, &freed);

        if (!item)
            return freed;
        if (STORE_GET(space->evict) &&
            store_evict_item(space, item, store_clock(), STORE_EVICT_LIVING))
            return 1;
    }
    return 0;
}
