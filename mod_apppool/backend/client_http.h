/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file client_http.h
 * @brief A client of an app (app_client.h) that speaks HTTP/1.1.
 *
 * A request that asks for an upgrade makes its connection a tunnel that holds
 * no worker (tunnel.h). If it has to hold one, mod_proxy sends it
 * (client_proxy.h). The response of an event stream leaves its worker behind
 * the header. A client of our own reads a response with one call, and knows for
 * certain what it has read. A body is written as far as the app takes it.
 * Between two writes the response is read, because an app may respond before it
 * has read the body.
 *
 * A connection may carry another request (app_connection.h) if this one had no
 * body, the app has read all of it, and the response had a body, ended where it
 * said, and was the last that came. If something comes on such a connection
 * before the app has read the next request, it belongs to an earlier one. Then
 * the request is sent again over another connection.
 */
#ifndef MOD_APPPOOL_BACKEND_CLIENT_HTTP_H
#define MOD_APPPOOL_BACKEND_CLIENT_HTTP_H

#include "mod_apppool/backend/app_client.h"
#include "mod_apppool/backend/http_request.h"
#include "mod_apppool/backend/sending.h"

/** @param request what to send; it stays as long as the request */
apppool_app_client_t *
apppool_client_http_make(request_rec *r, const char *label,
                         const apppool_http_request_t *request,
                         apppool_sending_kind_t kind);

#endif
