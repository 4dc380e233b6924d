/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file talk.h
 * @brief Two hosts tell each other their hellos, and nothing else.
 *
 *     host that asks    handshake -> its hello -----> the other hello -> end
 *     host that answers handshake -> that hello -> its own hello --> end
 *
 * Lock:  none; one thread. It waits for nothing.
 * Trust: the other end may send anything, and any user of its host may
 *        connect. With a secret, nobody gets beyond the handshake without it.
 */
#ifndef APPPOOL_STORE_CLUSTER_TALK_H
#define APPPOOL_STORE_CLUSTER_TALK_H

#include "store/cluster/cluster.h"
#include "store/cluster/stream.h"

typedef struct {
    store_stream_t *stream; /**< NULL: there is none */
    int asks;               /**< it speaks first */
    unsigned char *hello;   /**< of this host */
    size_t size, sent;      /**< bytes of it */
    char *heard;            /**< of the other one */
    size_t n;               /**< bytes of it */
    store_history_t theirs; /**< after the end */
} store_talk_t;

/** Begin on a connected socket, which the talk takes.
 * @param asks 1: this host has connected
 * @return 0; -1: errno, and the socket is closed */
int store_talk_begin(store_talk_t *, const store_cluster_hooks_t *, int fd,
                     int asks);

/** Go on. @return 1: the other hello is there, and this one was sent; 0: it waits
 * for store_stream_events(); -1: it has failed */
int store_talk_step(store_talk_t *);

void store_talk_end(store_talk_t *);

#endif
