/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/key_lock.h"

#include <stdlib.h>

#define FIRST_ROOM 4

/* @return its place in the list; n: this connection has not locked it */
static uint32_t find(const store_locks_t *locks, const store_item_t *item)
{
    uint32_t i = 0;

    while (i < locks->n && locks->items[i] != item)
        i++;
    return i;
}

static bool is_locked(const store_item_t *item)
{
    return STORE_GET(item->bits) & STORE_LOCKED;
}

/* Not by store_index_bits(): slaves learn nothing of locks. */
static void mark(store_item_t *item, bool locked)
{
    unsigned bits = STORE_GET(item->bits) & ~(unsigned)STORE_LOCKED;

    STORE_SET(item->bits, (uint8_t)(bits | (locked ? STORE_LOCKED : 0u)));
}

bool store_key_lock_has(const store_caller_t *caller, const store_item_t *item)
{
    const store_locks_t *locks = caller->locks;

    return locks && is_locked(item) && find(locks, item) < locks->n;
}

bool store_key_lock_forbids(const store_caller_t *caller,
                            const store_item_t *item)
{
    return is_locked(item) && !store_key_lock_has(caller, item);
}

void store_key_lock_prepare(const store_caller_t *caller)
{
    store_locks_t *locks = caller->locks;
    uint32_t room;
    store_item_t **items;

    if (locks == NULL || locks->n < locks->room ||
        locks->room == STORE_LOCKS_MAX)
        return;
    room = locks->room > 0 ? 2 * locks->room : FIRST_ROOM;
    items = realloc(locks->items, room * sizeof *items);
    if (items) {
        locks->items = items;
        locks->room = room;
    }
}

store_result_t store_key_lock_take(const store_caller_t *caller,
                                   store_item_t *item)
{
    store_locks_t *locks = caller->locks;

    if (is_locked(item))
        return STORE_LOCKED_OUT;
    if (locks == NULL || locks->n == STORE_LOCKS_MAX)
        return STORE_TOO_MANY_LOCKS;
    if (locks->n == locks->room)
        return STORE_NO_MEMORY;
    store_item_keep(item);
    locks->items[locks->n++] = item;
    mark(item, true);
    STORE_ADD(caller->space->figures->locks, 1);
    return STORE_DONE;
}

store_result_t store_key_lock(const store_caller_t *caller, const void *key,
                              uint8_t klen)
{
    store_bucket_t bucket;
    store_item_t *item;
    store_result_t rv = STORE_NOT_FOUND;

    store_key_lock_prepare(caller);
    store_index_lock(&bucket, caller->space, key, klen);
    item = store_index_find(&bucket, NULL);
    if (item)
        rv = store_key_lock_take(caller, item);
    store_index_unlock(&bucket);
    return rv;
}

/* The bit is cleared first: then the item may be freed with its reference. */
void store_key_lock_drop(const store_caller_t *caller, store_item_t *item)
{
    store_locks_t *locks = caller->locks;
    uint32_t i = find(locks, item);

    mark(item, false);
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
    if (item && store_key_lock_has(caller, item)) {
        store_key_lock_drop(caller, item);
        rv = STORE_DONE;
    }
    else if (item) {
        rv = STORE_NOT_LOCKED;
    }
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
        store_key_lock_drop(caller, item);
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

    if (old == NULL || !is_locked(old))
        return store_index_put(bucket, item, old, 0);
    i = find(caller->locks, old);
    mark(item, true);
    store_item_keep(item);
    caller->locks->items[i] = item;
    cas = store_index_put(bucket, item, old, 0);
    store_item_release(caller->space, old);
    return cas;
}

void store_key_lock_remove(const store_caller_t *caller, store_bucket_t *bucket,
                           store_item_t *item)
{
    bool locked = is_locked(item);

    store_index_remove(bucket, item);
    if (locked)
        store_key_lock_drop(caller, item);
}
