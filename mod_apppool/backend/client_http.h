/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_http.h
 * @brief Send a request without a body to a process over HTTP/1.1, and pass on
 *        the response.
 *
 *     http = apppool_client_http_make(r, label, &request);
 *     rv = apppool_client_http_open(http, &endpoint, &shared, deadline);
 *     if (rv == APR_SUCCESS)
 *         status = apppool_client_http_run(http, &first_byte);
 *     apppool_client_http_close(http);
 *
 * mod_proxy sends requests with a body, and those that ask for an upgrade
 * (client_proxy.h). All others may be most of what an app gets. A client of our
 * own reads a response with one call, and knows for certain what it has read.
 *
 * A connection may carry another request (app_connection.h) if the app has
 * read all of this one, and the response had a body, ended where it said, and was
 * the last that came. If something comes on such a connection before the app has
 * read the next request, it belongs to an earlier one. Then the request is sent
 * again over another connection.
 *
 * Lock:  none; it belongs to one request.
 * Crash: all is private memory of the httpd child.
 * Trust: the app may send any bytes, at any time. Each error is a line of the
 *        log that names the process, and the connection is closed.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_HTTP_H
#define MOD_APPPOOL_BACKEND_CLIENT_HTTP_H

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/http_request.h"
#include "mod_apppool/backend/outcome.h"
#include "mod_apppool/backend/parked.h"

typedef struct apppool_client_http_t apppool_client_http_t;

/**
 * @param label   of the app, with the pid in brackets: for the log
 * @param request what to send; it stays as long as the request
 */
apppool_client_http_t *
apppool_client_http_make(request_rec *r, const char *label,
                         const apppool_http_request_t *request);

/** Connect, or use a connection that was kept.
 * @param shared of the session, after apppool_parked_begin()
 * @return as apppool_client_proxy_open() */
apr_status_t apppool_client_http_open(apppool_client_http_t *http,
                                      const apppool_endpoint_t *endpoint,
                                      apppool_parked_t *shared,
                                      int64_t deadline);

/** The descriptor of its socket. */
int apppool_client_http_descriptor(const apppool_client_http_t *http);

/**
 * Send the request, and pass the response to the request's output filters.
 * @return OK; a status to return instead of a response; AP_FILTER_ERROR: the
 *         response has begun and is not complete, or it could not be passed on
 */
int apppool_client_http_run(apppool_client_http_t *http,
                            const apppool_first_byte_t *first_byte);

/** How the request went. */
apppool_outcome_t
apppool_client_http_outcome(const apppool_client_http_t *http);

/** Has the app closed the connection? */
int apppool_client_http_has_closed(const apppool_client_http_t *http);

/** Is the process done with the request? It has responded to the end, or has
 * closed the connection. */
int apppool_client_http_has_ended(const apppool_client_http_t *http);

/** Close the connection, or keep it. Later calls do nothing. Call this before
 * the session ends; apppool_client_http_run() does it as soon as the response is
 * complete. */
void apppool_client_http_close(apppool_client_http_t *http);

#endif
