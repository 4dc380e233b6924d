/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/health.h"

#include "shm/format/slot.h"
#include "shm/slots/queue.h"
#include "shm/verbs/enter.h"

/* The app does not start, and the next try needs no request: it is under way,
 * or the minimum of the app causes it. Otherwise a balancer that sends no
 * request would never see the app start. */
static int will_be_tried(const apl_group_t *g)
{
    return g->failures != 0 && g->size == 0 &&
           (g->spawning > 0 || (g->used && g->options.min_instances > 0));
}

static apr_status_t health_of(const apl_lock_token_t *token,
                              const apl_group_t *g)
{
    apr_status_t rv;

    if (apl_group_drained(g))
        return APL_EDRAINED;
    rv = apl_queue_refusal(token, g);
    return rv == APR_SUCCESS && will_be_tried(g) ? APL_EBACKOFF : rv;
}

/* The slots that a request takes. */
static apr_status_t slots(apl_pool_t *pool, const apl_group_t *g)
{
    if (pool->self == 0 && apl_slot_none(pool, apl_slots_children(pool)))
        return APL_ECHILDREN;
    if (apl_slot_none(pool, apl_slots_sessions(pool)) ||
        (!g && apl_slot_none(pool, apl_slots_groups(pool))))
        return APL_EFULL;
    return APR_SUCCESS;
}

apr_status_t apl_health_app(apl_pool_t *pool, const apl_app_t *app, int ready,
                            int64_t now)
{
    apl_lock_token_t token;
    const apl_group_t *g;
    apr_status_t rv = apl_enter(&token, pool, now, APL_PATIENCE);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_group_find(&token, app->key, app->name);
    rv = slots(pool, g);
    if (rv == APR_SUCCESS && g)
        rv = health_of(&token, g);
    if (rv == APR_SUCCESS && ready && (!g || g->size == 0))
        rv = APL_EWAIT;
    apl_leave(&token);
    return rv;
}

int apl_health_set_out(apl_pool_t *pool, int out)
{
    uint32_t before =
        __atomic_exchange_n(&pool->header->out, out != 0, __ATOMIC_RELAXED);

    return (before == 1) != (out != 0);
}

int apl_health_is_out(const apl_pool_t *pool)
{
    return __atomic_load_n(&pool->header->out, __ATOMIC_RELAXED) == 1;
}
