/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file fcgi_body.h
 * @brief The body of a request: over FastCGI as records of STDIN, one at a
 *        time; over scgi and uwsgi in pieces.
 *
 * Lock:  none; it belongs to one request.
 * Crash: not concerned.
 * Trust: the bytes are the client's.
 */
#ifndef MOD_APPPOOL_BACKEND_FCGI_BODY_H
#define MOD_APPPOOL_BACKEND_FCGI_BODY_H

#include <httpd.h>

/** The caller sets the first two; the rest is zeroed. */
typedef struct {
    unsigned request; /**< id of the request */
    int is_bare; /**< scgi, uwsgi: it has no records, and is sent as it is */
    apr_bucket_brigade *bb;   /**< read, and not yet in a record */
    apr_bucket_brigade *rest; /**< empty between two calls */
    unsigned char *record;    /**< the last one, maybe with the end behind it */
    apr_size_t size;          /**< of it */
    int ended;                /**< it was the last one */
} apppool_fcgi_body_t;

/**
 * Read what the client has sent, and make it the next record. Never waits.
 * @return APR_SUCCESS; APR_EAGAIN: there is nothing yet; or why the body cannot
 *         be read
 */
apr_status_t apppool_fcgi_body_next(apppool_fcgi_body_t *body, request_rec *r);
#endif
