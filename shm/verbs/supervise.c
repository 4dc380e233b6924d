/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/supervise.h"

#include <stdio.h>
#include <string.h>

#include "shm/verbs/enter.h"
#include "shm/slots/event.h"
#include "shm/slots/group.h"
#include "shm/format/list.h"
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
                                  apl_identity_t identity, apl_wire_t wire,
                                  int64_t now)
{
    apl_process_t *p;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    p->identity = identity;
    p->wire = wire;
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
    apl_process_live(&token, p);
    APL_CRASH_POINT("ready_live");
    pool->header->counters.spawned++;
    apl_event_note(&token, APL_EVENT_READY, apl_process_group(&token, p), p);
    g = apl_process_group(&token, p);
    if (!g) {
        apl_leave(&token);
        return APL_EDAMAGED;
    }
    g->failures = 0;
    g->error[0] = 0; /* error_id stays: failed requests still read it */
    g->n_spawned++;
    if (p->replaces && !apl_retire_replaced(&token, g, p))
        apl_capacity_end_excess(&token, g);
    apl_capacity_keep_minimum(&token, g);
    apl_capacity_replace_outdated(&token, g);
    apl_capacity_share(&token, g);
    apl_leave(&token);
    return APR_SUCCESS;
}

/* Where a template forks processes, several starts may fail for one reason. One
 * that began before the last failure says nothing new of the app. A child of
 * httpd may have written a time that is still to come. */
static int is_counted(const apl_lock_token_t *token, const apl_group_t *g,
                      const apl_process_t *p)
{
    return g->failures == 0 || p->started > g->failed_at ||
           g->failed_at > token->now;
}

static void back_off(apl_lock_token_t *token, apl_group_t *g, uint64_t error_id,
                     const char *text)
{
    uint32_t n = g->failures > g->young ? g->failures : g->young;
    int64_t wait = n < 6 ? 1 << n : APL_BACKOFF_MAX;

    g->failed_at = token->now;
    g->retry_at = token->now + wait * 1000000;
    g->error_id = error_id;
    snprintf(g->error, sizeof g->error, "%s", text);
    APL_CRASH_POINT("back_off_until");
    g->failures++;
    g->n_failed++;
}

apr_status_t apl_supervise_failed(apl_pool_t *pool, uint64_t id, int ran,
                                  uint64_t error_id, const char *text,
                                  int64_t now)
{
    uint32_t rounds = pool->n.sessions / APL_WAKES_MAX + 1;
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
    if (g && is_counted(&token, g, p))
        back_off(&token, g, error_id, text);
    apl_process_free(&token, p);
    while (g && g->size + g->spawning == 0 && rounds-- > 0 &&
           apl_queue_fail(&token, g, ran ? APL_ESTART : APL_EREFUSED)) {
        apl_leave(&token);
        if (apl_enter_patiently(&token, pool, now) != APR_SUCCESS)
            return APR_SUCCESS;
    }
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

/* Did the process die at once, without serving a request? It would be started
 * again and again, so that counts as a failed start. */
static int died_young(const apl_process_t *p, int64_t now)
{
    return p->processed == 0 && p->sessions == 0 &&
           apl_since(now, p->ready_at) < APL_YOUNG;
}

/* The process ended without being asked to. Count that, and a death at once as
 * a failed start. */
static void note_death(apl_lock_token_t *token, apl_group_t *g,
                       apl_process_t *p, const char *reason)
{
    uint32_t live = p->state == APL_PROCESS_LIVE;
    int young = live && g && died_young(p, token->now);

    token->pool->header->counters.died++;
    apl_event_note(token, APL_EVENT_DIED, g, p);
    apl_event_explain(token, reason, young ? p->id : 0);
    if (g)
        g->n_died++;
    if (young && is_counted(token, g, p)) {
        back_off(token, g, p->id, "it ended as soon as it was ready");
        g->young++;
    }
}

apr_status_t apl_supervise_gone(apl_pool_t *pool, uint64_t id, int64_t now)
{
    return apl_supervise_died(pool, id, "", now);
}

apr_status_t apl_supervise_died(apl_pool_t *pool, uint64_t id,
                                const char *reason, int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_STARTING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    /* A child of httpd may have noticed it first. */
    if (p->state == APL_PROCESS_LIVE || p->reason == APL_EVENT_REFUSED)
        note_death(&token, g, p, reason);
    apl_session_free_abandoned(&token, p);
    apl_process_free(&token, p);
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
