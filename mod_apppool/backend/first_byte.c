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
static apr_status_t peek(const apppool_session_t *s, ap_filter_t *next)
{
    apr_bucket_brigade *bb =
        apr_brigade_create(s->r->pool, s->r->connection->bucket_alloc);
    apr_status_t rv =
        ap_get_brigade(next, bb, AP_MODE_SPECULATIVE, APR_NONBLOCK_READ, 1);

    if (rv == APR_SUCCESS && APR_BRIGADE_EMPTY(bb))
        rv = APR_EAGAIN;
    apr_brigade_destroy(bb);
    return rv;
}

apr_status_t apppool_first_byte_wait(const apppool_session_t *s,
                                     ap_filter_t *next)
{
    struct pollfd app = {s->socket, POLLIN, 0};
    int64_t until = apl_now() + s->timeout;
    apr_status_t rv = peek(s, next);

    if (!APR_STATUS_IS_EAGAIN(rv))
        return rv;
    while (poll(&app, 1, SLICE) <= 0) {
        if (apppool_session_is_being_killed(s))
            return APR_ECONNABORTED;
        if (s->timeout >= 0 && apl_now() >= until)
            return APR_TIMEUP;
    }
    return APR_SUCCESS;
}

/* It reads the socket itself, and never asks our filters. */
static int reads_socket_itself(const apppool_session_t *s)
{
    return s->hold.wire.protocol == APL_FCGI ||
           s->hold.wire.protocol == APL_SCGI;
}

void apppool_first_byte_limit(const apppool_session_t *s)
{
    int64_t limit = s->app->pool.options.kill_after, left;

    if (limit == 0 || !reads_socket_itself(s))
        return;
    left = s->process_since + limit + KILL_BEGUN - apl_now();
    if (s->timeout < 0 || left < s->timeout)
        apppool_connection_set_timeout(s->connection, left > 1 ? left : 1);
}

void apppool_first_byte_came(const apppool_session_t *s)
{
    if (reads_socket_itself(s))
        apppool_connection_set_timeout(s->connection, s->timeout);
}
