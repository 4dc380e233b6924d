/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file echo.h
 * @brief What a slave says to its master: heartbeats, and echoes of its marks.
 *
 * Something is said once a second: a NUL, or the newest mark, which a master of
 * ours has sent. A mark that asks for it is echoed at once, and so is the first one,
 * which prolongs no lease (mark.h). What the socket does not take is said later;
 * nobody waits.
 *
 * While something arrives of a master without marks, nothing is sent: when a
 * master is killed that has not read all bytes, its kernel resets the connection,
 * and the slave loses what was sent to it. A master of ours reads often.
 *
 * Lock:  none; one thread.
 * Errors: an error of the socket ends the caller's next read.
 */
#ifndef APPPOOL_STORE_CLUSTER_ECHO_H
#define APPPOOL_STORE_CLUSTER_ECHO_H

#include "store/cluster/mark.h"
#include "store/cluster/stream.h"

typedef struct {
    store_stream_t *stream; /**< the caller's */
    int64_t due;            /**< ms: say something then */
    store_mark_t mark;      /**< the newest one that was taken */
    store_lag_t lag;
    int at_once; /**< it has to be echoed now */
    int bye;     /**< 1: say it; 2: it was said */
    unsigned char
        said[STORE_WIRE_MARK_SIZE]; /**< of it, the socket has not taken */
    size_t at, n;                   /**< these bytes */
} store_echo_t;

void store_echo_begin(store_echo_t *, store_stream_t *, int64_t now);

/** Something has arrived. */
void store_echo_arrived(store_echo_t *, int64_t now);

/** All before this mark is applied. Others learn how far the copy is
 * (follower_state.h). */
void store_echo_mark(store_echo_t *, const store_mark_t *, int64_t now);

/** This store stops, and is not promoted. */
void store_echo_bye(store_echo_t *);

/** Say what is due. */
void store_echo_say(store_echo_t *, int64_t now);

/** POLLOUT: the socket has to take the rest of what was said; 0: nothing. */
short store_echo_events(const store_echo_t *);

#endif
