/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file item.h
 * @brief Make an item, fill its value, publish it; find it, read it, remove it.
 *
 * An item is made WRITING, for the caller alone. store_index_put() publishes
 * it. A reference keeps the memory of an item, also when the item has been
 * replaced or deleted meanwhile.
 *
 * The bucket of a key is its SipHash-2-4 with a random key for each start of
 * the store, because the keys come from attackers. The number of buckets
 * follows from the size of the space (table.h).
 *
 * Lock:  none is held by the caller of store_item_make(), which may evict. The
 *        other functions of an item may be called under a bucket lock.
 *        store_index_lock() takes the lock of a bucket, store_index_unlock()
 *        gives it back. Between both: no system call, no log, no malloc, no
 *        copy above 8 KB, no other bucket, no store_item_make().
 * Crash: an item that is not published is free after the recovery. Each
 *        function of the index leaves the memfd in a state that recovery
 *        understands, after each instruction (base/store_format.h).
 */
#ifndef APPPOOL_STORE_MEMORY_ITEM_H
#define APPPOOL_STORE_MEMORY_ITEM_H

#include "store/memory/extent.h"

/** 1: this thread evicts nothing to make an item. A slave has an old copy that
 * goes first. */
extern _Thread_local int store_item_spares;

/** Largest value, bytes. Set once, before the threads. */
extern uint32_t store_item_max;

/**
 * Get room for an item.
 * @param klen    1 .. STORE_KEY_MAX
 * @param exptime s on the store's clock; 0: never
 * @param length  bytes of the value; at most store_item_max
 * @return with one reference, which is the caller's. NULL: there is no room
 *         (store_space_t.evict is off, or all items are in use)
 */
store_item_t *store_item_make(store_space_t *, const void *key, uint8_t klen,
                              uint32_t flags, uint32_t exptime,
                              uint32_t length);

/**
 * The bytes of the value from `offset` on that are together in memory.
 * @param offset below item->length
 * @param n      how many there are
 */
char *store_item_bytes(const store_space_t *, const store_item_t *,
                       uint32_t offset, uint32_t *n);

/** Bytes from `offset` on, for a caller that goes through the value: it
 * does not search each piece from the first one on. The place belongs to
 * this item. */
char *store_item_next_bytes(const store_space_t *, const store_item_t *,
                            uint32_t offset, uint32_t *n, store_place_t *);

/** Copy bytes of the value, from memory and to memory. */
void store_item_read(const store_space_t *, const store_item_t *,
                     uint32_t offset, void *to, uint32_t n);
void store_item_write(store_space_t *, store_item_t *, uint32_t offset,
                      const void *from, uint32_t n);

/** The check of an item, or of a piece, as it is now (format.h). */
uint16_t store_item_check(const store_item_t *);

/** One reference more. The caller has one, or holds the bucket lock of an item
 * that it found there. */
void store_item_keep(store_item_t *);

/** Give a reference back. The last one frees an item that is not in the index.
 */
void store_item_release(store_space_t *, store_item_t *);

/* ---- the index ---- */

/** A bucket that is locked, for one key. */
typedef struct {
    store_space_t *space;
    const char *key;
    uint8_t klen;
    uint64_t hash;
} store_bucket_t;

void store_index_lock(store_bucket_t *, store_space_t *, const void *key,
                      uint8_t klen);
void store_index_unlock(store_bucket_t *);

/** Why store_index_find() has found nothing. */
typedef enum {
    STORE_ABSENT_NEVER,
    STORE_ABSENT_EXPIRED,
    STORE_ABSENT_FLUSHED
} store_absent_t;

/**
 * The item of the key. An item that has expired or was flushed is removed.
 * @param why NULL, or the reason of NULL
 * @return without a reference: valid until the unlock. NULL: there is none
 */
store_item_t *store_index_find(store_bucket_t *, store_absent_t *why);

/** Note an access: `used`, and STORE_FETCHED. */
void store_index_fetched(store_bucket_t *, store_item_t *);

/** Another expiry time. @param exptime s on the store's clock; 0: never */
void store_index_touch(store_bucket_t *, store_item_t *, uint32_t exptime);

/** Set and clear bits of an item (STORE_STALE and others). */
void store_index_bits(store_bucket_t *, store_item_t *, unsigned set,
                      unsigned clear);

/**
 * Publish an item that was made for this key, instead of the present one.
 * @param old what store_index_find() has found, or NULL
 * @param cas 0: the next of the space; else this one, which the client chose
 * @return the item's cas
 */
uint64_t store_index_put(store_bucket_t *, store_item_t *, store_item_t *old,
                         uint64_t cas);

/**
 * Publish an item that came from a master, with its cas. The counter of the
 * space becomes at least that cas, so a promoted slave gives no cas twice.
 * @param cas  0: the master told none, so it is the next of the space
 * @param bits those of the master's item that a client can see. With
 *             STORE_CAS_CHOSEN the cas does not change the counter
 */
void store_index_put_copy(store_bucket_t *, store_item_t *, store_item_t *old,
                          uint64_t cas, unsigned bits);

/** Remove the present item. */
void store_index_remove(store_bucket_t *, store_item_t *);

/** What store_index_clear() removes, beside what has expired or was flushed. */
typedef enum {
    STORE_CLEAR_DEAD, /**< nothing */
    STORE_CLEAR_ALL,
    STORE_CLEAR_OLD /**< what has STORE_OLD_COPY */
} store_clear_t;

/**
 * Remove items of some buckets.
 * @param cursor 0 at the beginning; the function moves it
 * @param n      buckets
 * @return 0: that was the last bucket, and the cursor is 0 again
 */
int store_index_clear(store_space_t *, uint32_t *cursor, unsigned n,
                      store_clear_t);

/** Remove what is dead of some buckets, and mark the rest as STORE_OLD_COPY.
 * That is no change. Otherwise like store_index_clear(). */
int store_index_age(store_space_t *, uint32_t *cursor, unsigned n);

/**
 * Look at the living items of some buckets, for `keys` and metadump.
 * @param cursor 0 at the beginning; the function moves it
 * @param n      buckets
 * @param look   is called under the lock of the bucket
 * @return 0: that was the last bucket, and the cursor is 0 again
 */
int store_index_walk(store_space_t *, uint32_t *cursor, unsigned n,
                     void (*look)(void *ctx, const store_item_t *), void *ctx);

#endif
