/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_response.h
 * @brief What the client gets when the app does not respond, and the line in
 *        the log that says why.
 *
 *     status            what happened
 *     503, Retry-After  the queue is full, or the wait was too long
 *     503, Retry-After  the start lasts longer than the wait
 *     503, Retry-After  the app failed to start lately (back-off)
 *     502               the app did not start while the request waited
 *     503, Retry-After  it could not even be run: no directory, no user, no
 *                       AppEnvFile, no command
 *     503, Retry-After  a slot array is full, no descriptor is free ...
 *     503, Retry-After  httpd is being stopped, or the app is drained
 *     503, Retry-After  the app says that it is overloaded (FastCGI)
 *     nothing           the client has left
 *     502               the app ended, or sent an invalid response
 *     504               the app was silent for too long
 *     504               its process was ended (AppKillAfter)
 *
 * Each of them, and those of reading the request, gets our page (error_page.h)
 * with an id that the log has, too. ErrorDocument replaces any of them.
 *
 * Trust: the app's output goes to the client only in error_page.h.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_RESPONSE_H
#define MOD_APPPOOL_REQUEST_ERROR_RESPONSE_H

#include <httpd.h>

#include "mod_apppool/config/app.h"

/* The functions below log the error, and note what
 * apppool_error_response_send() sends later, when no filter of the request is
 * left. */

/** The pool gave no process. @return what the handler is to return */
int apppool_error_response_pool(request_rec *r, const apppool_app_t *app,
                                const apl_session_ref_t *ref, apr_status_t rv);

/** httpd has no pool, and has logged why. @return 503 */
int apppool_error_response_no_pool(request_rec *r, const apppool_app_t *app);

/** The connection to the process failed, for a reason of httpd itself. */
int apppool_error_response_connect(request_rec *r, const apppool_app_t *app,
                                   const apl_session_ref_t *ref,
                                   apr_status_t rv);

/** Ten processes in a row refused the connection. */
int apppool_error_response_refused(request_rec *r, const apppool_app_t *app);

/**
 * The response failed. This replaces what mod_proxy noted about it.
 * @param status what the scheme handler returned
 * @param broken 1: the app has closed the connection, or its process is gone;
 *        0: what it has sent is no response
 * @return what the handler is to return; 504 if the app was silent, only then
 */
int apppool_error_response_app(request_rec *r, const apppool_app_t *app,
                               const apl_session_ref_t *ref, int status,
                               int broken);

/** The app has refused the request, because it has too many. */
int apppool_error_response_overloaded(request_rec *r, const apppool_app_t *app,
                                      const apl_session_ref_t *ref);

/** The process was ended while it worked on this request, or on another one. */
int apppool_error_response_killed(request_rec *r, const apppool_app_t *app,
                                  const apl_session_ref_t *ref);

/** Remove what mod_proxy has noted for a response that is not sent. */
void apppool_error_response_forget(request_rec *r);

/** The app has AppMaxLongLived other long-lived connections. @return HTTP_* */
int apppool_error_response_streaming(request_rec *r, const apppool_app_t *app,
                                     uint32_t limit);

/**
 * The request ends with this status: send the page about the error, unless the
 * administrator has an ErrorDocument for it. If an ErrorDocument fails, too,
 * the page is about the error before it.
 * @return what the handler is to return
 */
int apppool_error_response_send(request_rec *r, const apppool_app_t *app,
                                int status);

/** How long may the request wait for a process? AppQueueTimeout, but an
 * ErrorDocument does not wait once more, after a request that no process was
 * free for. @return us */
apr_int64_t apppool_error_response_patience(const request_rec *r);

#endif
