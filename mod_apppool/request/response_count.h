/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file response_count.h
 * @brief Counts the responses of each application, as their clients saw them.
 *
 *     apppool_response_count_begin(r, app)            the handler has it
 *     apppool_response_count_arrived(r, now)          its body is there
 *     apppool_response_count_blame(r, APL_FAULT_...)  the error is ours
 *     apppool_response_count_ended(r, now)            the app's last byte
 *     apppool_response_count_log(r)                   httpd logs it
 *
 * A client's request is counted once, when httpd logs it: for the application
 * that had it first. So an error whose ErrorDocument comes from somewhere else
 * is the error of this application, and only this is: neither the time of the
 * ErrorDocument counts, nor that it fails. A subrequest is not counted. A
 * connection that is suspended (pump/suspend.h) is counted at its end. A
 * request whose client left while it waited has no response, and is not
 * counted.
 *
 * The record belongs to the first request, which internal redirects lead back
 * to, and subrequests do not.
 *
 * Crash: a child of httpd that is killed has not counted the requests that it
 *        had.
 */
#ifndef MOD_APPPOOL_REQUEST_RESPONSE_COUNT_H
#define MOD_APPPOOL_REQUEST_RESPONSE_COUNT_H

#include <httpd.h>

#include "mod_apppool/config/app.h"

/** The status of a request whose client left while it waited: for the access
 * log only. */
#define APPPOOL_CLIENT_GONE 499

/** The application has the request, unless another one had it before. */
void apppool_response_count_begin(request_rec *r, const apppool_app_t *app);

/** The request asks for a process: its time begins. @param now us of
 * apl_now() */
void apppool_response_count_arrived(request_rec *r, int64_t now);

/** The module responds with an error of its own. The first one counts.
 * @param fault APL_FAULT_* */
void apppool_response_count_blame(request_rec *r, uint32_t fault);

/** The application is done, or the wait for it was in vain: its time ends. */
void apppool_response_count_ended(request_rec *r, int64_t now);

/** The response is a stream: its time says nothing. */
void apppool_response_count_untimed(request_rec *r);

/** Hook of httpd: log_transaction. */
int apppool_response_count_log(request_rec *r);

#endif
