/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_sending.h
 * @brief Sends the parameters and the body of a request to an app, over FastCGI,
 *        scgi or uwsgi.
 *
 * Lock:  none; it belongs to one request.
 * Crash: not concerned.
 * Trust: the bytes are the client's. See app_output.h for what the app may do.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_SENDING_H
#define MOD_APPPOOL_BACKEND_FCGI_SENDING_H

#include <stdint.h>

#include "mod_apppool/backend/fcgi_body.h"
#include "mod_apppool/backend/app_output.h"
#include "mod_apppool/backend/bare_packet.h"

/** Does the request have a body, and of what kind? */
typedef enum {
    APPPOOL_FCGI_NO_BODY,
    APPPOOL_FCGI_STORED,  /**< it can be read again from its start */
    APPPOOL_FCGI_STREAMED /**< it is read as the client sends it */
} apppool_fcgi_kind_t;

/** The caller sets the first two; the rest is zeroed. */
typedef struct {
    apppool_fcgi_kind_t kind;
    const apppool_bare_packet_t *packet; /**< NULL: over FastCGI */
    apppool_app_output_t out; /**< the parameters, and a part of the body */
    apppool_fcgi_body_t body;
    int waits;          /**< the client has to send more of the body */
    int64_t waits_from; /**< since when, us of apl_now() */
} apppool_fcgi_sending_t;

/**
 * Begin with the parameters. Over FastCGI, the CGI variables of the request are
 * set.
 * @param request id of the request
 * @param keeps   the app is not to close the connection
 */
void apppool_fcgi_sending_begin(apppool_fcgi_sending_t *sending, request_rec *r,
                                unsigned request, int keeps);

/** Send all that can be sent without waiting.
 * @return APR_SUCCESS, or why the body cannot be read */
apr_status_t apppool_fcgi_sending_go_on(apppool_fcgi_sending_t *sending,
                                        request_rec *r, int fd);

/** Was all of it sent? */
int apppool_fcgi_sending_is_done(const apppool_fcgi_sending_t *sending);

#endif
