/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_proxy.h
 * @brief A connection to an app process, and mod_proxy's way to use it.
 *
 * A connection is a private worker of mod_proxy, used by one request at a time.
 * We connect its socket ourselves, so we see each failure to connect with its
 * cause. Then mod_proxy's scheme handler gets the connected socket. A filter on
 * the connection says how the request went.
 *
 *     c = apppool_client_proxy_take(r->server);
 *     rv = apppool_client_proxy_open(c, r, &endpoint, deadline);
 *     if (rv == APR_SUCCESS)
 *         status = apppool_client_proxy_run(c, r, &first_byte, url);
 *     apppool_client_proxy_give(c, r->server);
 *
 * Each connection is new, and is closed with its request. Requests that may use
 * a connection again do not need mod_proxy (client_http.h).
 *
 * Lock:  the list of unused workers has a mutex of its own; a connection that
 *        was taken belongs to its taker alone.
 * Crash: all is private memory of the httpd child.
 * Trust: mod_proxy parses the response. The path of a socket is made from the
 *        process id, never read from anywhere.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_PROXY_H
#define MOD_APPPOOL_BACKEND_CLIENT_PROXY_H

#include <httpd.h>
#include <stdint.h>

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/proxy_filter.h"

typedef struct apppool_client_proxy_t apppool_client_proxy_t;

/**
 * Call it in each httpd child.
 * @param p has to outlive all requests: what mod_proxy has read is in memory of
 *        the connection, and brigades of the request point to it. pchild is not
 *        enough. It destroys the pools that were made last first, so it would
 *        destroy the connections before the requests; and a child of prefork is
 *        destroyed in the middle of a request
 */
void apppool_client_proxy_init(apr_pool_t *p);

/** Take one that no request uses. @return NULL: mod_proxy could not make one; it
 * logged why */
apppool_client_proxy_t *apppool_client_proxy_take(server_rec *s);

/** Put it back: no request uses it any more. */
void apppool_client_proxy_give(apppool_client_proxy_t *c, server_rec *s);

/**
 * Connect to the endpoint. Nothing is read from the client, and nothing is sent
 * to the app.
 * @param deadline us of apl_now(); a full backlog is waited for until then
 * @return APR_SUCCESS; ECONNREFUSED, ENOENT, ECONNRESET: no process listens
 *         there; EAGAIN, over TCP APR_TIMEUP: the backlog stayed full; all
 *         others: problems of httpd itself
 */
apr_status_t apppool_client_proxy_open(apppool_client_proxy_t *c,
                                       request_rec *r,
                                       const apppool_endpoint_t *endpoint,
                                       int64_t deadline);

/** The descriptor of its socket. */
int apppool_client_proxy_descriptor(const apppool_client_proxy_t *c);

/** What its filter has seen of the last apppool_client_proxy_run(). */
const apppool_proxy_filter_t *
apppool_client_proxy_filter(const apppool_client_proxy_t *c);

/**
 * Let mod_proxy send the request and pass on the response.
 * @param first_byte how long to wait for the first byte
 * @param url as proxy_run_canon_handler() left it, without "proxy:"
 * @return what mod_proxy's scheme handler returned
 */
int apppool_client_proxy_run(apppool_client_proxy_t *c, request_rec *r,
                             const apppool_first_byte_t *first_byte,
                             const char *url);

/** mod_proxy has made the header of the request (its hook fixups). If the
 * connection is not to be used again, mod_proxy has already noted this, and would
 * not even send this request. It notes it again afterwards. */
void apppool_client_proxy_header_is_made(const apppool_client_proxy_t *c);

#endif
