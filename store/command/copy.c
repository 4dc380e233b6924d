/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/copy.h"

#include <string.h>

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

bool store_copy_make(store_copy_t *copy, uint64_t length)
{
    if (length > store_item_max)
        return false;
    copy->item =
        store_item_make(copy->space, copy->key, copy->klen, copy->old->flags,
                        STORE_GET(copy->old->exptime), (uint32_t)length);
    if (copy->copied)
        *copy->copied += length;
    return copy->item != NULL;
}

bool store_copy_is_unsafe(const void *key, size_t n)
{
    return memchr(key, '\n', n) || memchr(key, '\r', n);
}

void store_copy_key_bit(store_item_t *item, const store_item_t *from)
{
    if (store_copy_is_unsafe(store_item_key(item), item->klen))
        store_copy_mark(item, STORE_GET(from->bits) & STORE_KEY_BINARY);
}

void store_copy_value(store_space_t *space, const store_item_t *from,
                      store_item_t *to, uint32_t offset)
{
    store_place_t source = {0, 0}, target = {0, 0};
    uint32_t n, room;

    for (uint32_t at = 0; at < from->length; at += n) {
        const char *bytes = store_item_next_bytes(space, from, at, &n, &source);
        char *into =
            store_item_next_bytes(space, to, offset + at, &room, &target);

        n = n < room ? n : room;
        memcpy(into, bytes, n);
    }
}

/* The reference keeps the memory of the old item, so no other item can have its
 * address. */
bool store_copy_is_present(store_copy_t *copy, store_bucket_t *bucket)
{
    if (store_index_find(bucket, NULL) != copy->old)
        return false;
    if (copy->item && copy->old)
        store_index_touch(bucket, copy->item, STORE_GET(copy->old->exptime));
    return true;
}

void store_copy_end(store_copy_t *copy)
{
    if (copy->old)
        store_item_release(copy->space, copy->old);
    if (copy->item)
        store_item_release(copy->space, copy->item);
    copy->old = copy->item = NULL;
}
