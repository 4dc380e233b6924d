/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_response.h
 * @brief What the client gets when the app does not respond, and the line in
 *        the log that says why.
 *
 *     the queue is full, or the wait was too long 503, Retry-After the app
 *     failed to start lately (back-off) 503, Retry-After the app did not start
 *     while the request waited 502, with an error id ... and could not even be
 *     run: no directory, 503, the same, and no user, no AppEnvFile, no command
 *     Retry-After a slot array is full, no descriptor is free ... 503,
 *     Retry-After httpd is being stopped 503 the app says that it is overloaded
 *     (FastCGI) 503, Retry-After the client has left nothing the app ended, or
 *     sent an invalid response 502 the app was silent for too long 504 its
 *     process was ended (AppKillAfter) 504
 *
 * All are ordinary error responses of httpd, except our page for a failed
 * start, or for one that has lasted longer than the wait (error_page.h).
 * ErrorDocument replaces any of them.
 *
 * Trust: the app's output goes to the client only in error_page.h.
 */
#ifndef MOD_APPPOOL_REQUEST_ERROR_RESPONSE_H
#define MOD_APPPOOL_REQUEST_ERROR_RESPONSE_H

#include <httpd.h>

#include "mod_apppool/config/app.h"

/** The pool gave no process. @return what the handler is to return */
int apppool_error_response_pool(request_rec *r, const apppool_app_t *app,
                                const apl_session_ref_t *ref, apr_status_t rv);

/** The connection to the process failed, for a reason of httpd itself. */
int apppool_error_response_connect(request_rec *r, const apppool_app_t *app,
                                   const apl_session_ref_t *ref,
                                   apr_status_t rv);

/** Ten processes in a row refused the connection. */
int apppool_error_response_refused(request_rec *r, const apppool_app_t *app);

/**
 * The response failed. This replaces what mod_proxy noted about it.
 * @param status what the scheme handler returned
 * @param broken 1: the app has closed the connection, or its process is gone; 0:
 *        what it has sent is no response
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

#endif
