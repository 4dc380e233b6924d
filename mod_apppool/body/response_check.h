/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_check.h
 * @brief Was that an answer, and all of it? What mod_proxy's handlers of
 *        fcgi, scgi and uwsgi let pass, or call by other names than that of
 *        http.
 *
 *     an fcgi app that sends no header      its text would be the answer
 *     an app that sends less than its       the client would wait for the rest
 *     Content-Length, or more               would take that for another answer
 *     an app that ends before its header    would be an error of httpd, 500
 *
 * Over fcgi the end is a record, and mod_proxy_fcgi drops Content-Length,
 * unless ap_trust_cgilike_cl is set. What an scgi or uwsgi app sends has no end
 * but that of the connection.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the answer may be anything.
 */
#ifndef MOD_APPPOOL_BODY_RESPONSE_CHECK_H
#define MOD_APPPOOL_BODY_RESPONSE_CHECK_H

#include <httpd.h>
#include <stdint.h>

typedef struct {
    const char *label;
    uint32_t protocol;
    int headers;      /**< that were there before */
    int is_none;      /**< it was no answer */
    int trusts;       /**< mod_proxy is told to keep Content-Length */
    apr_off_t length; /**< that the answer says it has; -1: it does not */
    apr_off_t seen;   /**< bytes of it */
} apppool_response_check_t;

/**
 * Before the app is asked, each time.
 * @param label the app's, for the log
 */
void apppool_response_check_begin(apppool_response_check_t *check,
                                  request_rec *r, const char *label,
                                  uint32_t protocol);

/** The answer begins, or there is none: take back what mod_proxy was told. */
void apppool_response_check_end(apppool_response_check_t *check,
                                request_rec *r);

/**
 * The first part of its answer comes.
 * @return 0: this is no answer; it is not to be passed on
 */
int apppool_response_check_first(apppool_response_check_t *check,
                                 const request_rec *r, apr_bucket_brigade *bb);

/**
 * A part of the answer's body is to be passed on, the first one too. What is
 * too much is taken out, and an end that comes too early is made an error.
 */
void apppool_response_check_part(apppool_response_check_t *check,
                                 request_rec *r, apr_bucket_brigade *bb);

/**
 * Did the app answer with this error, and mod_proxy has dropped its page
 * (ProxyErrorOverride)? mod_proxy_fcgi asks for another page by itself, and
 * returns OK; mod_proxy_scgi does no such thing.
 * @param status what the scheme handler returned
 */
int apppool_response_check_overridden(const apppool_response_check_t *check,
                                      const request_rec *r, int status);

/**
 * @param status what the scheme handler returned
 * @param begun  part of the answer has come
 * @return what it would be over http
 */
int apppool_response_check_status(const apppool_response_check_t *check,
                                  const request_rec *r, int status, int begun);

#endif
