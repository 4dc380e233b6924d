/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file worker.h
 * @brief A thread that owns connections, and serves them in turns.
 *
 * Each worker has its own epoll, edge-triggered. A connection has one owner for
 * its whole life, so its commands are served in order, and no lock is needed. A
 * connection with something to do is in the ready list. In each round the
 * worker takes the whole list, and gives each connection one turn.
 *
 * Lock:  the main thread hands connections over by a list that it pushes to and
 *        the worker takes as a whole. An eventfd wakes the worker.
 */
#ifndef APPPOOL_STORE_SERVER_WORKER_H
#define APPPOOL_STORE_SERVER_WORKER_H

#include <pthread.h>

#include "store/server/store_connection.h"

typedef struct {
    pthread_t thread;
    unsigned number;
    const store_server_t *server;
    store_bench_t bench;
    int bell;                    /**< eventfd: a field below has changed */
    store_connection_t *arrived; /**< atomic; newest first */
    int look;                    /**< atomic: spaces are gone */
    int stop;                    /**< atomic */
    int close;                   /**< atomic: end all connections */
    int is_parked;               /**< serves nothing; of the pause */
    uint32_t rounds;             /**< atomic; wraps */
    uint32_t seen;               /**< of the rounds, by the main thread */
    uint32_t connections;        /**< atomic: arrived ones, too */
    int64_t lobby_at;            /**< ms: the next look at late clients */
    int64_t late_at;             /**< ms: when one was logged; 0: never */
    store_connection_t *all;
    store_connection_t *first, *last;     /**< the ready list */
    store_connection_t *held, *last_held; /**< the first one that is held waits
                                             for the lowest position */
} store_worker_t;

/** Start the thread. @return 0, or -1: errno */
int store_worker_start(store_worker_t *, unsigned number,
                       const store_server_t *);

/** Hand a connection over. The main thread. */
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
