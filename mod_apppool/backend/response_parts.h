/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_parts.h
 * @brief The body of a response on its way from an app to the output filters of
 *        the request.
 *
 *     apppool_response_parts_add(&parts, r, bytes, n);   for each piece
 *     status = apppool_response_parts_pass(&parts, r);   what was added
 *     status = apppool_response_parts_flush(&parts, r);  before a pause
 *     status = apppool_response_parts_end(&parts, r);
 *
 * The header of the response is in r before the first part is passed on.
 *
 * Trust: the bytes are the app's. Nothing looks at them.
 */
#ifndef MOD_APPPOOL_BACKEND_RESPONSE_PARTS_H
#define MOD_APPPOOL_BACKEND_RESPONSE_PARTS_H

#include <httpd.h>

/** Zeroed at first. */
typedef struct {
    int drops;      /**< the body is not passed on; the caller sets it */
    int overridden; /**< ProxyErrorOverride: the status of the app; or 0.
                         apppool_response_parts_override() sets it */
    apr_bucket_brigade *body; /**< what was not passed on yet */
    apr_off_t size;           /**< of the body so far */
    int passed;               /**< something was passed on */
    int unflushed;            /**< since the last flush */
} apppool_response_parts_t;

/** Does httpd send its own page in place of this error of the app? Then the
 * body is dropped. Call it when r has the status of the app. */
void apppool_response_parts_override(apppool_response_parts_t *parts,
                                     request_rec *r);

/**
 * The response is not complete.
 * @param status if nothing was passed on. It is not the app's
 * @return what the handler is to return: that status, or AP_FILTER_ERROR
 */
int apppool_response_parts_break(apppool_response_parts_t *parts,
                                 request_rec *r, int status);

/**
 * An app that has not read the whole request resets the connection when it
 * closes it. Has everything arrived that it had sent before? Over a Unix socket
 * it has. Over TCP, the app's kernel forgets what it could not send yet. It
 * could send all of a small response, and a response that has its length is
 * whole.
 */
int apppool_response_parts_outlive_reset(const apppool_response_parts_t *parts,
                                         const request_rec *r, int is_tcp);

/** The next bytes of the body.
 * @param bytes stay where they are until apppool_response_parts_pass() */
void apppool_response_parts_add(apppool_response_parts_t *parts, request_rec *r,
                                const char *bytes, apr_size_t n);

/** Pass on what there is. @return OK, or AP_FILTER_ERROR */
int apppool_response_parts_pass(apppool_response_parts_t *parts,
                                request_rec *r);

/** The app pauses. Send the client everything that has come so far, at least
 * the header. @return OK, or AP_FILTER_ERROR */
int apppool_response_parts_flush(apppool_response_parts_t *parts,
                                 request_rec *r);

/**
 * The app has sent everything. Pass on the rest and the end.
 * @return what the handler is to return: OK; the status that is overridden;
 *         AP_FILTER_ERROR
 */
int apppool_response_parts_end(apppool_response_parts_t *parts, request_rec *r);

#endif
