/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file relay_pipe.h
 * @brief Passes the bytes of one connection to another one.
 *
 * A pipe holds at most STORE_RELAY_BUFFER bytes, and owns memory only while the
 * other end does not take them.
 *
 * Lock:  none; the thread of the relay.
 * Trust: the bytes may be anything. The relay does not look at them.
 */
#ifndef APPPOOL_STORE_CLUSTER_RELAY_PIPE_H
#define APPPOOL_STORE_CLUSTER_RELAY_PIPE_H

#include "store/cluster/stream.h"

#define STORE_RELAY_BUFFER (64 << 10)
#define STORE_RELAY_TURN   4 /* reads of one pipe; then others have a turn */

/** One end. The descriptor is watched for edges: the flags stay set until a
 * call has returned EAGAIN. */
typedef struct {
    store_stream_t *stream;
    int readable, writable;
    int gone; /**< it takes nothing any more: what is for it is dropped */
} store_relay_end_t;

/** One direction. Zero at the begin. */
typedef struct {
    char *rest; /**< NULL: nothing waits */
    size_t at, n_rest;
    uint64_t passed; /**< bytes that were read */
    int ended;       /**< no more bytes will come */
} store_relay_pipe_t;

/**
 * Pass what is there.
 * @param buffer of STORE_RELAY_BUFFER bytes, for the time of the call
 * @return 1: there is more to do now; 0: an event will come; -1: no memory
 */
int store_relay_pipe_turn(store_relay_pipe_t *, store_relay_end_t *from,
                          store_relay_end_t *to, char *buffer);

/** Has `from` ended, and has `to` got all of its bytes? */
int store_relay_pipe_is_over(const store_relay_pipe_t *);

#endif
