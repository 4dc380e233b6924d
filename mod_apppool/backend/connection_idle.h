/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection_idle.h
 * @brief The connections of a child of httpd that no request uses: a list, and
 *        a thread that closes them.
 *
 * A connection is closed in three cases: it was idle for a second, its process
 * ends, or the process has no room for another connection
 * (shm/slots/connection_room.h).
 *
 * Lock:  the list has a mutex of its own; a connection that was taken belongs
 *        to its taker alone.
 * Crash: all is private memory of the httpd child.
 * Trust: not concerned.
 */
#ifndef MOD_APPPOOL_BACKEND_CONNECTION_IDLE_H
#define MOD_APPPOOL_BACKEND_CONNECTION_IDLE_H

#include <httpd.h>
#include <stdint.h>

#include "mod_apppool/backend/connection_filter.h"
#include "mod_apppool/backend/shared_connection.h"

/** us: the app may be about to close a connection that is idle for longer. */
#define APPPOOL_CONNECTION_IDLE_LIMIT APL_CONNECTION_IDLE_LIMIT

/** See connection.h. */
typedef struct apppool_connection_t {
    struct apppool_connection_t *next; /**< in the list of idle ones */
    uint64_t id;        /**< the process it is connected to; 0: none */
    uint64_t named;     /**< the process after which the worker is named */
    uint32_t serial;    /**< of a shared connection; else 0 */
    int64_t used;       /**< us: when its connection became idle */
    int is_counted;     /**< by apl_connection_room_count(), as it is idle */
    int descriptor;     /**< of an idle one */
    apr_socket_t *sock; /**< of that connection; NULL: mod_proxy is done */
    apppool_shared_connection_t *shared; /**< of the request; NULL: settled */
    apppool_connection_filter_t filter;  /**< has the worker */
} apppool_connection_t;

/**
 * Call it in each httpd child.
 * @param pconf has to outlive all requests: what mod_proxy has read is in
 *        memory of the connection, and brigades of the request point to it.
 *        pchild is not enough. It destroys the pools that were made last first,
 *        so it would destroy the connections before the requests; and a child
 *        of prefork is destroyed in the middle of a request
 * @param shm the pool of processes
 */
void apppool_connection_idle_init(apr_pool_t *pconf, const apl_pool_t *shm);

/** An idle one, or a new one: see apppool_connection_take() of connection.h. */
apppool_connection_t *apppool_connection_idle_take(server_rec *s, uint64_t id);

/** A connection is idle from now on, or not connected (id 0). */
void apppool_connection_idle_put(apppool_connection_t *c);

/** Close its connection. The caller has taken it from the list. */
void apppool_connection_idle_close(apppool_connection_t *c);

/** mod_proxy's record of the connection. @return NULL: mod_proxy logged why */
proxy_conn_rec *apppool_connection_idle_conn(apppool_connection_t *c,
                                             server_rec *s);

/**
 * May this child keep connections to the process? In prefork, each client has a
 * child of its own. So a process that takes N requests at once would have more
 * than N idle connections.
 * @param concurrency requests that the process takes at once; 0: any number
 */
int apppool_connection_idle_are_kept(uint64_t id, uint32_t concurrency);

#endif
