/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi.h
 * @brief Send a request to a process over FastCGI, scgi or uwsgi, and pass on
 *        the response.
 *
 *     fcgi = apppool_fcgi_make(r, label, body, packet);
 *     rv = apppool_fcgi_open(fcgi, &endpoint, &shared, deadline);
 *     if (rv == APR_SUCCESS)
 *         status = apppool_fcgi_run(fcgi, &first_byte);
 *     apppool_fcgi_close(fcgi);
 *
 * A connection carries one request at a time. A request without a body is
 * written at once. A body is written as far as the app takes it. Between two
 * writes the response is read, because an app may respond before it has read
 * the body. END_REQUEST ends the response, and the work of the process on the
 * request. If an app ends its output and then dies or is silent, the response
 * is complete nevertheless.
 *
 * A connection may carry another request (direct_connection.h) if this one had no
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
 * request (apppool_fcgi_outcome()).
 *
 * Lock:  none; it belongs to one request.
 * Crash: all is private memory of the httpd child.
 * Trust: the app may send any bytes, at any time. Each error is a line of the
 *        log that names the process, and the connection is closed.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_H
#define MOD_APPPOOL_BACKEND_FCGI_H

#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/fcgi_sending.h"
#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/outcome.h"
#include "mod_apppool/backend/shared_connection.h"

typedef struct apppool_fcgi_t apppool_fcgi_t;

/**
 * @param label  of the app, with the pid in brackets: for the log
 * @param packet of the request over scgi or uwsgi; NULL: over FastCGI. Its
 *        socket is taken
 */
apppool_fcgi_t *apppool_fcgi_make(request_rec *r, const char *label,
                                  apppool_fcgi_kind_t body,
                                  apppool_bare_packet_t *packet);

/** Where its STDERR goes: fcgi_stderr.h. To be called before
 * apppool_fcgi_run().
 * @param id      of the process
 * @param has_log the app has an AppLog */
void apppool_fcgi_log_to(apppool_fcgi_t *fcgi, apl_pool_t *pool, uint64_t id,
                         int has_log);

/** Connect, or use the shared connection.
 * @param shared as in apppool_connection_open()
 * @return the same */
apr_status_t apppool_fcgi_open(apppool_fcgi_t *fcgi,
                               const apppool_endpoint_t *endpoint,
                               apppool_shared_connection_t *shared,
                               int64_t deadline);

/** The descriptor of its socket. */
int apppool_fcgi_descriptor(const apppool_fcgi_t *fcgi);

/**
 * Send the request, and pass the response to the request's output filters.
 * @return OK; a status to return instead of a response; AP_FILTER_ERROR: the
 *         response has begun and is not complete, or it could not be passed on
 */
int apppool_fcgi_run(apppool_fcgi_t *fcgi,
                     const apppool_first_byte_t *first_byte);

/**
 * How the request went. APPPOOL_BROKEN over scgi and uwsgi: as over HTTP.
 * APPPOOL_BROKEN over FastCGI: there was no response, because the connection was reset soon; or
 * the connection had carried another request, and it was closed, or what came
 * does not belong to this request.
 */
apppool_outcome_t apppool_fcgi_outcome(const apppool_fcgi_t *fcgi);

/** Had its connection carried another request? */
int apppool_fcgi_has_reused(const apppool_fcgi_t *fcgi);

/** Is the process done with the request? It has sent END_REQUEST, or has closed
 * the connection. */
int apppool_fcgi_has_ended(const apppool_fcgi_t *fcgi);

/** Did the app refuse the request because it has too many others? */
int apppool_fcgi_is_overloaded(const apppool_fcgi_t *fcgi);

/** Close the connection, or give it to others. Later calls do nothing. Over
 * FastCGI, call this before the session ends; apppool_fcgi_run() does it as
 * soon as the response is complete. Over scgi and uwsgi nobody else uses the
 * connection, so it can be closed when the process has the next request. */
void apppool_fcgi_close(apppool_fcgi_t *fcgi);

#endif
