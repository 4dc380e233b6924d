/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection_use.h
 * @brief The connections to processes that requests of this httpd child use. A
 *        child that is stopped cuts them, so that none of its threads waits for
 *        an app.
 *
 * httpd ends a child of event or worker when all of its threads have ended.
 * Before that, it closes the sockets of their clients. But a thread that waits
 * for an app, or in mod_proxy's tunnel for both, does not notice this. After 9 s
 * httpd would kill the child (AH00046). In prefork, a signal ends the child.
 *
 * A tunnel also needs a copy of its client's socket. A socket of which the last
 * descriptor is closed leaves an epoll without a word. A thread that waits for
 * its client alone, which sends a body or takes a response, waits in httpd's own
 * filters. It still keeps the child.
 *
 * Lock:  the list has a mutex of its own.
 * Crash: all is private memory of the httpd child.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_BACKEND_CONNECTION_USE_H
#define MOD_APPPOOL_BACKEND_CONNECTION_USE_H

#include <httpd.h>

typedef struct apppool_connection_use_t {
    struct apppool_connection_use_t *next, **at;
    int app;    /**< descriptor */
    int client; /**< the same, a copy; -1: there is none */
} apppool_connection_use_t;

/** Call it in each httpd child. @param p has to outlive all requests */
void apppool_connection_use_init(apr_pool_t *p);

/**
 * A request begins to use a connection.
 * @param use       belongs to the list until apppool_connection_use_end()
 * @param app       descriptor of the connection. It may be closed before the
 *                  end, and its number may be used again: all other
 *                  descriptors that may be cut are of no use at a stop either
 * @param is_tunnel mod_proxy may become a tunnel
 */
void apppool_connection_use_begin(apppool_connection_use_t *use,
                                  const request_rec *r, int app, int is_tunnel);
void apppool_connection_use_end(apppool_connection_use_t *use);

/** This child is being stopped: cut all connections, also those of which the
 * use begins later. */
void apppool_connection_use_stop(void);

#endif
