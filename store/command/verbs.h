/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file verbs.h
 * @brief What can be done with an item: fetch, delete, flush. No
 *        protocol, no socket.
 *
 * Each verb counts itself in the counters of the caller.
 *
 * Lock:  takes the bucket lock of the key, and gives it back. New items are
 *        made, and values are copied, without it. If another thread has changed
 *        the item meanwhile, the verb begins again.
 * Crash: each verb is one store_index_put() or store_index_remove(); see
 *        store/memory/item.h.
 * Trust: keys and values are those of a client. The caller has checked that a
 *        key has 1 .. STORE_KEY_MAX bytes.
 */
#ifndef APPPOOL_STORE_COMMAND_VERBS_H
#define APPPOOL_STORE_COMMAND_VERBS_H

#include <stdbool.h>

#include "store/command/caller.h"
#include "store/memory/item.h"

/** More references than that to one item are refused. */
#define STORE_REFS_MAX 60000

/** How to fetch, and what was seen. Times are s on the store's clock. */
typedef struct {
    bool touch; /**< give it this exptime */
    uint32_t exptime;
    bool vivify; /**< make an empty item if there is none */
    uint32_t vivify_exptime;
    bool binary_key; /**< of an item that is made: not memcached's way, but its
                        key would break an answer that returns it */
    bool recache;    /**< win, if it expires before recache_time */
    uint32_t recache_time;
    bool recache_last; /**< look at the exptime after the touch */
    bool win_stale;    /**< win, if it is stale and no client has won before */
    bool no_win;       /**< no client wins */
    bool no_update;    /**< do not note this access */
    bool lock;         /**< lock it; NULL is returned if that fails */

    bool created;    /**< there was none */
    bool won;        /**< this client is to renew it */
    bool overflow;   /**< NULL was returned because of STORE_REFS_MAX */
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

/** How to delete. */
typedef struct {
    uint64_t cas; /**< what it has to have */
    bool has_cas;
    bool stale; /**< do not delete it: mark it as stale, with a new cas */
    bool touch; /**< stale: and give it this exptime */
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

#endif
