/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file connection.h
 * @brief A connection to an app process, and mod_proxy's way to talk over it.
 *
 * A channel is a private worker of mod_proxy with one connection, used by one
 * request at a time. We connect its socket ourselves, so that a failure to
 * connect is known as what it is, and hand the connected one to mod_proxy's
 * scheme handler. A tap on it says how that went.
 *
 *     ch = apppool_connection_take(r->server, target.id);
 *     rv = apppool_connection_open(ch, r, &target, deadline);
 *     if (rv == APR_SUCCESS)
 *         status = apppool_connection_run(ch, r, url);
 *     apppool_connection_give(ch);
 *
 * A connection is closed with its request, unless the target says that its
 * app keeps connections; then the next request to the same process has it, if
 * that comes within a second and could be sent again should the app close just
 * then. After that second it is closed. Only event can call us then, so under
 * other MPMs none is kept.
 *
 * Lock:  the list of idle channels has a mutex of its own; a channel that was
 *        taken is its taker's alone.
 * Crash: all is private memory of the httpd child.
 * Trust: the answer is mod_proxy's to parse. A socket's path is made from the
 *        process id, never read from anywhere.
 */
#ifndef MOD_APPPOOL_BACKEND_CONNECTION_H
#define MOD_APPPOOL_BACKEND_CONNECTION_H

#include <httpd.h>
#include <stdint.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/connection_filter.h"

typedef struct apppool_connection_t apppool_connection_t;

/** In each httpd child. */
void apppool_connection_init(apr_pool_t *pchild);

/**
 * A channel, if possible one that is connected to this process.
 * @return NULL: mod_proxy could not make one; it said why in the log
 */
apppool_connection_t *apppool_connection_take(server_rec *s, uint64_t id);

void apppool_connection_give(apppool_connection_t *c);

/**
 * Be connected to the target. Nothing is read from the client, and nothing
 * sent to the app.
 * @param deadline us of apl_now(); a full backlog is waited for until then
 * @return APR_SUCCESS; ECONNREFUSED, ENOENT, ECONNRESET: nobody listens there;
 *         EAGAIN, over TCP APR_TIMEUP: the backlog stayed full; others: our own
 *         troubles
 */
apr_status_t apppool_connection_open(apppool_connection_t *c, request_rec *r,
                                     const apppool_endpoint_t *endpoint,
                                     int64_t deadline);

/** The socket that it is connected by. */
int apppool_connection_descriptor(const apppool_connection_t *c);

/** What was seen on it of the last apppool_connection_run(). */
const apppool_connection_filter_t *
apppool_connection_filter(const apppool_connection_t *c);

/**
 * Let mod_proxy send the request and pass on the response.
 * @param first_byte how long the first byte is waited for
 * @param url as proxy_run_canon_handler() left it, without "proxy:"
 * @return what mod_proxy's scheme handler returned
 */
int apppool_connection_run(apppool_connection_t *c, request_rec *r,
                           const apppool_first_byte_t *first_byte,
                           const char *url);

/** The first byte has come: from here on the app may pause for the endpoint's
 * timeout again. */
void apppool_connection_response_began(const apppool_connection_t *c);

#endif
