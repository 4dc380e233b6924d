/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/memory/index.h"

#include <string.h>

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/table.h"

/* A slave has these bits, too. They may change while an item is LIVE. */
#define SENT_BITS    (STORE_STALE | STORE_TOKEN_SENT | STORE_KEY_BINARY)

/* s: of lag, and of the part of a second that the clocks of two stores differ */
#define EXPIRES_SOON 60

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

/* An item that is not published yet is no change. */
static void note(const store_bucket_t *b, const store_item_t *item,
                 store_change_kind_t kind)
{
    if (store_state(item) == STORE_LIVE)
        store_changes_add(b->space, kind, b->key, b->klen, store_cas(item));
}

void store_index_touch(store_bucket_t *b, store_item_t *item, uint32_t exptime)
{
    uint32_t old = STORE_GET(item->exptime);

    if (old == exptime)
        return;
    STORE_SET(item->exptime, exptime);
    /* A slave may have let it expire by then, so it needs the value. */
    note(b, item,
         old != 0 && old < store_clock() + EXPIRES_SOON ? STORE_CHANGE_PUT
                                                        : STORE_CHANGE_TOUCH);
}

void store_index_bits(store_bucket_t *b, store_item_t *item, unsigned set,
                      unsigned clear)
{
    unsigned old = STORE_GET(item->bits), bits = (old & ~clear) | set;

    STORE_SET(item->bits, (uint8_t)bits);
    if ((old ^ bits) & SENT_BITS)
        note(b, item, STORE_CHANGE_PUT);
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

/* Its key and value stay as long as a thread has a reference. */
static void take_out(store_bucket_t *b, store_item_t *item)
{
    store_space_figures_t *figures = b->space->figures;

    store_table_unlink(b->space, b->hash, item);
    store_state_set(item, STORE_FREE);
    STORE_ADD(figures->items, (uint64_t)-1);
    STORE_ADD(figures->item_bytes, -(uint64_t)store_item_size(item));
    store_item_release(b->space, item);
}

/* Nothing is acknowledged before the return, so a crash in between may leave
 * the old item, the new one, or both: the recovery takes one of them. */
static void publish(store_bucket_t *b, store_item_t *item, store_item_t *old)
{
    store_space_figures_t *figures = b->space->figures;

    item->check = store_item_check(item);
    store_item_keep(item);
    store_state_set(item, STORE_LIVE);
    store_table_link(b->space, b->hash, item);
    STORE_ADD(figures->items, 1);
    STORE_ADD(figures->items_total, 1);
    STORE_ADD(figures->item_bytes, store_item_size(item));
    if (old)
        take_out(b, old);
    note(b, item, STORE_CHANGE_PUT);
}

uint64_t store_index_put(store_bucket_t *b, store_item_t *item,
                         store_item_t *old, uint64_t cas)
{
    cas = give_cas(b->space, item, cas);
    publish(b, item, old);
    return cas;
}

/* The counter is raised first: format.h, invariant 6. */
static void raise_cas(store_space_t *space, uint64_t cas)
{
    uint64_t counter = STORE_GET(space->entry->cas);

    while (counter < cas &&
           !__atomic_compare_exchange_n(&space->entry->cas, &counter, cas, 1,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void store_index_put_copy(store_bucket_t *b, store_item_t *item,
                          store_item_t *old, uint64_t cas, unsigned bits)
{
    STORE_SET(item->bits,
              (uint8_t)(STORE_GET(item->bits) | (bits & SENT_BITS)));
    if (cas == 0 || bits & STORE_CAS_CHOSEN)
        give_cas(b->space, item, cas);
    else {
        raise_cas(b->space, cas);
        store_cas_set(item, cas);
    }
    publish(b, item, old);
}

void store_index_remove(store_bucket_t *b, store_item_t *item)
{
    note(b, item, STORE_CHANGE_REMOVE);
    take_out(b, item);
}

static int is_dead(const store_space_t *space, const store_item_t *item)
{
    return store_flushed(space, item) || store_expired(item, store_clock());
}

#define FETCHED 64 /* buckets whose items are fetched at once */

/* Items are in memory that is far away: fetch the first one of each bucket, or
 * the one behind it. No lock is between the fetches, because it would wait for
 * each of them. */
static void fetch(store_space_t *space, uint32_t cursor, unsigned n, int second)
{
    store_ref_t ref[FETCHED];
    unsigned found = 0;
    int more = 1;

    for (; n > 0 && more; n--) {
        store_table_lock(space->table, cursor);
        ref[found] = *store_table_bucket(
            space->table, store_table_part(space->table, cursor, 0));
        if (ref[found] && second)
            ref[found] = store_at(space, ref[found])->next;
        found += ref[found] != 0;
        store_table_unlock(space->table, cursor);
        more = store_table_next(&cursor);
    }
    while (found > 0)
        __builtin_prefetch(store_at(space, ref[--found]));
}

int store_index_walk(store_space_t *space, uint32_t *cursor, unsigned n,
                     void (*look)(void *ctx, const store_item_t *), void *ctx)
{
    unsigned at;
    int more = 1;

    for (at = 0; at < n && more; at++) {
        uint64_t hash, part;
        store_ref_t ref;

        store_table_begin(space->table, cursor);
        if (at % FETCHED == 0 && n > 1) {
            unsigned some = n - at < FETCHED ? n - at : FETCHED;

            fetch(space, *cursor, some, 0);
            fetch(space, *cursor, some, 1);
        }
        store_table_lock(space->table, *cursor);
        for (part = 0; (hash = store_table_part(space->table, *cursor, part)) !=
                       STORE_TABLE_NO_PART;
             part++)
            for (ref = *store_table_bucket(space->table, hash); ref;
                 ref = store_at(space, ref)->next)
                if (!is_dead(space, store_at(space, ref)))
                    look(ctx, store_at(space, ref));
        store_table_unlock(space->table, *cursor);
        more = store_table_next(cursor);
    }
    return more;
}

/* Under the lock of the bucket. The bucket has no key of its own here: each item
 * has one. */
static void clear_bucket(store_space_t *space, uint64_t hash,
                         store_clear_t what)
{
    store_ref_t ref = *store_table_bucket(space->table, hash);

    while (ref) {
        store_item_t *item = store_at(space, ref);
        store_bucket_t b = {space, store_item_key(item), item->klen, hash};

        ref = item->next;
        if (what == STORE_CLEAR_ALL || is_dead(space, item) ||
            (what == STORE_CLEAR_OLD && STORE_GET(item->bits) & STORE_OLD_COPY))
            store_index_remove(&b, item);
    }
}

static void age_bucket(store_space_t *space, uint64_t hash, store_clear_t what)
{
    store_ref_t ref;

    clear_bucket(space, hash, what);
    for (ref = *store_table_bucket(space->table, hash); ref;
         ref = store_at(space, ref)->next) {
        store_item_t *item = store_at(space, ref);

        STORE_SET(item->bits,
                  (uint8_t)(STORE_GET(item->bits) | STORE_OLD_COPY));
    }
}

static int each_bucket(store_space_t *space, uint32_t *cursor, unsigned n,
                       void (*on_bucket)(store_space_t *, uint64_t,
                                         store_clear_t),
                       store_clear_t what)
{
    int more = 1;

    for (; n > 0 && more; n--) {
        uint64_t hash, part;

        store_table_begin(space->table, cursor);
        store_table_lock(space->table, *cursor);
        for (part = 0; (hash = store_table_part(space->table, *cursor, part)) !=
                       STORE_TABLE_NO_PART;
             part++)
            on_bucket(space, hash, what);
        store_table_unlock(space->table, *cursor);
        more = store_table_next(cursor);
    }
    return more;
}

int store_index_age(store_space_t *space, uint32_t *cursor, unsigned n)
{
    return each_bucket(space, cursor, n, age_bucket, STORE_CLEAR_DEAD);
}

int store_index_clear(store_space_t *space, uint32_t *cursor, unsigned n,
                      store_clear_t what)
{
    return each_bucket(space, cursor, n, clear_bucket, what);
}
