/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_check.h
 * @brief Is that a response, and is it complete? This finds errors that
 *        client_cgi.c does not notice, or reports in another way than the
 *        clients of HTTP.
 *
 *     what the app does                     without this check
 *     it sends less than Content-Length     the client would wait for the rest
 *     it sends more than Content-Length     the client would take the rest for
 *                                           the next response
 *     it ends before its header             the client would get httpd's 500
 *     its status is below 200               the client would wait for another
 *                                           response, and take the body for it
 *
 * Over fcgi the end is a record, and Content-Length is dropped unless
 * ap_trust_cgilike_cl is set (backend/cgi_response.h). A response over scgi or
 * uwsgi ends with the connection.
 *
 * Trust: the response may be any bytes.
 */
#ifndef MOD_APPPOOL_BODY_RESPONSE_CHECK_H
#define MOD_APPPOOL_BODY_RESPONSE_CHECK_H

#include <httpd.h>
#include <stdint.h>

typedef struct {
    const char *label;
    uint32_t protocol;
    int is_none;      /**< it was no response */
    apr_off_t length; /**< Content-Length of the response; -1: none */
    apr_off_t seen;   /**< bytes of it so far */
} apppool_response_check_t;

/**
 * Begin. Call this each time before the request is sent to the app.
 * @param label the app's, for the log
 */
void apppool_response_check_begin(apppool_response_check_t *check,
                                  request_rec *r, const char *label,
                                  uint32_t protocol);

/**
 * Check the first part of a response.
 * @return 0: this is no response and must not be passed on
 */
int apppool_response_check_first(apppool_response_check_t *check,
                                 const request_rec *r);

/**
 * Check each part of the body before it is passed on, also the first one. Bytes
 * beyond Content-Length are removed. An end that comes too early becomes an
 * error.
 */
void apppool_response_check_part(apppool_response_check_t *check,
                                 request_rec *r, apr_bucket_brigade *bb);

/** Did the app send this error, and was its page dropped
 * (ProxyErrorOverride)? */
int apppool_response_check_overridden(const request_rec *r);

/**
 * @param status what the scheme handler returned
 * @param begun  part of the response has come
 * @return what it would be over http
 */
int apppool_response_check_status(const apppool_response_check_t *check,
                                  const request_rec *r, int status, int begun);

#endif
