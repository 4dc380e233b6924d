/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_connection.h
 * @brief A connection to an app process that the module uses without mod_proxy:
 *        a new one, one that this child of httpd has kept (kept.h),
 *        or a copy of the one that all children share (parked.h).
 *
 *     rv = apppool_app_connection_open(&c, endpoint, shared, deadline, pool);
 *     ... send and read over c.fd
 *     apppool_app_connection_end(&c, how);
 *
 * Over FastCGI only a connection that can be shared is kept: most FastCGI apps
 * accept no other connection before that one is closed. Such an app may close
 * its connections nevertheless, or serve only the first request of each. After
 * some such failures in a row, this child of httpd shares no connection of that
 * process.
 *
 * Lock:  the copies that no request uses have a mutex of their own; all else
 *        belongs to one request.
 * Trust: see parked.h. The app may close a connection, or send
 *        something, at any time: a connection is looked at before it is used
 *        again.
 */
#ifndef MOD_APPPOOL_BACKEND_APP_CONNECTION_H
#define MOD_APPPOOL_BACKEND_APP_CONNECTION_H

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/in_use.h"
#include "mod_apppool/backend/parked.h"

/** How a request has left its connection. */
typedef enum {
    APPPOOL_CONNECTION_CUT,   /**< it is closed */
    APPPOOL_CONNECTION_CLEAN, /**< the next request may use it */
    APPPOOL_CONNECTION_FAILED /**< the app has not taken a second request */
} apppool_app_connection_how_t;

/** Zeroed at first, but `sock` may be a socket that was prepared. */
typedef struct {
    int fd;             /**< -1: it is closed */
    int keeps;          /**< the app is to keep it */
    int reused;         /**< it has carried a request before */
    int waits;          /**< recv() waits for some time */
    int may_idle;       /**< this child may keep it */
    int may_fail;       /**< the app may not keep it, although it is asked to */
    uint64_t id;        /**< of the process */
    apr_socket_t *sock; /**< of a new one; or NULL */
    apppool_parked_t *shared; /**< NULL: it is not, or is settled */
    apppool_in_use_t use;     /**< from open() to end() */
} apppool_app_connection_t;

/** us that recv() waits, if the connection can wait: a connection that is kept,
 * over a Unix socket. */
#define APPPOOL_CONNECTION_RECEIVE 250000

/** To be called in each httpd child. */
void apppool_app_connection_init(apr_pool_t *pchild);

/** Does this process keep connections, as far as this child knows? */
int apppool_app_connection_may_keep(uint64_t id);

/**
 * Take a connection that was used before, or connect.
 * @param shared of the session, after apppool_parked_begin()
 * @param p      a new socket is closed with it at the latest
 * @return as apppool_connect()
 */
apr_status_t apppool_app_connection_open(apppool_app_connection_t *c,
                                         const apppool_endpoint_t *endpoint,
                                         apppool_parked_t *shared,
                                         int64_t deadline, apr_pool_t *p);

/** It is not used any more: park it, or close it. To be called before the
 * session ends. Later calls do nothing. */
void apppool_app_connection_end(apppool_app_connection_t *c,
                                apppool_app_connection_how_t how);

#endif
