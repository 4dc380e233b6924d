/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sender.h
 * @brief What a slave is sent: items and changes as packets of the dialect that
 *        it speaks, the copy, each changed key, and the marks.
 *
 * A yrmcds has one space only, so it gets one. It loses flags and expiry time
 * of an empty value. So a Touch follows, which mends the expiry time.
 *
 * Lock:  one thread. It takes bucket locks, one at a time and for as long as
 *        the list of one bucket is, and the lock of the list of changes.
 * Errors: -1: the connection is over; see slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_SENDER_H
#define APPPOOL_STORE_CLUSTER_SENDER_H

#include <time.h>

#include "store/cluster/slave_link.h"
#include "store/memory/changes.h"
#include "store/memory/item.h"

/** @name Packets
 * @{ */
typedef struct {
    store_slave_link_t out;
    int ours;                   /**< the slave is a store like this one */
    const store_space_t *space; /**< what was sent last belongs to it */
} store_sender_t;

/** Name a space, also one without items: a slave has to know which cas were
 * given, and when a flush is due. To a slave of ours. */
int store_sender_space(store_sender_t *, const store_space_t *);

/** An item, to which the caller has a reference. */
int store_sender_item(store_sender_t *, const store_space_t *,
                      const store_item_t *);

/** There is no such key. */
int store_sender_delete(store_sender_t *, const store_space_t *,
                        const char *key, uint8_t klen);

/** When it expires, and to a slave of ours when it was used. The caller has a
 * reference. */
int store_sender_touch(store_sender_t *, const store_space_t *,
                       const store_item_t *);

/** The items up to this cas are dead. To a slave of ours. */
int store_sender_flushed(store_sender_t *, const store_space_t *, uint64_t cas);

/** All changes up to this position were sent. To a slave of ours.
 * @param age ms of the first change that was not sent; 0: there is none
 * @param at_once 1: it has to answer now */
int store_sender_mark(store_sender_t *, uint64_t position, int64_t age,
                      int at_once);

/** It has all. To a slave of ours. */
int store_sender_complete(store_sender_t *);
/** @} */

/** @name The copy: all items of some spaces, for a slave that joins
 * It takes references to the items of some buckets, and gives them back when
 * they are sent. An item that was replaced or removed in between is not sent:
 * that is a change, and the list of changes has it.
 * @{ */
typedef struct {
    store_space_t *space[STORE_SPACES];
    unsigned n_spaces;
    unsigned at;     /**< space; n_spaces: it has gone over all */
    uint32_t bucket; /**< the next one */
    uint64_t items;  /**< that were sent */

    store_item_t **taken; /**< references */
    unsigned n, room;
    uint32_t bytes; /**< of their values */
    int is_full;    /**< a bucket has had more items than there was room */
} store_copier_t;

/** Begin with no space. @return 0, or -1: no memory */
int store_copier_open(store_copier_t *);

/** Go over this space, too. @return 1; 0: it is in the copy already */
unsigned store_copier_add(store_copier_t *, store_space_t *);

/** Send the items of some buckets. */
int store_copier_run(store_copier_t *, store_sender_t *);

static inline int store_copier_is_done(const store_copier_t *c)
{
    return c->at == c->n_spaces;
}

void store_copier_close(store_copier_t *);
/** @} */

/** @name Changes: what is there now of each changed key of the list
 * So the slave gets the states of a key in the master's order. A change is
 * skipped if the slave was sent a state of the key that is as new: a key that
 * changes often is sent once when the slave lags behind. Otherwise what is
 * there now is sent, also if it is newer than the change. So a mark is true:
 * for each change before it, the slave has this state of the key or a newer
 * one.
 * @{ */
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
/** @} */

/** @name When that is sent, and the marks
 * Each push has a mark at its end, if there are changes before it. Without
 * changes there is one mark a second: then the slave knows that it has all. One
 * follows the first echo at once: without it, the slave is not ready (mark.h).
 * @{ */
typedef struct {
    struct timespec at; /**< of CLOCK_MONOTONIC: the last push */
    uint64_t changes;   /**< that it had */
    uint64_t sent;      /**< changes before its end, as the cursor counts */
    int64_t marked_at;  /**< ms: the last mark; 0: none */
    int has_echoed;     /**< the slave, before the last mark */
} store_push_t;

/** Send all. The slave has all changes up to the place of the cursor then. */
int store_push(store_push_t *, store_sender_t *, const store_cursor_t *);

#define STORE_PUSH_PATIENCE 5 /* ms */

/** A client waits, and the slave has not echoed the mark of the last push. What
 * comes meanwhile is sent together after the echo: each push wakes the slave
 * and this thread. A slave that takes longer than STORE_PUSH_PATIENCE gets the
 * next one nevertheless. */
int store_push_is_early(const store_push_t *, const store_slave_link_t *);

/** Wait for more changes, so that they are sent together. A change that comes
 * alone does not wait. While a client waits, this is shorter. */
void store_push_gather(const store_push_t *);
/** @} */

#endif
