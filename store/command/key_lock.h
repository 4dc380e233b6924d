/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file key_lock.h
 * @brief Locks of items. A lock belongs to a connection, and ends with it.
 *
 * A locked item can be read by all. Only the connection that has locked it can
 * change or delete it. It is not evicted. If it expires or is flushed, it is
 * there until the unlock. What the connection stores under its key is locked,
 * too.
 *
 * A lock is a bit of the item (STORE_LOCKED), and a reference in the list of the
 * connection. The bit says that somebody has locked it. The list of a
 * connection, which no other thread sees, says whether it was this one. Because
 * of the reference the item is not evicted, and its memory stays, so no other
 * item can have its address.
 *
 * Lock:  store_key_lock(), _unlock(), _unlock_all() and _free() take the lock of
 *        the bucket. The functions with an item
 *        are called under it.
 * Crash: all locks are gone: the recovery clears the bit (store/memory/recover.h).
 * Trust: a connection can lock at most STORE_LOCKS_MAX items.
 */
#ifndef APPPOOL_STORE_COMMAND_KEY_LOCK_H
#define APPPOOL_STORE_COMMAND_KEY_LOCK_H

#include <stdbool.h>

#include "store/command/caller.h"
#include "store/memory/item.h"

/** Items that one connection can lock. */
#define STORE_LOCKS_MAX  1024

/** The text of STORE_TOO_MANY_LOCKS, in both protocols. */
#define STORE_LOCKS_TEXT "too many locks: a connection can have at most 1024"

/** What a connection has locked. All zero: nothing. */
typedef struct store_locks {
    store_item_t **items; /**< each with a reference */
    uint32_t n, room;
} store_locks_t;

/** @return STORE_DONE, STORE_NOT_FOUND, STORE_LOCKED_OUT (also if this
 *          connection has it), STORE_TOO_MANY_LOCKS, STORE_NO_MEMORY */
store_result_t store_key_lock(const store_caller_t *, const void *key,
                              uint8_t klen);

/** @return STORE_DONE, STORE_NOT_FOUND, STORE_NOT_LOCKED */
store_result_t store_key_unlock(const store_caller_t *, const void *key,
                                uint8_t klen);

/** Unlock what this connection has locked. */
void store_key_unlock_all(const store_caller_t *);

/** Unlock everything, and free the list. */
void store_key_lock_free(const store_caller_t *);

/* ---- for the verbs ---- */

/** Make room for one lock more, before the bucket is locked. */
void store_key_lock_prepare(const store_caller_t *);

/** Lock an item that was found. @return as store_key_lock(); STORE_DONE is 0 */
store_result_t store_key_lock_take(const store_caller_t *, store_item_t *);

/** Has this connection locked the item? */
bool store_key_lock_has(const store_caller_t *, const store_item_t *);

/** Has another connection locked the item? */
bool store_key_lock_forbids(const store_caller_t *, const store_item_t *);

/** store_index_put() with the next cas. The lock of the old item becomes that of
 * the new one. @param old NULL: there is none */
uint64_t store_key_lock_put(const store_caller_t *, store_bucket_t *,
                            store_item_t *item, store_item_t *old);

/** store_index_remove(), and the lock of the item is gone. */
void store_key_lock_remove(const store_caller_t *, store_bucket_t *,
                           store_item_t *);

/** Unlock the item, which this connection has locked. */
void store_key_lock_drop(const store_caller_t *, store_item_t *);

#endif
