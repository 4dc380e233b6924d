/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file mark.h
 * @brief A slave: what the marks of its master tell it, and what it says:
 *        heartbeats, and echoes of the marks.
 *
 * The clocks of two hosts count from different moments, so only differences are
 * compared: the mark that came the fastest shows how far they are apart. Nobody
 * sets CLOCK_MONOTONIC. But one host's may be faster than the other's, by less
 * than 1 in 2000, so what was found rises by that much.
 *
 * How long the fastest one was on its way is not known, and the first one of a
 * connection is the fastest one so far: it may have waited behind a large copy,
 * or for a network. So the lease of a slave also counts from the echo that the
 * master had heard before it sent the mark, by the clock of this host alone. A
 * mark without one prolongs no lease.
 *
 * Something is said once a second: a NUL, or the newest mark, which a master of
 * ours has sent. A mark that asks for it is echoed at once, and so is the first
 * one, which prolongs no lease. What the socket does not take is said
 * later; nobody waits.
 *
 * While something arrives of a master without marks, nothing is sent: when a
 * master is killed that has not read all bytes, its kernel resets the
 * connection, and the slave loses what was sent to it. A master of ours reads
 * often.
 *
 * Lock:  one thread.
 * Errors: an error of the socket ends the caller's next read.
 * Trust: the clock may be anything.
 */
#ifndef APPPOOL_STORE_CLUSTER_MARK_H
#define APPPOOL_STORE_CLUSTER_MARK_H

#include "store/cluster/stream.h"
#include "store/cluster/wire.h"

/** The newest mark that has come. What is before it is applied. */
typedef struct {
    uint64_t n;        /**< how many have come */
    uint64_t at_once;  /**< so many of them ask for an answer at once */
    uint64_t position; /**< of the master's data */
    uint32_t clock;    /**< ms: the master's, when it sent the mark */
    int has_heard;     /**< the master had heard an echo of this connection */
    uint32_t heard;    /**< ms: the clock of this host when it said that echo */
} store_mark_t;

/** Another one has come. @return 0; -1: its position goes back */
int store_mark_take(store_mark_t *, const store_packet_t *);

/** Of one connection; all 0 at its beginning. */
typedef struct {
    int has_least;
    uint32_t least;   /**< ms: this host's clock less the master's, if a mark
                         needs no time */
    int64_t least_at; /**< ms: when that was so */
} store_lag_t;

/** @param clock ms, of a mark @param now ms, of clock_ms(): when it came
 * @return ms: how long it has been on its way; the fastest one: 0 */
int64_t store_lag_of(store_lag_t *, uint32_t clock, int64_t now);

/** @return ms: it has been on its way for no longer than that; -1: not known */
int64_t store_mark_most(const store_mark_t *, int64_t now);

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
