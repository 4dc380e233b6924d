/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file kept.h
 * @brief The connections that this child of httpd keeps while no request uses
 *        them: a list, and a thread that closes them.
 *
 * A connection is closed in three cases: it was idle for a second, its process
 * ends, or the process has no room for another connection
 * (shm/slots/connection_room.h).
 *
 * Lock:  the list has a mutex of its own; a connection that was taken belongs
 *        to its taker alone.
 */
#ifndef MOD_APPPOOL_BACKEND_KEPT_H
#define MOD_APPPOOL_BACKEND_KEPT_H

#include <apr_pools.h>
#include <stdint.h>

#include "shm/slots/connection_state.h"

/** us: the app may be about to close a connection that is idle for longer. */
#define APPPOOL_KEPT_LIMIT APL_CONNECTION_IDLE_LIMIT

/**
 * Call it in each httpd child.
 * @param p   has to outlive all requests. pchild is not enough: a child of
 *        prefork may be destroyed in the middle of a request
 * @param shm the pool of processes
 */
void apppool_kept_init(apr_pool_t *p, const apl_pool_t *shm);

/** Take the connection to this process that was used last.
 * @return its descriptor; -1: there is none */
int apppool_kept_take(uint64_t id);

/** A connection to this process is idle from now on. It is closed if it may not
 * be kept. */
void apppool_kept_put(uint64_t id, int fd);

/**
 * May this child keep connections to the process? In prefork, each client has a
 * child of its own. So a process that takes N requests at once would have more
 * than N idle connections.
 * @param concurrency requests that the process takes at once; 0: any number
 */
int apppool_kept_is_allowed(uint64_t id, uint32_t concurrency);

#endif
