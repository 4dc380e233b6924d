/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/response_count.h"

#include <http_request.h>

#include "mod_apppool/instance/current.h"
#include "mod_apppool/request/request_state.h"
#include "shm/lock/lock_token.h"
#include "shm/verbs/response.h"

/* Of a client's request. */
typedef struct {
    const apppool_app_t *app;
    const request_rec *begun; /* by this request */
    uint32_t fault;
    int is_untimed;
    int64_t arrived, ended; /* us of apl_now(); 0: not yet */
} count_t;

static count_t *count_of(const request_rec *r)
{
    const apppool_request_state_t *state;

    while (r->prev)
        r = r->prev;
    state = apppool_request_state_of(r);
    return state ? state->count : NULL;
}

/* The count for facts about what the client has asked for. What happens to an
 * ErrorDocument, which another application may have, says nothing about that.
 * @return NULL: this is a request for an ErrorDocument */
static count_t *count_of_own(const request_rec *r)
{
    count_t *count = count_of(r);

    return count && r != count->begun && r->prev &&
                   ap_is_HTTP_ERROR(r->prev->status)
               ? NULL
               : count;
}

void apppool_response_count_begin(request_rec *r, const apppool_app_t *app)
{
    count_t *count = count_of(r);

    if (count)
        return;
    count = apr_pcalloc(r->pool, sizeof *count);
    count->app = app;
    count->begun = r;
    while (r->prev)
        r = r->prev;
    apppool_request_state_begin(r)->count = count;
}

void apppool_response_count_arrived(request_rec *r, int64_t now)
{
    count_t *count = count_of_own(r);

    if (count && count->arrived == 0)
        count->arrived = now;
}

void apppool_response_count_blame(request_rec *r, uint32_t fault)
{
    count_t *count = count_of_own(r);

    if (count && count->fault == APL_FAULT_NONE)
        count->fault = fault;
}

void apppool_response_count_ended(request_rec *r, int64_t now)
{
    count_t *count = count_of_own(r);

    if (count)
        count->ended = now;
}

void apppool_response_count_untimed(request_rec *r)
{
    count_t *count = count_of_own(r);

    if (count)
        count->is_untimed = 1;
}

int apppool_response_count_log(request_rec *r)
{
    const count_t *count = count_of(r);
    const request_rec *last = r;
    apl_response_t response;

    if (!count || !apppool_current()->pool)
        return DECLINED;
    while (last->next)
        last = last->next;
    /* Nobody has seen this error. */
    if (last->status == APPPOOL_CLIENT_GONE ||
        (r->connection->aborted && count->fault != APL_FAULT_NONE))
        return DECLINED;
    response.status = (uint32_t)last->status;
    response.fault = count->fault;
    response.bytes = last->bytes_sent > 0 ? (uint64_t)last->bytes_sent : 0;
    response.took = count->is_untimed || count->arrived == 0 ||
                            count->ended == 0 ||
                            last->status == HTTP_SWITCHING_PROTOCOLS
                        ? -1
                        : count->ended - count->arrived;
    apl_response_count(apppool_current()->pool, &count->app->pool, &response,
                       apl_now(), !apppool_current()->is_dying);
    return DECLINED;
}
