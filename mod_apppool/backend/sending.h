/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sending.h
 * @brief Sends the parameters and the body of a request to an app: over FastCGI
 *        as records, over scgi and uwsgi a packet and the body as it is.
 *
 * Trust: the bytes are the client's. See app_output.h for what the app may do.
 */
#ifndef MOD_APPPOOL_BACKEND_SENDING_H
#define MOD_APPPOOL_BACKEND_SENDING_H

#include <httpd.h>
#include <stdint.h>

#include "mod_apppool/backend/app_output.h"
#include "mod_apppool/backend/bare_packet.h"

/** Does the request have a body, and of what kind? */
typedef enum {
    APPPOOL_SENDING_NO_BODY,
    APPPOOL_SENDING_STORED,  /**< it can be read again from its start */
    APPPOOL_SENDING_STREAMED /**< it is read as the client sends it */
} apppool_sending_kind_t;

/** The caller sets the first two; the rest is zeroed. */
typedef struct {
    apppool_sending_kind_t kind;
    const apppool_bare_packet_t *packet; /**< NULL: over FastCGI */
    unsigned request;                    /**< its id, over FastCGI */
    apppool_app_output_t out; /**< the parameters, and a piece of the body */
    apr_bucket_brigade *bb;   /**< of the body, read and not yet in a piece */
    apr_bucket_brigade *rest; /**< empty between two calls */
    unsigned char *piece;     /**< over FastCGI a record, maybe with the end
                                 behind it */
    int ended;                /**< it was the last one */
    int waits;                /**< the client has to send more of the body */
    int64_t waits_from;       /**< since when, us of apl_now() */
} apppool_sending_t;

/**
 * Begin with the parameters. Over FastCGI, the CGI variables of the request are
 * set.
 * @param request id of the request
 * @param keeps   the app is not to close the connection
 */
void apppool_sending_begin(apppool_sending_t *sending, request_rec *r,
                           unsigned request, int keeps);

/** Send all that can be sent without waiting.
 * @return APR_SUCCESS, or why the body cannot be read */
apr_status_t apppool_sending_go_on(apppool_sending_t *sending, request_rec *r,
                                   int fd);

/** Was all of it sent? */
int apppool_sending_is_done(const apppool_sending_t *sending);

#endif
