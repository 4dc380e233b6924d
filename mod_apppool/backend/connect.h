/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connect.h
 * @brief Connect to an app process. It never blocks longer than its deadline.
 *
 * If the backlog of a process is full, the connection waits. Over a Unix
 * socket, connections wait in the order of arrival. Over TCP, the kernel tries
 * again, at first each second.
 *
 * Trust: the path is made from the process id, in a directory that only root
 *        can write. No app decides what is there.
 */
#ifndef MOD_APPPOOL_BACKEND_CONNECT_H
#define MOD_APPPOOL_BACKEND_CONNECT_H

#include <apr_network_io.h>
#include <stdint.h>

#include "shm/format/format.h"

/** Where an app process listens, and what may be sent there. */
typedef struct {
    uint64_t id;         /**< of the process */
    apl_wire_t wire;     /**< how to reach it */
    const char *runtime; /**< directory of the Unix sockets */
    int keep;            /**< this child may keep the connection: over http */
    int may_share;       /**< all children share the connection */
    int may_reuse;       /**< the connection may have been used before */
    apr_interval_time_t timeout; /**< us that the app may be silent */
} apppool_endpoint_t;

/**
 * Make a Unix socket for a request over scgi or uwsgi, before it is known which
 * process gets the request.
 * @param p the socket is closed with it
 * @return APR_SUCCESS, or a problem of httpd itself
 */
apr_status_t apppool_connect_prepare(apr_socket_t **sock, apr_pool_t *p);

/**
 * Connect.
 * @param sock     NULL at first; or, over scgi and uwsgi, a socket that was
 *                 prepared
 * @param deadline us of apl_now(), for a full backlog
 * @param p        a new socket is closed with it
 * @return see `open` of app_client.h
 */
apr_status_t apppool_connect(apr_socket_t **sock,
                             const apppool_endpoint_t *endpoint,
                             int64_t deadline, apr_pool_t *p);

#endif
