/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/protocol/verbs.h"

#include <stdlib.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/space.h"

static void count(const store_caller_t *caller, unsigned what)
{
    store_count(caller->counters, what, 1);
}

/* ---- locks of items ---- */

#define FIRST_ROOM 4

/* @return its place in the list; n: this connection has not locked it */
static uint32_t find(const store_locks_t *locks, const store_item_t *item)
{
    uint32_t i = 0;

    while (i < locks->n && locks->items[i] != item)
        i++;
    return i;
}

static int is_locked(const store_item_t *item)
{
    return STORE_GET(item->bits) & STORE_LOCKED;
}

/* Not by store_index_bits(): slaves learn nothing of locks. */
static void mark(store_item_t *item, int locked)
{
    unsigned bits = STORE_GET(item->bits) & ~(unsigned)STORE_LOCKED;

    STORE_SET(item->bits, (uint8_t)(bits | (locked ? STORE_LOCKED : 0u)));
}

/* Has this connection locked the item? */
static int has_lock(const store_caller_t *caller, const store_item_t *item)
{
    const store_locks_t *locks = caller->locks;

    return locks && is_locked(item) && find(locks, item) < locks->n;
}

int store_key_lock_forbids(const store_caller_t *caller,
                           const store_item_t *item)
{
    return is_locked(item) && !has_lock(caller, item);
}

/* Room for one lock more, before the bucket is locked. */
static void prepare_lock(const store_caller_t *caller)
{
    store_locks_t *locks = caller->locks;
    uint32_t room;
    store_item_t **items;

    if (!locks || locks->n < locks->room || locks->room == STORE_LOCKS_MAX)
        return;
    room = locks->room > 0 ? 2 * locks->room : FIRST_ROOM;
    items = realloc(locks->items, room * sizeof *items);
    if (items) {
        locks->items = items;
        locks->room = room;
    }
}

/* @return as store_key_lock() */
static store_result_t take_lock(const store_caller_t *caller,
                                store_item_t *item)
{
    store_locks_t *locks = caller->locks;

    if (is_locked(item))
        return STORE_LOCKED_OUT;
    if (!locks || locks->n == STORE_LOCKS_MAX)
        return STORE_TOO_MANY_LOCKS;
    if (locks->n == locks->room)
        return STORE_NO_MEMORY;
    store_item_keep(item);
    locks->items[locks->n++] = item;
    mark(item, 1);
    STORE_ADD(caller->space->figures->locks, 1);
    return STORE_DONE;
}

store_result_t store_key_lock(const store_caller_t *caller, const void *key,
                              uint8_t klen)
{
    store_bucket_t bucket;
    store_item_t *item;
    store_result_t rv = STORE_NOT_FOUND;

    prepare_lock(caller);
    store_index_lock(&bucket, caller->space, key, klen);
    item = store_index_find(&bucket, NULL);
    if (item)
        rv = take_lock(caller, item);
    store_index_unlock(&bucket);
    return rv;
}

/* Unlock the item, which this connection has locked. The bit is cleared first:
 * then the item may be freed with its reference. */
static void drop_lock(const store_caller_t *caller, store_item_t *item)
{
    store_locks_t *locks = caller->locks;
    uint32_t i = find(locks, item);

    mark(item, 0);
    locks->items[i] = locks->items[--locks->n];
    STORE_ADD(caller->space->figures->locks, (uint64_t)-1);
    store_item_release(caller->space, item);
}

store_result_t store_key_unlock(const store_caller_t *caller, const void *key,
                                uint8_t klen)
{
    store_bucket_t bucket;
    store_item_t *item;
    store_result_t rv = STORE_NOT_FOUND;

    store_index_lock(&bucket, caller->space, key, klen);
    item = store_index_find(&bucket, NULL);
    if (item && has_lock(caller, item)) {
        drop_lock(caller, item);
        rv = STORE_DONE;
    }
    else if (item)
        rv = STORE_NOT_LOCKED;
    store_index_unlock(&bucket);
    return rv;
}

/* The key of an item that the connection keeps is there until the reference is
 * given back. */
void store_key_unlock_all(const store_caller_t *caller)
{
    const store_locks_t *locks = caller->locks;
    store_bucket_t bucket;

    while (locks && locks->n > 0) {
        store_item_t *item = locks->items[locks->n - 1];

        store_index_lock(&bucket, caller->space, store_item_key(item),
                         item->klen);
        drop_lock(caller, item);
        store_index_unlock(&bucket);
    }
}

void store_key_lock_free(const store_caller_t *caller)
{
    store_locks_t *locks = caller->locks;

    store_key_unlock_all(caller);
    free(locks->items);
    *locks = (store_locks_t){0};
}

uint64_t store_key_lock_put(const store_caller_t *caller,
                            store_bucket_t *bucket, store_item_t *item,
                            store_item_t *old)
{
    uint64_t cas;
    uint32_t i;

    if (!old || !is_locked(old))
        return store_index_put(bucket, item, old, 0);
    i = find(caller->locks, old);
    mark(item, 1);
    store_item_keep(item);
    caller->locks->items[i] = item;
    cas = store_index_put(bucket, item, old, 0);
    store_item_release(caller->space, old);
    return cas;
}

/* Its lock is gone, too. */
static void remove_item(const store_caller_t *caller, store_bucket_t *bucket,
                        store_item_t *item)
{
    int locked = is_locked(item);

    store_index_remove(bucket, item);
    if (locked)
        drop_lock(caller, item);
}

/* ---- copies ---- */

store_item_t *store_copy_begin(store_copy_t *copy)
{
    store_bucket_t bucket;

    store_index_lock(&bucket, copy->space, copy->key, copy->klen);
    copy->old = store_index_find(&bucket, &copy->why);
    if (copy->old)
        store_item_keep(copy->old);
    store_index_unlock(&bucket);
    return copy->old;
}

int store_copy_make(store_copy_t *copy, uint64_t length)
{
    if (length > store_item_max)
        return 0;
    copy->item =
        store_item_make(copy->space, copy->key, copy->klen, copy->old->flags,
                        STORE_GET(copy->old->exptime), (uint32_t)length);
    if (copy->copied)
        *copy->copied += length;
    return copy->item != NULL;
}

int store_copy_is_unsafe(const void *key, size_t n)
{
    return memchr(key, '\n', n) || memchr(key, '\r', n);
}

void store_copy_key_bit(store_item_t *item, const store_item_t *from)
{
    if (store_copy_is_unsafe(store_item_key(item), item->klen))
        store_copy_mark(item, STORE_GET(from->bits) & STORE_KEY_BINARY);
}

/* The whole value of an item, into another one. */
static void copy_value(store_space_t *space, const store_item_t *from,
                       store_item_t *to, uint32_t offset)
{
    store_place_t source = {0, 0}, target = {0, 0};
    uint32_t n, room;
    uint32_t at;

    for (at = 0; at < from->length; at += n) {
        const char *bytes = store_item_next_bytes(space, from, at, &n, &source);
        char *into =
            store_item_next_bytes(space, to, offset + at, &room, &target);

        n = n < room ? n : room;
        memcpy(into, bytes, n);
    }
}

/* The reference keeps the memory of the old item, so no other item can have its
 * address. */
int store_copy_is_present(store_copy_t *copy, store_bucket_t *bucket)
{
    if (store_index_find(bucket, NULL) != copy->old)
        return 0;
    if (copy->item && copy->old)
        store_index_touch(bucket, copy->item, STORE_GET(copy->old->exptime));
    return 1;
}

void store_copy_end(store_copy_t *copy)
{
    if (copy->old)
        store_item_release(copy->space, copy->old);
    if (copy->item)
        store_item_release(copy->space, copy->item);
    copy->old = copy->item = NULL;
}

/* ---- fetch ---- */

static void count_fetch(const store_caller_t *caller, const store_fetch_t *f,
                        const store_item_t *item, store_absent_t why)
{
    if (f->refused)
        return;
    if (f->touch)
        count(caller, item ? STORE_TOUCH_HITS : STORE_TOUCH_MISSES);
    else {
        count(caller, STORE_GETS);
        if (item)
            count(caller, STORE_HITS);
    }
    if (why == STORE_ABSENT_EXPIRED)
        count(caller, STORE_GETS_EXPIRED);
    if (why == STORE_ABSENT_FLUSHED)
        count(caller, STORE_GETS_FLUSHED);
}

/* Does this client win the right to renew the item? */
static int is_won(const store_fetch_t *f)
{
    uint32_t exptime = f->recache_last ? f->after : f->before;

    if (f->bits & STORE_TOKEN_SENT)
        return 0;
    if (f->win_stale && f->bits & STORE_STALE)
        return 1;
    return f->recache && exptime != 0 && exptime < f->recache_time;
}

/* Under the lock: note what it is, change it. */
static void fetch_present(store_bucket_t *bucket, store_item_t *item,
                          store_fetch_t *f)
{
    f->bits = STORE_GET(item->bits);
    f->used = STORE_GET(item->used);
    f->before = STORE_GET(item->exptime);
    f->after = f->touch ? f->exptime : f->before;
    f->won = is_won(f);
    if (f->touch)
        store_index_touch(bucket, item, f->exptime);
    if (!f->no_update)
        store_index_fetched(bucket, item);
    if (f->won)
        store_index_bits(bucket, item, STORE_TOKEN_SENT, 0);
}

/* Under the lock: put the empty item. */
static void fetch_created(store_bucket_t *bucket, store_item_t *item,
                          store_fetch_t *f)
{
    f->created = 1;
    f->won = !f->no_win;
    f->used = store_clock();
    f->bits = f->binary_key ? STORE_KEY_BINARY : 0;
    f->after = item->exptime;
    store_index_bits(bucket, item, f->bits | (f->won ? STORE_TOKEN_SENT : 0u),
                     0);
    if (!f->no_update)
        store_index_fetched(bucket, item);
    store_index_put(bucket, item, NULL, 0);
}

/* With a reference for the caller. NULL: there is none. */
static store_item_t *fetch_try(const store_caller_t *caller, const void *key,
                               uint8_t klen, store_fetch_t *f,
                               store_item_t *fresh, store_absent_t *why)
{
    store_bucket_t bucket;
    store_item_t *item;

    *why = STORE_ABSENT_NEVER;
    store_index_lock(&bucket, caller->space, key, klen);
    item = store_index_find(&bucket, why);
    if (item && STORE_GET(item->refs) > STORE_REFS_MAX) {
        f->overflow = 1;
        item = NULL;
    }
    else if (item && f->lock &&
             (f->refused = (uint8_t)take_lock(caller, item)) != 0) {
        item = NULL;
    }
    else if (item) {
        *why = STORE_ABSENT_NEVER;
        fetch_present(&bucket, item, f);
        store_item_keep(item);
    }
    else if (fresh) {
        fetch_created(&bucket, fresh, f);
        store_item_keep(fresh);
        item = fresh;
    }
    store_index_unlock(&bucket);
    return item;
}

store_item_t *store_verbs_fetch(const store_caller_t *caller, const void *key,
                                uint8_t klen, store_fetch_t *f)
{
    store_absent_t why;
    store_item_t *item;

    if (f->lock)
        prepare_lock(caller);
    item = fetch_try(caller, key, klen, f, NULL, &why);
    if (!item && f->vivify && !f->overflow) {
        store_item_t *fresh =
            store_item_make(caller->space, key, klen, 0, f->vivify_exptime, 0);

        if (fresh) {
            item = fetch_try(caller, key, klen, f, fresh, &why);
            store_item_release(caller->space, fresh);
        }
    }
    count_fetch(caller, f, item, item ? STORE_ABSENT_NEVER : why);
    return item;
}

/* ---- delete ---- */

/* Under the lock. */
static store_result_t delete_found(const store_caller_t *caller,
                                   store_bucket_t *bucket, store_item_t *item,
                                   const store_delete_t *how,
                                   store_item_t *copy)
{
    if (!item)
        return STORE_NOT_FOUND;
    if (store_key_lock_forbids(caller, item))
        return STORE_LOCKED_OUT;
    if (how->has_cas && item->cas != how->cas)
        return STORE_EXISTS;
    if (!copy) {
        remove_item(caller, bucket, item);
        return STORE_DONE;
    }
    if (how->touch)
        store_index_touch(bucket, copy, how->exptime);
    store_index_bits(bucket, copy,
                     STORE_STALE | (STORE_GET(item->bits) &
                                    (STORE_FETCHED | STORE_KEY_BINARY)),
                     0);
    store_key_lock_put(caller, bucket, copy, item);
    return STORE_DONE;
}

/* A new cas is a new item: a copy that is stale. */
static store_result_t delete_stale(const store_caller_t *caller,
                                   const void *key, uint8_t klen,
                                   const store_delete_t *how)
{
    store_copy_t copy = {.space = caller->space,
                         .copied = caller->copied,
                         .key = key,
                         .klen = klen};
    store_bucket_t bucket;
    store_result_t result = STORE_NO_MEMORY;
    int done = 0;

    while (!done) {
        store_item_t *old = store_copy_begin(&copy);

        if (old && !(how->has_cas && old->cas != how->cas)) {
            done = !store_copy_make(&copy, old->length);
            if (!done)
                copy_value(caller->space, old, copy.item, 0);
        }
        if (!done) {
            store_index_lock(&bucket, caller->space, key, klen);
            done = store_copy_is_present(&copy, &bucket);
            if (done)
                result = delete_found(caller, &bucket, old, how, copy.item);
            store_index_unlock(&bucket);
        }
        store_copy_end(&copy);
    }
    return result;
}

store_result_t store_verbs_delete(const store_caller_t *caller, const void *key,
                                  uint8_t klen, const store_delete_t *how)
{
    store_bucket_t bucket;
    store_result_t result;

    if (how->stale)
        result = delete_stale(caller, key, klen, how);
    else {
        store_index_lock(&bucket, caller->space, key, klen);
        result = delete_found(caller, &bucket, store_index_find(&bucket, NULL),
                              how, NULL);
        store_index_unlock(&bucket);
        if (result == STORE_DONE)
            count(caller, STORE_DELETE_HITS);
    }
    if (result == STORE_NOT_FOUND || (result == STORE_EXISTS && how->has_cas))
        count(caller, STORE_DELETE_MISSES);
    return result;
}

void store_verbs_drop(const store_caller_t *caller, const void *key,
                      uint8_t klen)
{
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, caller->space, key, klen);
    item = store_index_find(&bucket, NULL);
    if (item && !store_key_lock_forbids(caller, item))
        remove_item(caller, &bucket, item);
    store_index_unlock(&bucket);
}

void store_verbs_flush(const store_caller_t *caller, int64_t exptime)
{
    int64_t at = exptime > 0 ? store_clock_exptime(exptime) : 0;

    count(caller, STORE_FLUSHES);
    store_space_flush(caller->space, at > 0 ? at - store_clock() : 0);
}

/* ---- set, add, replace, append, prepend, cas ---- */

/* May an item be stored where there is this one, or none (NULL), as far as its
 * mode says? A cas that does not match is refused. */
static store_result_t judge_mode(const store_update_t *how,
                                 const store_item_t *old)
{
    if (!old)
        switch (how->mode) {
        case STORE_MODE_SET:
        case STORE_MODE_ADD:
            return STORE_DONE;
        case STORE_MODE_CAS:
            return STORE_NOT_FOUND;
        default:
            return STORE_NOT_STORED;
        }
    switch (how->mode) {
    case STORE_MODE_ADD:
        return STORE_NOT_STORED;
    case STORE_MODE_CAS:
        if (how->cas != 0 && how->cas == old->cas)
            return STORE_DONE;
        return how->cas != 0 && how->stale && how->cas < old->cas
                   ? STORE_DONE
                   : STORE_EXISTS;
    case STORE_MODE_APPEND:
    case STORE_MODE_PREPEND:
        return how->cas == 0 || how->cas == old->cas ? STORE_DONE
                                                     : STORE_EXISTS;
    default:
        return STORE_DONE;
    }
}

static store_result_t judge(const store_caller_t *caller,
                            const store_update_t *how, const store_item_t *old)
{
    if (old && how->unlock && !has_lock(caller, old))
        return STORE_NOT_LOCKED;
    if (old && store_key_lock_forbids(caller, old))
        return STORE_LOCKED_OUT;
    return judge_mode(how, old);
}

static void count_cas(const store_caller_t *caller, const store_update_t *how,
                      store_result_t rv)
{
    if (how->mode != STORE_MODE_CAS || rv == STORE_LOCKED_OUT ||
        rv == STORE_NOT_LOCKED)
        return;
    count(caller, rv == STORE_DONE     ? STORE_CAS_HITS
                  : rv == STORE_EXISTS ? STORE_CAS_BADVAL
                                       : STORE_CAS_MISSES);
}

/* What is older than the present item is stale, and expires when that does. */
static void inherit(store_bucket_t *bucket, store_item_t *item,
                    const store_item_t *old)
{
    store_index_touch(bucket, item, STORE_GET(old->exptime));
    store_index_bits(bucket, item,
                     STORE_STALE | (STORE_GET(old->bits) & STORE_TOKEN_SENT),
                     0);
}

static store_result_t replace(const store_caller_t *caller, store_item_t *item,
                              const store_update_t *how, uint64_t *cas)
{
    store_bucket_t bucket;
    store_item_t *old;
    store_result_t rv;

    store_index_lock(&bucket, caller->space, store_item_key(item), item->klen);
    old = store_index_find(&bucket, NULL);
    rv = judge(caller, how, old);
    if (rv == STORE_DONE) {
        if (old && how->mode == STORE_MODE_CAS && how->cas != old->cas)
            inherit(&bucket, item, old);
        *cas = store_key_lock_put(caller, &bucket, item, old);
        if (how->unlock)
            drop_lock(caller, item);
    }
    else if (how->mode == STORE_MODE_ADD && rv == STORE_NOT_STORED) {
        /* The present one counts as used. */
        STORE_SET(old->used, store_clock());
    }
    store_index_unlock(&bucket);
    return rv;
}

/* Both values in a new item. */
static store_result_t join(store_copy_t *copy, const store_item_t *item,
                           int append)
{
    const store_item_t *first = append ? copy->old : item;
    const store_item_t *second = append ? item : copy->old;

    if (!store_copy_make(copy, (uint64_t)first->length + second->length))
        return STORE_NOT_STORED;
    store_copy_key_bit(copy->item, item);
    copy_value(copy->space, first, copy->item, 0);
    copy_value(copy->space, second, copy->item, first->length);
    return STORE_DONE;
}

static store_result_t extend(const store_caller_t *caller, store_item_t *item,
                             const store_update_t *how, uint64_t *cas)
{
    store_copy_t copy = {.space = caller->space,
                         .copied = caller->copied,
                         .key = store_item_key(item),
                         .klen = item->klen};
    store_bucket_t bucket;
    store_result_t rv;
    int done;

    do {
        store_copy_begin(&copy);
        rv = judge(caller, how, copy.old);
        if (rv == STORE_DONE)
            rv = join(&copy, item, how->mode == STORE_MODE_APPEND);
        done = rv != STORE_DONE;
        if (!done) {
            store_index_lock(&bucket, copy.space, copy.key, copy.klen);
            done = store_copy_is_present(&copy, &bucket);
            if (done)
                rv = judge(caller, how, copy.old);
            if (done && rv == STORE_DONE)
                *cas = store_key_lock_put(caller, &bucket, copy.item, copy.old);
            store_index_unlock(&bucket);
        }
        store_copy_end(&copy);
    } while (!done);
    return rv;
}

store_result_t store_update(const store_caller_t *caller, store_item_t *item,
                            const store_update_t *how, uint64_t *cas)
{
    store_result_t rv;

    *cas = 0;
    count(caller, STORE_SETS);
    if (how->mode == STORE_MODE_APPEND || how->mode == STORE_MODE_PREPEND)
        rv = extend(caller, item, how, cas);
    else
        rv = replace(caller, item, how, cas);
    count_cas(caller, how, rv);
    return rv;
}
