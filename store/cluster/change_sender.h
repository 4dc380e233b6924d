/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file change_sender.h
 * @brief For each changed key of the list, sends what is there now.
 *
 * So the slave gets the states of a key in the master's order. A change is
 * skipped if the slave was sent a state of the key that is as new: a key that
 * changes often is sent once when the slave lags behind. Otherwise what is there
 * now is sent, also if it is newer than the change. So a mark is true: for each
 * change before it, the slave has this state of the key or a newer one.
 *
 * Lock:  one thread. It takes bucket locks, and the lock of the list.
 * Errors: -1: the connection is over; see slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_CHANGE_SENDER_H
#define APPPOOL_STORE_CLUSTER_CHANGE_SENDER_H

#include "store/cluster/sender.h"
#include "store/memory/changes.h"

#define STORE_CHANGE_SENDER_BATCH 64 /* changes that are read at once */
#define STORE_CHANGE_SENDER_SENT                                               \
    1024 /* keys of which it is known what was sent */

/** A key that was sent. */
typedef struct {
    uint64_t hash;     /**< of the key, with the number of its space */
    uint64_t position; /**< all changes up to this one are in what was sent */
} store_sent_t;

typedef struct {
    const char *only;        /**< the space that the slave gets; NULL: all */
    store_cursor_t cursor;   /**< its place in the list */
    char has[STORE_SPACES];  /**< by slot: the slave has a copy of the space, or
                               gets it. Changes of others are not sent: the
                               copy will have them */
    void (*look)(void *ctx); /**< called before the changes that were read are
                                sent: a space of them may have come just now.
                                NULL: no */
    void *ctx;

    store_change_t changes[STORE_CHANGE_SENDER_BATCH];
    store_sent_t
        sent[STORE_CHANGE_SENDER_SENT]; /**< by the hash: the last one */
    store_space_t *clearing;            /**< its flushed items become changes */
    uint32_t bucket;                    /**< the next one to clear */
} store_change_sender_t;

/** Read and send some changes. @return how many there were; -1 */
int store_change_sender_run(store_change_sender_t *, store_sender_t *);

/** Does the slave get this space? */
int store_change_sender_is_for(const store_change_sender_t *,
                               const store_space_t *);

/**
 * Clear some buckets of a space that was flushed. A yrmcds knows no flush: each
 * item that is removed becomes a change.
 * @return 1: perhaps there are changes now. 0: there is nothing to clear
 */
int store_change_sender_clear(store_change_sender_t *);

#endif
