/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/old_copy.h"

#include "store/cluster/follower_state.h"
#include "store/memory/item.h"
#include "store/memory/region.h"
#include "store/memory/space.h"

#define BUCKETS 64 /* whose old items go at once */

int store_old_copy_is_shared(const store_old_copy_t *o,
                             const store_space_t *space)
{
    return !o->is_plain || store_cluster_is_open(o->hooks->config, space->name);
}

static int has_items(const store_old_copy_t *o)
{
    store_space_t *space;
    unsigned i;

    for (i = 0; (space = o->hooks->nth(i)); i++)
        if (store_old_copy_is_shared(o, space) &&
            STORE_GET(space->figures->items) > 0)
            return 1;
    return 0;
}

void store_old_copy_begin(store_old_copy_t *o, void (*begins)(int is_kept))
{
    store_space_t *space;
    unsigned i;

    o->is_kept =
        STORE_GET(store_region_directory()->lacks) != STORE_LACKS_ITEMS &&
        has_items(o);
    if (begins)
        begins(o->is_kept);
    for (i = 0; (space = o->hooks->nth(i)); i++) {
        if (!store_old_copy_is_shared(o, space))
            continue;
        if (o->is_kept)
            store_space_age(space, o->progress);
        else
            store_space_empty(space, o->progress);
    }
}

/* What a set needs to be made. */
typedef struct {
    store_space_t *space;
    const char *key;
    const store_packet_t *p;
    uint32_t exptime;
} wanted_t;

static store_item_t *make(const wanted_t *w, int spares)
{
    store_item_t *item;

    store_item_spares = spares;
    item = store_item_make(w->space, w->key, w->p->klen, w->p->flags,
                           w->exptime, w->p->value);
    store_item_spares = 0;
    return item;
}

/* Its memory is probably what the new one needs. */
static void remove_old_one(const wanted_t *w)
{
    store_bucket_t b;
    store_item_t *old;

    store_index_lock(&b, w->space, w->key, w->p->klen);
    old = store_index_find(&b, NULL);
    if (old && STORE_GET(old->bits) & STORE_OLD_COPY)
        store_index_remove(&b, old);
    store_index_unlock(&b);
}

/* @return 0: there are no more */
static int remove_some(store_old_copy_t *o, store_space_t *space)
{
    return STORE_GET(space->evict) &&
           store_index_clear(space, &o->cursor[space->slot], BUCKETS,
                             STORE_CLEAR_OLD);
}

/* What is left is no whole copy. */
static void give_up(store_old_copy_t *o, store_space_t *space)
{
    o->is_given_up[space->slot] = 1;
    store_follower_state_begins(0);
    store_space_forget_old(space, o->progress);
}

store_item_t *store_old_copy_make(store_old_copy_t *o, store_space_t *space,
                                  const char *key, const store_packet_t *p,
                                  uint32_t exptime)
{
    const wanted_t w = {space, key, p, exptime};
    store_item_t *item;
    int more = 1;

    if (!o->is_kept || o->is_given_up[space->slot])
        return make(&w, 0);
    item = make(&w, 1);
    if (item)
        return item;
    remove_old_one(&w);
    while (!(item = make(&w, 1)) && more)
        more = remove_some(o, space);
    if (item)
        return item;
    give_up(o, space);
    return make(&w, 0);
}

void store_old_copy_end(store_old_copy_t *o)
{
    store_space_t *space;
    unsigned i;

    for (i = 0; o->is_kept && (space = o->hooks->nth(i)); i++)
        if (store_old_copy_is_shared(o, space) && !o->is_given_up[space->slot])
            store_space_forget_old(space, o->progress);
    o->is_kept = 0;
}
