/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file verbs.h
 * @brief What can be done with an item: fetch, store, delete, lock, flush. No
 *        protocol, no socket. delta.h has incr and decr.
 *
 * Each verb counts itself in the counters of the caller.
 *
 * Lock:  one worker. A verb takes the bucket lock of the key, and gives it
 *        back. New items are made, and values are copied, without it. If
 *        another thread has changed the item meanwhile, the verb begins again.
 * Crash: each verb is one store_index_put() or store_index_remove() (see
 *        store/memory/item.h). No item is locked then: the recovery clears the
 *        bit (store/memory/space.c).
 * Trust: keys and values are those of a client. The caller has checked that a
 *        key has 1 .. STORE_KEY_MAX bytes. A connection can lock at most
 *        STORE_LOCKS_MAX items.
 */
#ifndef APPPOOL_STORE_PROTOCOL_VERBS_H
#define APPPOOL_STORE_PROTOCOL_VERBS_H

#include <stddef.h>

#include "store/memory/item.h"

/** Items that one connection can lock. */
#define STORE_LOCKS_MAX  1024

/** The text of STORE_TOO_MANY_LOCKS, in both protocols. */
#define STORE_LOCKS_TEXT "too many locks: a connection can have at most 1024"

/** What a connection has locked. All zero: nothing. */
typedef struct {
    store_item_t **items; /**< each with a reference */
    uint32_t n, room;
} store_locks_t;

/** Whose verbs: a space, the counters of the worker for it, the work, and what
 * the connection has locked. */
typedef struct {
    store_space_t *space;
    store_counters_t *counters;
    uint64_t *copied; /**< bytes of values that were copied are added; may be
                         NULL */
    store_locks_t *locks; /**< NULL: it has none, and can lock nothing */
} store_caller_t;

/** Results of all verbs. */
typedef enum {
    STORE_DONE,
    STORE_CREATED,
    STORE_NOT_STORED,
    STORE_EXISTS,
    STORE_NOT_FOUND,
    STORE_NOT_NUMERIC,
    STORE_NO_MEMORY,
    STORE_LOCKED_OUT,    /**< it is locked, and not by this connection */
    STORE_NOT_LOCKED,    /**< this connection has not locked it */
    STORE_TOO_MANY_LOCKS /**< this connection has STORE_LOCKS_MAX of them */
} store_result_t;

/* ---- fetch ---- */

/** More references than that to one item are refused. */
#define STORE_REFS_MAX 60000

/** How to fetch, and what was seen. Times are s on the store's clock. */
typedef struct {
    int touch; /**< give it this exptime */
    uint32_t exptime;
    int vivify; /**< make an empty item if there is none */
    uint32_t vivify_exptime;
    int binary_key; /**< of an item that is made: not memcached's way, but its
                        key would break an answer that returns it */
    int recache;    /**< win, if it expires before recache_time */
    uint32_t recache_time;
    int recache_last; /**< look at the exptime after the touch */
    int win_stale;    /**< win, if it is stale and no client has won before */
    int no_win;       /**< no client wins */
    int no_update;    /**< do not note this access */
    int lock;         /**< lock it; NULL is returned if that fails */

    int created;     /**< there was none */
    int won;         /**< this client is to renew it */
    int overflow;    /**< NULL was returned because of STORE_REFS_MAX */
    uint8_t refused; /**< NULL was returned because of the lock: a
                        store_result_t; else 0 */
    uint32_t before; /**< its exptime before the touch; of a new item: 0 */
    uint32_t after;  /**< its exptime now */
    uint32_t used;   /**< the last access before this one */
    uint8_t bits;    /**< before this fetch changed them */
} store_fetch_t;

/** @return with a reference, which is the caller's; NULL: there is none */
store_item_t *store_verbs_fetch(const store_caller_t *, const void *key,
                                uint8_t klen, store_fetch_t *);

/* ---- set, add, replace, append, prepend, cas ---- */

/** How to update. */
typedef enum {
    STORE_MODE_SET,
    STORE_MODE_ADD,
    STORE_MODE_REPLACE,
    STORE_MODE_APPEND,
    STORE_MODE_PREPEND,
    STORE_MODE_CAS
} store_mode_t;

typedef struct {
    store_mode_t mode;
    uint64_t cas; /**< what the present item has to have; 0: any */
    int stale;    /**< STORE_MODE_CAS: store an older one, marked as stale */
    int unlock;   /**< REPLACE, CAS: this connection has locked it; unlock it */
} store_update_t;

/**
 * Put an item that was made for it and is filled, or a copy that contains it.
 * @param item stays the caller's to release
 * @param cas  the cas of what was stored; 0 if nothing was
 * @return STORE_DONE, STORE_NOT_STORED, STORE_EXISTS, STORE_NOT_FOUND,
 *         STORE_LOCKED_OUT, STORE_NOT_LOCKED
 */
store_result_t store_update(const store_caller_t *, store_item_t *item,
                            const store_update_t *, uint64_t *cas);

/* ---- delete, flush ---- */

/** How to delete. */
typedef struct {
    uint64_t cas; /**< what it has to have */
    int has_cas;
    int stale; /**< do not delete it: mark it as stale, with a new cas */
    int touch; /**< stale: and give it this exptime */
    uint32_t exptime;
} store_delete_t;

/** @return STORE_DONE, STORE_EXISTS (another cas), STORE_NOT_FOUND,
 *          STORE_LOCKED_OUT, STORE_NO_MEMORY (for a copy that is stale) */
store_result_t store_verbs_delete(const store_caller_t *, const void *key,
                                  uint8_t klen, const store_delete_t *);

/** Delete an item that a failed update would have replaced: it is out of date.
 * It is not counted. One that another connection has locked stays. */
void store_verbs_drop(const store_caller_t *, const void *key, uint8_t klen);

/** All items are dead. @param exptime as a client writes it; 0: now */
void store_verbs_flush(const store_caller_t *, int64_t exptime);

/* ---- locks of items ----
 *
 * A locked item can be read by all. Only the connection that has locked it can
 * change or delete it. It is not evicted. If it expires or is flushed, it is
 * there until the unlock. What the connection stores under its key is locked,
 * too. A lock ends with its connection.
 *
 * A lock is a bit of the item (STORE_LOCKED), and a reference in the list of
 * the connection. The bit says that somebody has locked it. The list of a
 * connection, which no other thread sees, says whether it was this one. Because
 * of the reference the item is not evicted, and its memory stays, so no other
 * item can have its address. */

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

/** Under the lock of the bucket: has another connection locked the item? */
int store_key_lock_forbids(const store_caller_t *, const store_item_t *);

/** store_index_put() with the next cas. The lock of the old item becomes that
 * of the new one. @param old NULL: there is none */
uint64_t store_key_lock_put(const store_caller_t *, store_bucket_t *,
                            store_item_t *item, store_item_t *old);

/* ---- a new item that has something of the present one ----
 *
 * For append, incr and what else changes a value:
 *
 *     do {
 *         store_copy_begin()            the present item
 *         store_copy_make()             the new one, and fill it
 *         store_index_lock()
 *         if (store_copy_is_present())  no thread has changed it
 *             store_key_lock_put()
 *         store_index_unlock()
 *         store_copy_end()
 *     } while (it was not the present one);
 *
 * Each further round means that another thread has succeeded. */

typedef struct {
    store_space_t *space;
    uint64_t *copied; /**< of the caller; NULL: nobody counts */
    const void *key;
    uint8_t klen;
    store_item_t *old;  /**< with a reference; NULL: there is none */
    store_item_t *item; /**< the new one; NULL: not made */
    store_absent_t why; /**< old is NULL */
} store_copy_t;

/** Find the present item; it takes the lock of the bucket. The fields before it
 * are filled in.
 *  @return old */
store_item_t *store_copy_begin(store_copy_t *);

/** Make the new item, with the flags and the exptime of the old one.
 *  @return 0: no room, or too large */
int store_copy_make(store_copy_t *, uint64_t length);

/** Set bits of an item that is not published. */
static inline void store_copy_mark(store_item_t *item, unsigned bits)
{
    STORE_SET(item->bits, (uint8_t)(STORE_GET(item->bits) | bits));
}

/** Would the key end a line of text? memcached forgets with each copy that the
 * key is binary. Ours does so too, unless such a key would break an answer. */
int store_copy_is_unsafe(const void *key, size_t n);

/** Keep STORE_KEY_BINARY of another item, if the key is unsafe. */
void store_copy_key_bit(store_item_t *, const store_item_t *from);

/** Under the lock: is `old` still what the index has? If so, the new item gets
 * its exptime, which another thread may have changed. */
int store_copy_is_present(store_copy_t *, store_bucket_t *);

/** Give both references back. */
void store_copy_end(store_copy_t *);

#endif
