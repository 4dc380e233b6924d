/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file parked.h
 * @brief The shared connection of a process: all children of httpd use it, one
 *        after the other.
 *
 * A process that takes one request at a time may keep one connection. A serial
 * server reads from that connection only. If it belonged to one child of httpd,
 * the requests of other children would wait. So all children share it: a child
 * parks it when its request has ended, and the next child takes a copy.
 *
 *     if (apppool_parked_begin(&shared, pool, &ref, share, reuse))
 *         fd = apppool_parked_copy(&shared);
 *     ...
 *     apppool_parked_end(&shared, fd, is_clean);
 *
 * A connection is parked only after a request that is known to have ended: it
 * had no body, the app has read it, the response ended where it said, and
 * nothing is left unread in this child. In all other cases it is cut. Otherwise
 * the next client would get bytes of an earlier request as part of its
 * response.
 *
 * Lock:  none: see shm/slots/connection_state.h.
 * Crash: the next request cuts the connection of a child that was killed.
 * Trust: a child of httpd may park anything. A copy is used only if it is a
 *        connection to the socket of this process: its name is in a directory
 *        of root, and the process that listens there is root's or the app's.
 */
#ifndef MOD_APPPOOL_BACKEND_PARKED_H
#define MOD_APPPOOL_BACKEND_PARKED_H

#include <stdint.h>
#include <sys/types.h>

#include "shm/slots/connection_state.h"

/** The shared connection of one request. Zeroed at first. */
typedef struct {
    apl_connection_state_t state;
    uint64_t id;   /**< of the process */
    int place;     /**< where it is parked; -1: nowhere */
    int may_share; /**< the connection may be parked at the end */
    int is_held;   /**< as may_share, but 0 after end() */
    int is_taken;  /**< this request has what is parked */
} apppool_parked_t;

/** To be called in each httpd child.
 * @param lot     see parking.h; -1: connections are not shared
 * @param runtime directory of the Unix sockets
 * @param root    the user that has started httpd
 * @return 0; -1: errno: this child cannot use the lot */
int apppool_parked_init(int lot, const char *runtime, uid_t root);

/**
 * A request has got its process. If it cannot use what is parked, that is cut,
 * because a serial server would not accept another connection. Only connections
 * over HTTP or FastCGI to a Unix socket are parked.
 * @param may_share the connection may be parked when the request has ended
 * @param may_reuse the request may use one that was used before
 * @return 1: it may take a copy of what is parked; 0: it has to connect
 */
int apppool_parked_begin(apppool_parked_t *shared, const apl_pool_t *pool,
                         const apl_session_ref_t *ref, int may_share,
                         int may_reuse);

/** Take a copy of what is parked. A child may keep the copy for later requests
 * as long as `state.serial` is the same.
 * @return a descriptor; -1: nothing is parked, or something else than
 *         expected */
int apppool_parked_copy(const apppool_parked_t *shared);

/** Can the next request be sent on it: is it open, and is nothing to be read?
 */
int apppool_parked_is_quiet(int connection);

/** Cut what is parked, as it cannot be used. The request has to connect. */
void apppool_parked_cut(apppool_parked_t *shared);

/**
 * The request has ended, but not its session. Call this if `is_held`.
 * @param connection that it has used; -1: it is closed
 * @param is_clean   the next request may use it
 * @return 1: it is parked; 0: it was cut, and this copy is of no use
 */
int apppool_parked_end(apppool_parked_t *shared, int connection, int is_clean);

#endif
