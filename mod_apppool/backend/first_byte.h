/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file first_byte.h
 * @brief The wait for the first byte of a response. The wait also ends when
 *        the process is killed: the client gets its error at once, although
 *        the process may take AppHungStopTimeout to end.
 */
#ifndef MOD_APPPOOL_BACKEND_FIRST_BYTE_H
#define MOD_APPPOOL_BACKEND_FIRST_BYTE_H

#include <apr_errno.h>
#include <apr_time.h>

#include "mod_apppool/backend/stream_client.h"
#include "shm/verbs/checkout.h"

/** A request and the process that works on it. */
typedef struct {
    const apl_pool_t *pool;
    const apl_session_ref_t *ref;
    const char *label;               /**< of the app, for the log */
    apppool_stream_client_t *client; /**< of the response */
    apr_interval_time_t timeout; /**< us that the app may be silent; or < 0 */
    int socket;                  /**< descriptor of the connection */
    int needs_room;   /**< the connection is new, over a Unix socket, and the
                         process may have others that are idle */
    int is_unlimited; /**< the process takes any number of requests, so it may
                           read late because it has many */
} apppool_first_byte_t;

/**
 * Wait. Nothing that was read from the socket is kept. If the process does not
 * begin to read the request, all children close their idle connections to it
 * (shm/slots/connection_room.h).
 *
 * That connections are closed after a second without a request does not do the
 * same. Measured with a server of five threads, one for each connection, and
 * eight clients that ask every 100 ms: under prefork, a ninth client waits
 * until AppTimeout, and gets 504; under event, up to 4 s. With this, it waits 1
 * ms, and at most 160 ms.
 * @return APR_SUCCESS: there is something to read, the end, or an error;
 *         APR_TIMEUP: nothing came within the timeout; APR_ECONNABORTED: the
 *         process is being killed
 */
apr_status_t apppool_first_byte_wait(const apppool_first_byte_t *w);

/** A part of the request is about to be written, and the write waits until the
 * process has read enough. Idle connections may be in its way. */
void apppool_first_byte_wait_to_write(const apppool_first_byte_t *w);

/** Is the process being killed, so that the first byte cannot come? */
int apppool_first_byte_is_hopeless(const apppool_first_byte_t *w);

/** Was this stream ended because its process is stopped? */
int apppool_first_byte_is_cut_off(const apppool_first_byte_t *w);

/** Is this child of httpd being stopped? Then it cuts the connection
 * (in_use.h), and the end of the connection is not the end of the
 * response. */
int apppool_first_byte_is_stopped(const apppool_first_byte_t *w);

#endif
