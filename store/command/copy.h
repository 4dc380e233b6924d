/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file copy.h
 * @brief A new item that takes the place of the present one and has something
 *        of it: for append, incr and what else changes a value.
 *
 *     do {
 *         store_copy_begin()            the present item
 *         store_copy_make()             the new one, and fill it
 *         store_index_lock()
 *         if (store_copy_is_present())  no thread has changed it
 *             store_index_put()
 *         store_index_unlock()
 *         store_copy_end()
 *     } while (it was not the present one);
 *
 * Each further round means that another thread has succeeded.
 *
 * Lock:  store_copy_begin() takes and gives back the bucket lock.
 * Crash: a new item that is not put is free after the recovery.
 */
#ifndef APPPOOL_STORE_COMMAND_COPY_H
#define APPPOOL_STORE_COMMAND_COPY_H

#include <stdbool.h>
#include <stddef.h>

#include "store/memory/item.h"

typedef struct {
    store_space_t *space;
    uint64_t *copied; /**< of the caller; NULL: nobody counts */
    const void *key;
    uint8_t klen;
    store_item_t *old;  /**< with a reference; NULL: there is none */
    store_item_t *item; /**< the new one; NULL: not made */
    store_absent_t why; /**< old is NULL */
} store_copy_t;

/** Find the present item. The fields before it are filled in.
 *  @return old */
store_item_t *store_copy_begin(store_copy_t *);

/** Make the new item, with the flags and the exptime of the old one.
 *  @return false: no room, or too large */
bool store_copy_make(store_copy_t *, uint64_t length);

/** Set bits of an item that is not published. */
static inline void store_copy_mark(store_item_t *item, unsigned bits)
{
    STORE_SET(item->bits, (uint8_t)(STORE_GET(item->bits) | bits));
}

/** Would the key end a line of text? memcached forgets with each copy that the
 * key is binary. Ours does so too, unless such a key would break an answer. */
bool store_copy_is_unsafe(const void *key, size_t n);

/** Keep STORE_KEY_BINARY of another item, if the key is unsafe. */
void store_copy_key_bit(store_item_t *, const store_item_t *from);

/** Copy the whole value of an item into another one. */
void store_copy_value(store_space_t *, const store_item_t *from,
                      store_item_t *to, uint32_t offset);

/** Under the lock: is `old` still what the index has? If so, the new item gets
 * its exptime, which another thread may have changed. */
bool store_copy_is_present(store_copy_t *, store_bucket_t *);

/** Give both references back. */
void store_copy_end(store_copy_t *);

#endif
