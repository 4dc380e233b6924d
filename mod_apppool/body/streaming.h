/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file streaming.h
 * @brief Long-lived connections (WebSockets, other upgraded connections and
 *        event streams), and responses with `X-Accel-Buffering: no`. They are
 *        not stored (response_buffer.h), and make no process hung
 *        (shm/slots/hung.h).
 *
 * mod_proxy sends 101 without the filters of the request, and is then a tunnel
 * until the end. So if the client asks for an upgrade, a filter of the
 * connection waits for the 101. The filter stays: its memory is the
 * connection's, and there may be any number of requests.
 *
 * A long-lived connection occupies one of httpd's workers until its end, unless
 * it can leave the worker (pump/suspend.h). So an app has at most
 * AppMaxLongLived of them. If that is not set, there is a limit for each
 * kind. A request that asks for an upgrade
 * is refused before it waits for a process. An event stream is refused when its
 * response begins.
 *
 * Trust: the application says what its response is.
 */
#ifndef MOD_APPPOOL_BODY_STREAMING_H
#define MOD_APPPOOL_BODY_STREAMING_H

#include <httpd.h>
#include <util_filter.h>

#include "mod_apppool/config/app.h"
#include "shm/verbs/checkout.h"

/** Waits for 101; zeroed at first. */
typedef struct {
    const request_rec *r;
    apl_pool_t *pool;
    const apl_session_ref_t *ref;
} apppool_streaming_t;

/** Call it once, before the hooks of any configuration run. */
void apppool_streaming_register(void);

/** Does the request ask for an upgrade that is not httpd's own? */
int apppool_streaming_wants_upgrade(const request_rec *r);

/**
 * Does the app have AppMaxLongLived other long-lived connections already? This
 * one is counted from now on.
 * @param leaves it will leave its worker (pump/suspend.h)
 * @return 0; or the limit
 */
uint32_t apppool_streaming_is_full(const apppool_app_t *app,
                                   const apl_pool_t *pool,
                                   const apl_session_ref_t *ref, int leaves);

/** @return APL_LONG_LIVED_CONNECTION: the response is an event stream;
 *         APL_LONG_LIVED_RESPONSE: it has `X-Accel-Buffering: no`;
 *         0: neither */
uint32_t apppool_streaming_kind(const request_rec *r);

/** Tell the pool when the connection is upgraded. This does nothing if the
 * client does not ask for an upgrade. */
void apppool_streaming_begin(apppool_streaming_t *streaming, request_rec *r,
                             apl_pool_t *pool, const apl_session_ref_t *ref);
void apppool_streaming_end(const apppool_streaming_t *streaming);

#endif
