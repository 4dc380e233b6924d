/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file worker.h
 * @brief A thread that owns connections, and serves them in turns.
 *
 * A connection has one owner for its whole life (store/event_thread.h), so its
 * commands are served in order.
 *
 * Lock:  the functions: the main thread.
 */
#ifndef APPPOOL_STORE_SERVER_WORKER_H
#define APPPOOL_STORE_SERVER_WORKER_H

#include "store/server/store_connection.h"

typedef struct {
    store_event_thread_t thread;
    unsigned number;
    const store_server_t *server;
    store_bench_t bench;
    int look;             /**< atomic: spaces are gone */
    int close;            /**< atomic: end all connections */
    int is_parked;        /**< serves nothing; of the pause */
    uint32_t rounds;      /**< atomic; wraps */
    uint32_t seen;        /**< of the rounds, by the main thread */
    uint32_t connections; /**< atomic: arrived ones, too */
    int64_t logins_at;    /**< ms: the next look at late clients */
    int64_t late_at;      /**< ms: when one was logged; 0: never */
    store_connection_t *held, *last_held; /**< the first one that is held waits
                                             for the lowest position */
} store_worker_t;

/** Start the thread. @return 0, or -1: errno */
int store_worker_start(store_worker_t *, unsigned number,
                       const store_server_t *);

/** Hand a connection over. */
void store_worker_give(store_worker_t *, store_connection_t *);

/** Has the thread had a round since the last call? If not, it has hung since
 * then. Wakes it, so that the next call can tell. */
int store_worker_runs(store_worker_t *);

/** Close the connections of spaces that are gone, and of users that may not use
 * a space any more. */
void store_worker_look(store_worker_t *);

/** End all connections at once, also those that were handed over before. */
void store_worker_close(store_worker_t *);

/** Serve nothing (1), or serve again (0): all of these workers. The call with 1
 * returns when none is in a turn. */
void store_worker_pause(store_worker_t *workers, unsigned n, int on);

/** Close all connections, and end the thread. It waits for no client. */
void store_worker_stop(store_worker_t *);

#endif
