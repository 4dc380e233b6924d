/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sender.h
 * @brief Items and changes as packets of the dialect that a slave speaks.
 *
 * A yrmcds has one space only, so it gets one. It loses flags and expiry time of
 * an empty value. So a Touch follows, which mends the expiry time.
 *
 * Lock:  none; one thread.
 * Errors: -1: the connection is over; see slave_link.h.
 */
#ifndef APPPOOL_STORE_CLUSTER_SENDER_H
#define APPPOOL_STORE_CLUSTER_SENDER_H

#include "store/cluster/slave_link.h"
#include "store/memory/item.h"

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

#endif
