/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file whole.h
 * @brief Was that an answer, and all of it? What mod_proxy's handlers of
 *        fcgi, scgi and uwsgi let pass, or call by other names than that of
 *        http.
 *
 *     an fcgi app that sends no header      its text would be the answer
 *     a uwsgi app that sends less than      the client would wait for the rest
 *     its Content-Length
 *     an app that ends before its header    would be an error of httpd, 500
 *
 * What an scgi app sends has no end but that of the connection.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the answer may be anything.
 */
#ifndef APPPOOL_WHOLE_H
#define APPPOOL_WHOLE_H

#include <httpd.h>
#include <stdint.h>

typedef struct {
    int headers;    /**< that were there before */
    apr_off_t seen; /**< bytes of the answer, over uwsgi */
} apppool_whole_t;

/** Before the app is asked. */
void apppool_whole_begin(apppool_whole_t *w, const request_rec *r);

/**
 * A part of its answer comes. An end that comes too early is made an error.
 * @param first 1: nothing came before
 * @return 0: this is no answer; it is not to be passed on
 */
int apppool_whole_look(apppool_whole_t *w, request_rec *r, uint32_t protocol,
                       apr_bucket_brigade *bb, int first);

/**
 * @param status what the scheme handler returned
 * @param begun  part of the answer has come
 * @return what it would be over http
 */
int apppool_whole_status(const apppool_whole_t *w, const request_rec *r,
                         uint32_t protocol, int status, int begun);

#endif
