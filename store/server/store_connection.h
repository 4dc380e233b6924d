/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_connection.h
 * @brief One client: reads its commands, serves them, sends the replies.
 *
 * A turn reads at most STORE_TURN_BYTES and serves at most STORE_TURN_COMMANDS,
 * so no client takes the worker from the others. A connection that is idle owns
 * no buffer: it reads into the memory of its worker. Only the beginning of an
 * incomplete command moves to memory of the connection. A long value is read
 * straight into its item. A client that does not take its replies is not read.
 * With AppStoreConfirm, the replies of a turn that has changed something are
 * held until the slaves have confirmed it. Meanwhile nothing is read of this
 * client, and it meets a full socket. One that sends descriptors or urgent
 * bytes is closed: recv() stops in front of these, and no event reports what is
 * behind them.
 *
 * Lock:  one worker. The main thread makes it and hands it over.
 * Errors: each one ends the connection.
 * Trust: the client may send anything, and may stop at any byte.
 */
#ifndef APPPOOL_STORE_SERVER_STORE_CONNECTION_H
#define APPPOOL_STORE_SERVER_STORE_CONNECTION_H

#include "store/cluster/confirm.h"
#include "store/cluster/stream.h"
#include "store/protocol/dialogue.h"
#include "store/event_thread.h"
#include "store/server/waiting_clients.h"

/** The replies that wait until the slaves have confirmed what its commands have
 * changed. All replies of a turn are sent together, so all of them wait: also
 * those of reads. All 0: nothing is held. */
typedef struct {
    uint64_t position; /**< all slaves have to confirm it; 0: none */
    unsigned writes;   /**< whose replies are held */
    uint8_t is_whole;  /**< nothing of what is held was sent */
    uint8_t is_alone;  /**< one command's reply is held */
} store_hold_t;

#define STORE_TURN_BYTES    (256 * 1024)
#define STORE_TURN_COMMANDS 64

/** What a client does before its first command. */
enum { STORE_MAY_LOG_IN = 1, STORE_HAS_TO_LOG_IN };

/** What a turn leaves. */
typedef enum {
    STORE_TURN_IDLE, /**< wait for an event */
    STORE_TURN_MORE, /**< there is more to do: another turn */
    STORE_TURN_HELD, /**< call store_connection_release() when all slaves have
                          confirmed its `hold`; a turn before does nothing */
    STORE_TURN_OVER  /**< close it */
} store_turn_t;

typedef struct store_connection {
    store_member_t member; /**< of the worker */
    struct store_connection *next_held, *previous_held;
    store_served_t *served;
    store_dialogue_t *dialogue;
    store_reply_t *reply; /**< what could not be sent; NULL: all is sent */
    char *rest;           /**< bytes that were read and not used */
    uint32_t n_rest;
    store_counters_t *counters; /**< of the worker, for all spaces */
    store_hold_t hold;
    store_waiting_login_t place;
    int64_t login_until; /**< ms: it has to log in before; 0: it has not */
    store_stream_t *stream;
    uid_t uid;           /**< of the client */
    uint8_t login;       /**< STORE_MAY_LOG_IN ...; 0: no login */
    uint8_t readable;    /**< the stream may have more bytes */
    uint8_t unserved;    /**< `rest` may have complete commands */
    uint8_t awaits_room; /**< epoll reports when the client takes bytes */
    uint8_t unsent;      /**< the client may take more of `reply` now */
    uint8_t ends;        /**< an event has reported that an end follows */
    uint8_t has_left;    /**< nobody takes a reply any more */
    uint8_t must_end;    /**< the client sends more than a stream of bytes, or
                            its user may not use the space any more */
    uint8_t at_end;      /**< the client sends no more, and all is read */
} store_connection_t;

/** Replies that connections have kept and sent, for the next ones that are
 * kept: with AppStoreConfirm each write keeps one. The C library would give
 * their memory back to the kernel, and ask for it again. */
#define STORE_BENCH_SPARE 32

/** What a turn borrows from the worker. */
typedef struct {
    int epoll;
    char *buffer;         /**< STORE_TURN_BYTES */
    store_reply_t *reply; /**< empty; NULL: the last one was kept */
    store_reply_t *spare[STORE_BENCH_SPARE]; /**< empty */
    unsigned n_spare;
    store_counters_t *counters; /**< of the worker, for all spaces */
} store_bench_t;

/** Free its replies. */
void store_bench_end(store_bench_t *);

/** Called by the main thread. Takes the stream. The connection counts for
 * its space, or among those that have to log in.
 * @param login STORE_MAY_LOG_IN ...; 0: no login
 * @return NULL: no memory; the stream is closed */
store_connection_t *store_connection_make(store_served_t *, store_stream_t *,
                                          uid_t, uint8_t login);

/** The users of the spaces have changed: may this one still use its space? */
void store_connection_check(store_connection_t *);

/** The worker takes it: from now on there are events. If it is `readable`, it
 * has a turn before the first one.
 * @return 0; -1: close it */
int store_connection_begin(store_connection_t *, store_bench_t *,
                           const store_server_t *);

/** Events of epoll. */
void store_connection_event(store_connection_t *, uint32_t events);

store_turn_t store_connection_turn(store_connection_t *, store_bench_t *);

/** May what it holds be sent? All that have to confirm it have, or none is
 * left. A space that refuses waits for those that are unknown, too
 * (confirm.h). */
int store_connection_is_confirmed(const store_connection_t *,
                                  const store_confirmed_t *);

/** It is, so nothing is held any more. It has a turn after that. */
void store_connection_release(store_connection_t *, const store_confirmed_t *);

/** Close it, free all that it has, and count it no more. */
void store_connection_free(store_connection_t *);

#endif
