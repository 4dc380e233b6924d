/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/evict.h"

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/chunk.h"
#include "store/memory/table.h"

#define CANDIDATES 16
#define ROUNDS     8 /* of candidates, until one can be removed */
/* Chunks that are looked at. Many may be written to or read now, and are no
 * candidates. */
#define LOOKS      4096

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

/* The oldest of these and of the one that is known.
 * @return how many there are; -1: one was dead, and is removed */
static int oldest_of(store_space_t *space, const store_sample_t *sample,
                     uint32_t now, store_item_t **oldest)
{
    store_item_t *found = *oldest;
    uint32_t used = found ? STORE_GET(found->used) : 0;
    int n = 0;
    unsigned i;

    for (i = 0; i < sample->n; i++) {
        store_item_t *item = store_evict_owner(space, sample->chunk[i]);

        if (!store_evict_is_unused(item))
            continue;
        if (store_evict_is_dead(space, item, now) &&
            store_evict_item(space, item, now, STORE_EVICT_DEAD))
            return -1;
        n++;
        if (found && STORE_GET(item->used) > used)
            continue;
        if (!found || store_evict_is_older(item, found)) {
            found = item;
            used = STORE_GET(item->used);
        }
    }
    *oldest = found;
    return n;
}

store_item_t *store_evict_victim(store_space_t *space, unsigned class_,
                                 uint32_t now, int *freed)
{
    int candidates = 0, looks;
    store_item_t *oldest = NULL;
    store_sample_t sample;

    *freed = 0;
    for (looks = 0; looks < LOOKS && candidates < CANDIDATES;
         looks += STORE_SAMPLE) {
        int n;

        store_chunk_sample(space, class_, &sample);
        n = oldest_of(space, &sample, now, &oldest);
        *freed = n < 0;
        if (*freed || sample.n == 0)
            return NULL;
        candidates += n;
    }
    return oldest;
}

int store_evict(store_space_t *space, unsigned class_)
{
    uint32_t now = store_clock();
    int rounds, freed = 0;

    for (rounds = 0; rounds < ROUNDS; rounds++) {
        store_item_t *item = store_evict_victim(space, class_, now, &freed);

        if (!item)
            return freed;
        if (STORE_GET(space->evict) &&
            store_evict_item(space, item, now, STORE_EVICT_LIVING))
            return 1;
    }
    return 0;
}
