/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/supervise.h"

#include <stdio.h>
#include <string.h>

#include "shm/verbs/enter.h"
#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/format/list.h"
#include "shm/slots/numbers.h"
#include "shm/slots/process.h"
#include "shm/slots/queue.h"
#include "shm/policy/retire.h"
#include "shm/policy/capacity.h"
#include "shm/slots/session.h"

/* ---- starting ---- */

apr_status_t apl_supervise_next_order(apl_pool_t *pool, uint64_t random,
                                      int64_t now, apl_order_t *order)
{
    apl_header_t *h = pool->header;
    apl_process_t *p;
    const apl_group_t *g;
    apl_lock_token_t token;
    uint32_t at;
    apr_status_t rv;

    if (apl_list_seems_empty(pool, &h->wanted) && !pool->damaged)
        return APR_EOF;
    rv = apl_enter_patiently(&token, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    rv = APR_EOF;
    at = apl_list_first(pool, &h->wanted);
    p = at != 0 ? APL_PROCESS_OF(pool, at, pool) : NULL;
    if (p && p->state == APL_PROCESS_WANTED &&
        (g = apl_process_group(&token, p)) != NULL) {
        order->id = (random & ~0xffffull) | APL_PROCESS_INDEX(pool, p);
        memcpy(order->name, g->name, sizeof order->name);
        order->name[sizeof order->name - 1] = 0;
        apl_process_start(&token, p, order->id);
        rv = APR_SUCCESS;
    }
    else if (at != 0)
        pool->damaged = 1;
    apl_leave(&token);
    return rv;
}

apr_status_t apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                  const apl_start_t *start, int64_t now)
{
    apl_process_t *p;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    p->identity = start->identity;
    p->wire = start->wire;
    p->stamp = start->stamp;
    APL_CRASH_POINT("born");
    apl_leave(&token);
    return APR_SUCCESS;
}

apr_status_t apl_supervise_ready(apl_pool_t *pool, uint64_t id, int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_STARTING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    if (!g) {
        apl_leave(&token);
        return APL_EDAMAGED;
    }
    p->trial = p->replaces && g->young > 0 && g->outdated == 0;
    apl_process_live(&token, p);
    APL_CRASH_POINT("ready_live");
    pool->header->counters.spawned++;
    apl_event_note(&token, APL_EVENT_READY, g, p);
    apl_backoff_note_ready(&token, g);
    g->n_spawned++;
    if (p->replaces && !apl_retire_replaced(&token, g, p))
        apl_capacity_end_excess(&token, g);
    apl_capacity_keep_minimum(&token, g);
    apl_capacity_replace_outdated(&token, g);
    apl_capacity_share(&token, g);
    apl_leave(&token);
    return APR_SUCCESS;
}

/* No process of the group will come, so its waiters need not wait. Few can be
 * woken at a time. @return 0: the lock is lost */
static int fail_waiters(apl_lock_token_t *token, apl_group_t *g,
                        apr_status_t why)
{
    apl_pool_t *pool = token->pool;
    uint32_t rounds = pool->n.sessions / APL_WAKES_MAX + 1;
    int64_t now = token->now;

    while (g->size + g->spawning == 0 && rounds-- > 0 &&
           apl_queue_fail(token, g, why)) {
        apl_leave(token);
        if (apl_enter_patiently(token, pool, now) != APR_SUCCESS)
            return 0;
    }
    return 1;
}

apr_status_t apl_supervise_failed(apl_pool_t *pool, uint64_t id, int ran,
                                  uint64_t error_id, const char *text,
                                  int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_STARTING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    pool->header->counters.failed++;
    apl_event_note(&token, APL_EVENT_START_FAILED, g, p);
    apl_event_explain(&token, text, error_id);
    if (g)
        apl_backoff_fail(&token, g, p, error_id, text);
    apl_process_free(&token, p);
    if (g && !fail_waiters(&token, g, ran ? APL_ESTART : APL_EREFUSED))
        return APR_SUCCESS;
    apl_capacity_assign(&token);
    apl_leave(&token);
    return APR_SUCCESS;
}

/* ---- ending ---- */

/* Leave, after a group has lost a process: restore its minimum, replace
 * outdated processes, serve its waiters. @param group NULL: damage */
static void refill_and_leave(apl_lock_token_t *token, apl_group_t *group)
{
    if (!group) {
        apl_leave(token);
        return;
    }
    apl_capacity_keep_minimum(token, group);
    apl_capacity_replace_outdated(token, group);
    apl_capacity_share(token, group);
    apl_leave(token);
}

/* A process that ends by itself is not counted twice: a child of httpd may have
 * noticed the end first, or the process may have announced it. */
static int note_end(apl_lock_token_t *token, apl_group_t *g,
                    const apl_process_t *p)
{
    return g && p->state == APL_PROCESS_LIVE &&
           apl_backoff_note_end(token, g, p);
}

/* The process ended without being asked to. @param fails 1: its start fails */
static void note_death(apl_lock_token_t *token, apl_group_t *g,
                       const apl_process_t *p, const char *reason, int fails)
{
    token->pool->header->counters.died++;
    apl_event_note(token, APL_EVENT_DIED, g, p);
    apl_event_explain(token, reason, fails ? p->id : 0);
    if (g) {
        g->n_died++;
        apl_numbers_note_death(token, g, reason);
    }
}

apr_status_t apl_supervise_gone(apl_pool_t *pool, uint64_t id, int64_t now)
{
    return apl_supervise_died(pool, id, "", now);
}

apr_status_t apl_supervise_died(apl_pool_t *pool, uint64_t id,
                                const char *reason, int64_t now)
{
    int fails;
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    fails = note_end(&token, g, p) || (g && apl_backoff_has_counted(g, p));
    if (p->state == APL_PROCESS_LIVE || p->reason == APL_EVENT_REFUSED)
        note_death(&token, g, p, reason, fails);
    apl_session_free_abandoned(&token, p);
    apl_process_free(&token, p);
    if (fails && !fail_waiters(&token, g, APL_ESTART))
        return APR_SUCCESS;
    refill_and_leave(&token, g);
    return APR_SUCCESS;
}

apr_status_t apl_supervise_detach(apl_pool_t *pool, uint64_t id,
                                  uint32_t reason, int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_LIVE, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    if (reason == APL_EVENT_EXITED)
        note_end(&token, g, p);
    apl_process_leave(&token, p, reason);
    refill_and_leave(&token, g);
    return APR_SUCCESS;
}

apr_status_t apl_supervise_outdate(apl_pool_t *pool, uint64_t id, int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_LIVE, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    if (p->state == APL_PROCESS_STARTING)
        apl_process_leave(&token, p, APL_EVENT_RESTART);
    else if (g)
        apl_retire_outdate(&token, g, p, APL_EVENT_RESTART);
    refill_and_leave(&token, g);
    return APR_SUCCESS;
}

apr_status_t apl_supervise_may_end(apl_pool_t *pool, uint64_t id, int64_t now)
{
    apl_process_t *p;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_LEAVING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    rv = p->sessions == p->abandoned ? APR_SUCCESS : APL_EWAIT;
    apl_leave(&token);
    return rv;
}
