/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file table.h
 * @brief The hash table of a space: buckets of references, and their locks.
 *
 * A bucket is a list of items, linked by `next`. The buckets are 4 bytes for
 * each 256 bytes of the space, and become memory when they are used. When the
 * space becomes larger, so does the table: the buckets of one lock after the
 * other are split.
 *
 * Lock:  1,024 locks (64 in a space below 16 MiB), each for many buckets.
 *        store_table_lock() waits. store_table_try() does not, so that it may
 *        be called under the lock of the chunks.
 */
#ifndef APPPOOL_STORE_MEMORY_TABLE_H
#define APPPOOL_STORE_MEMORY_TABLE_H

#include <stddef.h>

#include "store/memory/extent.h"

typedef struct store_table store_table_t;

/** @return NULL: no memory */
store_table_t *store_table_make(uint64_t size);
void store_table_free(store_table_t *);

/** The hash of a key: SipHash with a random key, one for each start. */
uint64_t store_table_hash(const void *key, size_t n);

void store_table_lock(store_table_t *, uint64_t hash);
/** @return 1: locked; 0: another thread has it */
int store_table_try(store_table_t *, uint64_t hash);
void store_table_unlock(store_table_t *, uint64_t hash);

/** The bucket of a hash; a power of two of them. The caller has the lock. */
store_ref_t *store_table_bucket(store_table_t *, uint64_t hash);
uint32_t store_table_buckets(const store_table_t *);

/** @name for a thread that goes over all buckets. The table may grow meanwhile:
 * each item that is there all the time is seen once.
 * @{ */
/** Begin. No lock is held. @param cursor 0, or that of a walk that goes on; it
 * can be locked as a hash */
void store_table_begin(store_table_t *, uint32_t *cursor);
#define STORE_TABLE_NO_PART UINT64_MAX
/** The parts of the bucket at the cursor, under its lock. @param n from 0 on
 * @return its hash; STORE_TABLE_NO_PART: there are no more */
uint64_t store_table_part(const store_table_t *, uint32_t cursor, uint64_t n);
/** @return 0: that was the last bucket, and the cursor is 0 again */
int store_table_next(uint32_t *cursor);
/** @} */

/** Make the table as large as a space of that size needs, or a part of that: a
 * millisecond for a few thousand items. The main thread.
 * @return 1: there is more to do */
int store_table_grow(store_space_t *, uint64_t size);

/** Link and unlink an item. The caller has the lock. */
void store_table_link(store_space_t *, uint64_t hash, store_item_t *);
void store_table_unlink(store_space_t *, uint64_t hash, store_item_t *);

/** Another item, in the place of one that is linked. */
void store_table_replace(store_space_t *, uint64_t hash, store_item_t *,
                         store_item_t *by);

#endif
