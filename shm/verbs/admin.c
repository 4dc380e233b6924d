/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/admin.h"

#include "shm/verbs/enter.h"
#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/policy/retire.h"
#include "shm/policy/capacity.h"

/* This also drains an app that has had no request yet: its first request must
 * not start it. */
apr_status_t apl_admin_drain(apl_pool_t *pool, const apl_app_t *app,
                             int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_app(&token, pool, app, now, &g);

    if (rv != APR_SUCCESS)
        return rv;
    if (!apl_group_drained(g))
        apl_event_note(&token, APL_EVENT_DRAINED, g, NULL);
    g->drained = 1;
    APL_CRASH_POINT("drain_drained");
    /* seen: it is drained, but its processes still run */
    if (apl_retire_drained(&token, g))
        token.ring = 1; /* the next tick does the rest */
    apl_capacity_assign(&token);
    apl_leave(&token);
    return rv;
}

apr_status_t apl_admin_permits(apl_pool_t *pool, const char *name, int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_group(&token, pool, name, now, &g);

    if (rv == APL_ESTALE)
        return APR_SUCCESS;
    if (rv != APR_SUCCESS)
        return rv;
    if (apl_group_drained(g))
        rv = APL_EDRAINED;
    else if (g->failed_at <= now && g->failed_at > now - APL_PAUSE_MIN)
        rv = APL_EBACKOFF;
    apl_leave(&token);
    return rv;
}

/* Start a process of the group, if the group may have one. */
static apr_status_t start_group(apl_lock_token_t *token, apl_group_t *g)
{
    if (apl_group_drained(g))
        return APL_EDRAINED;
    if (apl_group_too_many_unkillable(g))
        return APL_EUNKILLABLE;
    g->used = 1;
    APL_CRASH_POINT("start_used"); /* seen: its minimum will be kept */
    if (g->retry_at > token->now)
        g->retry_at = token->now;
    apl_capacity_keep_minimum(token, g);
    return g->size + g->spawning > 0 || apl_capacity_reserve(token, g)
               ? APR_SUCCESS
               : APL_EWAIT;
}

apr_status_t apl_admin_start(apl_pool_t *pool, const apl_app_t *app,
                             int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_app(&token, pool, app, now, &g);

    if (rv != APR_SUCCESS)
        return rv;
    rv = start_group(&token, g);
    apl_capacity_assign(&token);
    apl_leave(&token);
    return rv;
}

apr_status_t apl_admin_restart(apl_pool_t *pool, const char *name, int rolling,
                               int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_group(&token, pool, name, now, &g);

    if (rv != APR_SUCCESS)
        return rv;
    if (apl_group_drained(g)) {
        rv = APL_EDRAINED;
        apl_event_note(&token, APL_EVENT_RESTART, g, NULL);
    }
    g->drained = 0;
    APL_CRASH_POINT("restart_undrained");
    apl_retire_restart(&token, g,
                       rolling < 0 ? g->options.rolling != 0 : rolling);
    apl_capacity_share(&token, g);
    apl_leave(&token);
    return rv;
}
