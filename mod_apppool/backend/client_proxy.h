/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_proxy.h
 * @brief A client of an app (app_client.h) that lets mod_proxy send the request
 *        over HTTP and pass on the response.
 *
 * It has a private worker of mod_proxy, which one request at a time uses. We
 * connect its socket ourselves, so we see each failure to connect with its
 * cause. Then mod_proxy's scheme handler gets the connected socket. A filter on
 * the connection says how the request went (proxy_filter.h).
 *
 * Each connection is new, and is closed with its request. Only requests that
 * ask for an upgrade, and whose connection has to hold its worker, need
 * mod_proxy, which becomes a tunnel (client_http.h).
 *
 * Lock:  the list of unused workers has a mutex of its own; a worker that was
 *        taken belongs to its taker alone.
 * Trust: mod_proxy parses the response. The path of a socket is made from the
 *        process id, never read from anywhere.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_PROXY_H
#define MOD_APPPOOL_BACKEND_CLIENT_PROXY_H

#include "mod_apppool/backend/app_client.h"

/**
 * Call it in each httpd child.
 * @param p has to outlive all requests: what mod_proxy has read is in memory of
 *        the connection, and brigades of the request point to it. pchild is not
 *        enough. It destroys the pools that were made last first, so it would
 *        destroy the connections before the requests; and a child of prefork is
 *        destroyed in the middle of a request
 */
void apppool_client_proxy_init(apr_pool_t *p);

/**
 * Take a worker that no request uses. close() gives it back.
 * @param url as proxy_run_canon_handler() left it, without "proxy:"
 * @return NULL: mod_proxy could not make one; it logged why
 */
apppool_app_client_t *
apppool_client_proxy_make(request_rec *r, const char *label, const char *url);

/** mod_proxy has made the header of the request (its hook fixups). If the
 * connection is not to be used again, mod_proxy has already noted this, and
 * would not even send this request. It notes it again afterwards. This does
 * nothing for another client. */
void apppool_client_proxy_header_is_made(const apppool_app_client_t *client);

#endif
