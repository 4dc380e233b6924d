/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/index.h"

#include <string.h>

#include "store/clock.h"
#include "store/memory/table.h"

void store_index_lock(store_bucket_t *b, store_space_t *space, const void *key,
                      uint8_t klen)
{
    b->space = space;
    b->key = key;
    b->klen = klen;
    b->hash = store_table_hash(key, klen);
    store_table_lock(space->table, b->hash);
}

void store_index_unlock(store_bucket_t *b)
{
    store_table_unlock(b->space->table, b->hash);
}

static store_item_t *look_up(const store_bucket_t *b)
{
    store_ref_t ref = *store_table_bucket(b->space->table, b->hash);

    while (ref) {
        store_item_t *item = store_at(b->space, ref);

        if (item->klen == b->klen &&
            memcmp(store_item_key(item), b->key, b->klen) == 0)
            return item;
        ref = item->next;
    }
    return NULL;
}

store_item_t *store_index_find(store_bucket_t *b, store_absent_t *why)
{
    store_item_t *item = look_up(b);
    store_absent_t absent = STORE_ABSENT_NEVER;

    if (item && store_flushed(b->space, item))
        absent = STORE_ABSENT_FLUSHED;
    else if (item && store_expired(item, store_clock()))
        absent = STORE_ABSENT_EXPIRED;
    else if (item)
        return item;
    if (item)
        store_index_remove(b, item);
    if (why)
        *why = absent;
    return NULL;
}

/* Only when something changes, so that a read does not make the cache line
 * dirty. */
void store_index_fetched(store_bucket_t *b, store_item_t *item)
{
    uint32_t now = store_clock();

    if (STORE_GET(item->used) != now)
        STORE_SET(item->used, now);
    if (!(STORE_GET(item->bits) & STORE_FETCHED))
        store_index_bits(b, item, STORE_FETCHED, 0);
}

void store_index_touch(store_bucket_t *b, store_item_t *item, uint32_t exptime)
{
    (void)b;
    STORE_SET(item->exptime, exptime);
}

void store_index_bits(store_bucket_t *b, store_item_t *item, unsigned set,
                      unsigned clear)
{
    unsigned bits = STORE_GET(item->bits);

    (void)b;
    STORE_SET(item->bits, (uint8_t)((bits & ~clear) | set));
}

static uint64_t give_cas(store_space_t *space, store_item_t *item, uint64_t cas)
{
    if (cas) {
        STORE_SET(item->bits,
                  (uint8_t)(STORE_GET(item->bits) | STORE_CAS_CHOSEN));
        STORE_SET(item->flushes, (uint8_t)STORE_GET(space->entry->flushes));
    }
    else
        cas = __atomic_add_fetch(&space->entry->cas, 1, __ATOMIC_RELAXED);
    store_cas_set(item, cas);
    return cas;
}

/* Nothing is acknowledged before the return, so a crash in between may leave
 * the old item, the new one, or both: the recovery takes one of them. */
uint64_t store_index_put(store_bucket_t *b, store_item_t *item,
                         store_item_t *old, uint64_t cas)
{
    store_space_figures_t *figures = b->space->figures;

    cas = give_cas(b->space, item, cas);
    item->check = store_item_check(item);
    store_item_keep(item);
    store_state_set(item, STORE_LIVE);
    store_table_link(b->space, b->hash, item);
    STORE_ADD(figures->items, 1);
    STORE_ADD(figures->items_total, 1);
    STORE_ADD(figures->item_bytes, store_item_size(item));
    if (old)
        store_index_remove(b, old);
    return cas;
}

/* Its key and value stay as long as a thread has a reference. */
void store_index_remove(store_bucket_t *b, store_item_t *item)
{
    store_space_figures_t *figures = b->space->figures;

    store_table_unlink(b->space, b->hash, item);
    store_state_set(item, STORE_FREE);
    STORE_ADD(figures->items, (uint64_t)-1);
    STORE_ADD(figures->item_bytes, -(uint64_t)store_item_size(item));
    store_item_release(b->space, item);
}

static int is_dead(const store_space_t *space, const store_item_t *item)
{
    return store_flushed(space, item) || store_expired(item, store_clock());
}

int store_index_walk(store_space_t *space, uint32_t *cursor, unsigned n,
                     void (*look)(void *ctx, const store_item_t *), void *ctx)
{
    uint32_t end = store_table_buckets(space->table);

    for (; n > 0 && *cursor < end; n--) {
        uint64_t hash = *cursor;
        store_ref_t ref;

        store_table_lock(space->table, hash);
        for (ref = *store_table_bucket(space->table, hash); ref;
             ref = store_at(space, ref)->next)
            if (!is_dead(space, store_at(space, ref)))
                look(ctx, store_at(space, ref));
        store_table_unlock(space->table, hash);
        ++*cursor;
    }
    return *cursor < end;
}
