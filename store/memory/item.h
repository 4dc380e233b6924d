/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file item.h
 * @brief Make an item, fill its value, read it, let go of it.
 *
 * An item is made WRITING, for the caller alone. store_index_put()
 * (store/memory/index.h) publishes it. A reference keeps the memory of an item,
 * also when the item has been replaced or deleted meanwhile.
 *
 * Lock:  none is held by the caller of store_item_make(), which may evict. The
 *        others may be called under a bucket lock.
 * Crash: an item that is not published is free after the recovery.
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

/** The same for one who goes through the value, and so need not search each
 * piece from the first one on. The place belongs to this item. */
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

#endif
