/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file in_use.h
 * @brief The connections to processes that requests of this httpd child use. A
 *        child that is stopped, and not gracefully, cuts them, so that none of
 *        its threads waits for an app.
 *
 * httpd ends a child of event or worker when all of its threads have ended.
 * Before that, it closes the sockets of their clients. But a thread that waits
 * for an app, or in mod_proxy's tunnel for both, does not notice this. After
 * 9 s httpd would kill the child (AH00046). In prefork, a signal ends the
 * child.
 *
 * A use ends before its connection is kept for the next request, or closed:
 * another child may then have the connection, and another file the number of
 * the descriptor. mod_proxy closes its connections when it likes, so a tunnel
 * has copies of the descriptors at both ends. A socket of which the last
 * descriptor is closed leaves an epoll without a word.
 *
 * What is not covered: a thread that waits for its client alone, which sends a
 * body or takes a response, waits in httpd's own filters. One that connects
 * waits for the app to accept, for AppQueueTimeout at most.
 *
 * Lock:  the list has a mutex of its own.
 */
#ifndef MOD_APPPOOL_BACKEND_IN_USE_H
#define MOD_APPPOOL_BACKEND_IN_USE_H

#include <httpd.h>

/** Zeroed at first. */
typedef struct apppool_in_use_t {
    struct apppool_in_use_t *next, **at; /**< other threads write them */
    int has_begun;                       /**< and has not ended */
    int app;                             /**< descriptor; -1: there is none */
    int client;                          /**< a copy of its descriptor, or -1 */
    int has_copies;                      /**< app is a copy, too */
} apppool_in_use_t;

/** Call it in each httpd child. @param p has to outlive all requests */
void apppool_in_use_init(apr_pool_t *p);

/** A request begins to use a connection.
 * @param use belongs to the list until apppool_in_use_end()
 * @param app descriptor of the connection, open until then */
void apppool_in_use_begin(apppool_in_use_t *use, int app);

/** A request begins to use a connection of mod_proxy, which becomes a tunnel to
 * its client. */
void apppool_in_use_begin_tunnel(apppool_in_use_t *use, int app,
                                 const request_rec *r);

/** A second call does nothing. */
void apppool_in_use_end(apppool_in_use_t *use);

/** This child is being stopped: cut all connections, also those of which the
 * use begins later. */
void apppool_in_use_stop(void);

#endif
