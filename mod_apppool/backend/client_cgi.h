/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_cgi.h
 * @brief Send a request to a process over FastCGI, scgi or uwsgi, and pass on
 *        the response.
 *
 *     fcgi = apppool_client_cgi_make(r, label, body, packet);
 *     rv = apppool_client_cgi_open(fcgi, &endpoint, &shared, deadline);
 *     if (rv == APR_SUCCESS)
 *         status = apppool_client_cgi_run(fcgi, &first_byte);
 *     apppool_client_cgi_close(fcgi);
 *
 * A connection carries one request at a time. A request without a body is
 * written at once. A body is written as far as the app takes it. Between two
 * writes the response is read, because an app may respond before it has read
 * the body. END_REQUEST ends the response, and the work of the process on the
 * request. If an app ends its output and then dies or is silent, the response
 * is complete nevertheless.
 *
 * A connection may carry another request (app_connection.h) if this one had no
 * body, all of it was sent, and END_REQUEST was the last record that came. Each
 * request on a connection has another id than the 65,000 before it. So a record that
 * an app sends too late belongs to another request, and not to the next
 * response. The first request has the id 1: some apps know no other.
 *
 * Over scgi and uwsgi there are no records: a packet with the parameters, and then
 * the body as it is. A connection carries one request. The end of the connection
 * is the end of the response.
 *
 * Over FastCGI an app does not have to read the end of the request, and php-cgi
 * does not read it. So a reset may also come after the app has served the
 * request (apppool_client_cgi_outcome()).
 *
 * Lock:  none; it belongs to one request.
 * Crash: all is private memory of the httpd child.
 * Trust: the app may send any bytes, at any time. Each error is a line of the
 *        log that names the process, and the connection is closed.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_CGI_H
#define MOD_APPPOOL_BACKEND_CLIENT_CGI_H

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/fcgi_sending.h"
#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/outcome.h"
#include "mod_apppool/backend/parked.h"

typedef struct apppool_client_cgi_t apppool_client_cgi_t;

/**
 * @param label  of the app, with the pid in brackets: for the log
 * @param packet of the request over scgi or uwsgi; NULL: over FastCGI. Its
 *        socket is taken
 */
apppool_client_cgi_t *apppool_client_cgi_make(request_rec *r, const char *label,
                                              apppool_fcgi_kind_t body,
                                              apppool_bare_packet_t *packet);

/** Where its STDERR goes: fcgi_stderr.h. To be called before
 * apppool_client_cgi_run().
 * @param id      of the process
 * @param has_log the app has an AppLog */
void apppool_client_cgi_log_to(apppool_client_cgi_t *fcgi, apl_pool_t *pool,
                               uint64_t id, int has_log);

/** Connect, or use the shared connection.
 * @param shared as in apppool_client_proxy_open()
 * @return the same */
apr_status_t apppool_client_cgi_open(apppool_client_cgi_t *fcgi,
                                     const apppool_endpoint_t *endpoint,
                                     apppool_parked_t *shared,
                                     int64_t deadline);

/** The descriptor of its socket. */
int apppool_client_cgi_descriptor(const apppool_client_cgi_t *fcgi);

/**
 * Send the request, and pass the response to the request's output filters.
 * @return OK; a status to return instead of a response; AP_FILTER_ERROR: the
 *         response has begun and is not complete, or it could not be passed on
 */
int apppool_client_cgi_run(apppool_client_cgi_t *fcgi,
                           const apppool_first_byte_t *first_byte);

/**
 * How the request went. APPPOOL_BROKEN over scgi and uwsgi: as over HTTP.
 * APPPOOL_BROKEN over FastCGI: there was no response, because the connection was reset soon; or
 * the connection had carried another request, and it was closed, or what came
 * does not belong to this request.
 */
apppool_outcome_t apppool_client_cgi_outcome(const apppool_client_cgi_t *fcgi);

/** Had its connection carried another request? */
int apppool_client_cgi_has_reused(const apppool_client_cgi_t *fcgi);

/** Is the process done with the request? It has sent END_REQUEST, or has closed
 * the connection. */
int apppool_client_cgi_has_ended(const apppool_client_cgi_t *fcgi);

/** Did the app refuse the request because it has too many others? */
int apppool_client_cgi_is_overloaded(const apppool_client_cgi_t *fcgi);

/** Close the connection, or give it to others. Later calls do nothing. Over
 * FastCGI, call this before the session ends; apppool_client_cgi_run() does it as
 * soon as the response is complete. Over scgi and uwsgi nobody else uses the
 * connection, so it can be closed when the process has the next request. */
void apppool_client_cgi_close(apppool_client_cgi_t *fcgi);

#endif
