/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/housekeeping.h"

#include <stdio.h>
#include <string.h>

#include "shm/verbs/enter.h"
#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/slots/hung.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"
#include "shm/policy/retire.h"
#include "shm/policy/backoff.h"
#include "shm/policy/capacity.h"
#include "shm/format/slot.h"
#include "shm/verbs/supervise.h"

#define LOWER_MAX 2048 /* free slots that a tick takes off the end */

apr_status_t apl_housekeeping_repair(apl_pool_t *pool, int64_t now)
{
    apl_lock_token_t token;
    apr_status_t rv;

    pool->damaged = 1;
    rv = apl_enter_patiently(&token, pool, now);
    if (rv == APR_SUCCESS)
        apl_leave(&token);
    return rv;
}

/* The next tick is due in `us`, or earlier. */
static void wake_within(int64_t us, const apl_lock_token_t *token,
                        int64_t *next)
{
    if (us >= 0 && us < *next - token->now)
        *next = token->now + us;
}

/* End idle processes, the longest idle first: those that were idle for
 * PoolIdleTime, and those above a limit that was lowered. */
static void trim(apl_lock_token_t *token, apl_group_t *g, int64_t *next)
{
    apl_pool_t *pool = token->pool;
    const apl_options_t *o = &g->options;
    uint32_t at, left = pool->n.processes;

    while ((at = apl_list_last(pool, &g->idle)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, idle);
        int64_t idle;

        if (left-- == 0 || !p || p->state != APL_PROCESS_LIVE ||
            p->sessions != 0 || p->group != APL_GROUP_INDEX(pool, g)) {
            pool->damaged = 1;
            return;
        }
        if (apl_group_exceeds_limit(token, g)) {
            apl_process_leave(token, p, APL_EVENT_TRIMMED);
            continue;
        }
        if (o->idle_time <= 0 || g->size <= o->min_instances)
            return;
        idle = apl_since(token->now, p->last_used);
        if (idle < o->idle_time) {
            wake_within(apl_since(o->idle_time, idle), token, next);
            return;
        }
        pool->header->counters.idled++;
        apl_process_leave(token, p, APL_EVENT_IDLE);
    }
}

static void tend_group(apl_lock_token_t *token, apl_group_t *g, int64_t *next)
{
    apl_backoff_check(token, g);
    trim(token, g, next);
    apl_retire_closed(token, g);
    apl_capacity_keep_minimum(token, g);
    apl_capacity_replace_outdated(token, g);
    if (g->failures != 0 && g->waiting + g->outdated > 0)
        wake_within(apl_since(g->retry_at, token->now), token, next);
    apl_capacity_share(token, g);
    if (g->retired && g->size + g->spawning + g->leaving + g->sessions == 0)
        apl_group_free(token, g);
}

/* The pool is above its limit, although no group has more than its minimum. The
 * minimums do not fit, so the processes that have been idle longest leave
 * nevertheless. */
static void trim_pool(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    uint32_t at, left = pool->n.processes;

    while (apl_hung_exceeded(pool) &&
           (at = apl_list_first(pool, &pool->header->inactive)) != 0) {
        apl_process_t *p = APL_PROCESS_OF(pool, at, pool);

        if (left-- == 0 || !p || p->state != APL_PROCESS_LIVE ||
            p->sessions != 0) {
            pool->damaged = 1;
            return;
        }
        apl_process_leave(token, p, APL_EVENT_TRIMMED);
    }
}

APL_UNLOCKED static int marks_are_low(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;
    uint32_t p = apl_top(&h->top_process, pool->n.processes);
    uint32_t s = apl_top(&h->top_session, pool->n.sessions);

    return (p == 0 || pool->processes[p].state != APL_PROCESS_FREE) &&
           (s == 0 || pool->sessions[s].state != APL_SESSION_FREE);
}

/* Lower the marks of use. Otherwise each pass over the slots would always look
 * at all slots that were in use in the busiest hour. */
static apr_status_t lower_marks(apl_pool_t *pool, int64_t now)
{
    apl_lock_token_t token;
    apr_status_t rv;

    if (marks_are_low(pool))
        return APR_SUCCESS;
    rv = apl_enter_patiently(&token, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    apl_slot_lower(pool, apl_slots_processes(pool), LOWER_MAX);
    apl_slot_lower(pool, apl_slots_sessions(pool), LOWER_MAX);
    apl_leave(&token);
    return APR_SUCCESS;
}

apr_status_t apl_housekeeping_tick(apl_pool_t *pool, int64_t now, int64_t *next)
{
    uint32_t i, top = apl_top(&pool->header->top_group, pool->n.groups);
    apl_lock_token_t token;
    apr_status_t rv;
    int spare = 0;

    *next = now + 1000000;
    /* The lock is given back after each group, so requests pass in between. */
    for (i = 1; i <= top; i++) {
        apl_group_t *g = &pool->groups[i];

        if (g->state != APL_GROUP_USED)
            continue;
        rv = apl_enter_patiently(&token, pool, now);
        if (rv != APR_SUCCESS)
            return rv;
        if (g->state == APL_GROUP_USED)
            tend_group(&token, g, next);
        spare |= g->size > g->options.min_instances;
        apl_leave(&token);
    }
    if ((spare || !apl_hung_exceeded(pool)) && pool->header->abandoned == 0)
        return lower_marks(pool, now);
    rv = apl_enter_patiently(&token, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    if (!spare) {
        trim_pool(&token);
        apl_capacity_assign(&token);
    }
    apl_capacity_evict_all_abandoned(&token);
    apl_leave(&token);
    return lower_marks(pool, now);
}
