/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/first_byte.h"

#include <poll.h>

#include "shm/lock/lock_token.h"

#define SLICE      250 /* ms between two looks at the pool */

/* us after AppKillAfter: by then the spawner, which looks each second, has
 * begun to end the process. */
#define KILL_BEGUN (2 * APR_USEC_PER_SEC)

/* Some may have been read from the socket already.
 * @return APR_EAGAIN: none. Another error is told only once by the kernel: who
 *         reads again finds an end without a reason. */
static apr_status_t peek(const apppool_visit_t *v, ap_filter_t *next)
{
    apr_bucket_brigade *bb =
        apr_brigade_create(v->r->pool, v->r->connection->bucket_alloc);
    apr_status_t rv =
        ap_get_brigade(next, bb, AP_MODE_SPECULATIVE, APR_NONBLOCK_READ, 1);

    if (rv == APR_SUCCESS && APR_BRIGADE_EMPTY(bb))
        rv = APR_EAGAIN;
    apr_brigade_destroy(bb);
    return rv;
}

apr_status_t apppool_await(const apppool_visit_t *v, ap_filter_t *next)
{
    struct pollfd app = {v->wire, POLLIN, 0};
    int64_t until = apl_now() + v->timeout;
    apr_status_t rv = peek(v, next);

    if (!APR_STATUS_IS_EAGAIN(rv))
        return rv;
    while (poll(&app, 1, SLICE) <= 0) {
        if (apppool_visit_dying(v))
            return APR_ECONNABORTED;
        if (v->timeout >= 0 && apl_now() >= until)
            return APR_TIMEUP;
    }
    return APR_SUCCESS;
}

/* It reads the socket itself, and never asks our filters. */
static int is_deaf(const apppool_visit_t *v)
{
    return v->hold.wire.protocol == APL_FCGI ||
           v->hold.wire.protocol == APL_SCGI;
}

void apppool_await_limit(const apppool_visit_t *v)
{
    int64_t limit = v->app->pool.options.kill_after, left;

    if (limit == 0 || !is_deaf(v))
        return;
    left = v->since + limit + KILL_BEGUN - apl_now();
    if (v->timeout < 0 || left < v->timeout)
        apppool_channel_patience(v->channel, left > 1 ? left : 1);
}

void apppool_await_begun(const apppool_visit_t *v)
{
    if (is_deaf(v))
        apppool_channel_patience(v->channel, v->timeout);
}
