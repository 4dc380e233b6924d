/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_response.h
 * @brief What the client gets when the app cannot answer, and the one line in
 *        the log that says why.
 *
 *     the queue is full, or was waited in too long     503, Retry-After
 *     the app failed to start lately (back-off)        503, Retry-After
 *     the app did not start while the request waited   502, with an error id
 *     ... and could not even be run: no directory,     503, the same, and
 *     no user, no AppEnvFile, no command                    Retry-After
 *     no room in the pool's tables, no descriptor ...  503, Retry-After
 *     httpd is being stopped                           503
 *     the client has gone                              nothing
 *     the app ended, or sent what is no answer         502
 *     the app was silent for too long                  504
 *     its process was ended (AppKillAfter)             504
 *
 * All are ordinary error answers of httpd, but for the page of a failed start,
 * which is ours (error_page.h). ErrorDocument replaces any of them.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: nothing of the app's output goes to the client but in error_page.h.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_RESPONSE_H
#define MOD_APPPOOL_REQUEST_ERROR_RESPONSE_H

#include <httpd.h>

#include "mod_apppool/config/app.h"

/** The pool said no. @return what the handler is to return */
int apppool_error_response_pool(request_rec *r, const apppool_app_t *app,
                                const apl_session_ref_t *hold, apr_status_t rv);

/** The process could not be connected to, for a reason of ours. */
int apppool_error_response_connect(request_rec *r, const apppool_app_t *app,
                                   const apl_session_ref_t *hold,
                                   apr_status_t rv);

/** Ten processes in a row refused the connection. */
int apppool_error_response_refused(request_rec *r, const apppool_app_t *app);

/**
 * The app's answer failed. Replaces what mod_proxy noted about it.
 * @param status what the scheme handler returned
 * @return what the handler is to return; 504 if the app was silent, only then
 */
int apppool_error_response_app(request_rec *r, const apppool_app_t *app,
                               const apl_session_ref_t *hold, int status);

/** Its process was ended while it worked on this, or on another request. */
int apppool_error_response_killed(request_rec *r, const apppool_app_t *app,
                                  const apl_session_ref_t *hold);

/** Take back what mod_proxy has noted for an answer that is not given. */
void apppool_error_response_forget(request_rec *r);

/** One that would last is one too many. @return HTTP_* */
int apppool_error_response_streaming(request_rec *r, const apppool_app_t *app);

#endif
