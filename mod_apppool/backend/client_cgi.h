/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_cgi.h
 * @brief A client of an app (app_client.h) that speaks FastCGI, scgi or uwsgi.
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
 * request on a connection has another id than the 65,000 before it. So a record
 * that an app sends too late belongs to another request, and not to the next
 * response. The first request has the id 1: some apps know no other.
 *
 * Over scgi and uwsgi there are no records: a packet with the parameters, and
 * then the body as it is. A connection carries one request. The end of the
 * connection is the end of the response.
 *
 * Over FastCGI an app does not have to read the end of the request, and php-cgi
 * does not read it. So a reset may also come after the app has served the
 * request.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_CGI_H
#define MOD_APPPOOL_BACKEND_CLIENT_CGI_H

#include "mod_apppool/backend/app_client.h"
#include "mod_apppool/backend/bare_packet.h"
#include "mod_apppool/backend/sending.h"

/**
 * @param packet of the request over scgi or uwsgi; NULL: over FastCGI. Its
 *        socket is taken
 */
apppool_app_client_t *apppool_client_cgi_make(request_rec *r, const char *label,
                                              apppool_sending_kind_t kind,
                                              apppool_bare_packet_t *packet);

/** Where STDERR of an app goes that speaks FastCGI. To be called before run().
 * @param id      of the process
 * @param has_log the app has an AppLog */
void apppool_client_cgi_log_to(apppool_app_client_t *client, apl_pool_t *pool,
                               uint64_t id, int has_log);

#endif
