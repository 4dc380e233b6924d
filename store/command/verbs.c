/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/verbs.h"

#include <stddef.h>

#include "store/clock.h"
#include "store/command/copy.h"
#include "store/command/key_lock.h"
#include "store/memory/item.h"
#include "store/memory/space.h"

static void count(const store_caller_t *caller, unsigned what)
{
    store_count(caller->counters, what, 1);
}

static void count_fetch(const store_caller_t *caller, const store_fetch_t *f,
                        const store_item_t *item, store_absent_t why)
{
    if (f->refused)
        return;
    if (f->touch) {
        count(caller, item ? STORE_TOUCH_HITS : STORE_TOUCH_MISSES);
    }
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
static bool is_won(const store_fetch_t *f)
{
    uint32_t exptime = f->recache_last ? f->after : f->before;

    if (f->bits & STORE_TOKEN_SENT)
        return false;
    if (f->win_stale && f->bits & STORE_STALE)
        return true;
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
    f->created = true;
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
        f->overflow = true;
        item = NULL;
    }
    else if (item && f->lock &&
             (f->refused = (uint8_t)store_key_lock_take(caller, item)) != 0) {
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
        store_key_lock_prepare(caller);
    item = fetch_try(caller, key, klen, f, NULL, &why);
    if (item == NULL && f->vivify && !f->overflow) {
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
    if (item == NULL)
        return STORE_NOT_FOUND;
    if (store_key_lock_forbids(caller, item))
        return STORE_LOCKED_OUT;
    if (how->has_cas && item->cas != how->cas)
        return STORE_EXISTS;
    if (copy == NULL) {
        store_key_lock_remove(caller, bucket, item);
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
    bool done = false;

    while (!done) {
        store_item_t *old = store_copy_begin(&copy);

        if (old && !(how->has_cas && old->cas != how->cas)) {
            done = !store_copy_make(&copy, old->length);
            if (!done)
                store_copy_value(caller->space, old, copy.item, 0);
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

    if (how->stale) {
        result = delete_stale(caller, key, klen, how);
    }
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
        store_key_lock_remove(caller, &bucket, item);
    store_index_unlock(&bucket);
}

void store_verbs_flush(const store_caller_t *caller, int64_t exptime)
{
    int64_t at = exptime > 0 ? store_clock_exptime(exptime) : 0;

    count(caller, STORE_FLUSHES);
    store_space_flush(caller->space, at > 0 ? at - store_clock() : 0);
}
