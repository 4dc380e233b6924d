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
    if (g)
        back_off(&token, g, error_id, text);
    apl_process_free(&token, p);
    while (g && g->size == 0 && rounds-- > 0 &&
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

/* The process ended although nobody asked it to. Count that, and a death at
 * once as a failed start. */
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
    if (young) {
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

/* ---- processes that exist ---- */

/* Take the slot of the id out of the free list. NULL: another process has it */
static apl_process_t *take_slot(apl_lock_token_t *token, uint64_t id)
{
    apl_pool_t *pool = token->pool;
    uint32_t i = (uint32_t)(id & 0xffff), at;
    uint32_t top = apl_top(&pool->header->top_process, pool->n.processes);
    apl_process_t *p = apl_process_at(pool, i);

    if (!p || (i <= top && p->state != APL_PROCESS_FREE))
        return NULL;
    if (i <= top) {
        apl_list_remove(pool, &p->pool);
        return p;
    }
    /* The slots below get into use with it, so they must be free and listed. */
    for (at = top + 1; at <= i; at++) {
        apl_process_t *q = &pool->processes[at];

        q->state = APL_PROCESS_FREE;
        if (at < i)
            apl_list_append(pool, &pool->header->processes_free, &q->pool);
    }
    pool->header->top_process = i;
    return p;
}

/* Give the process its requests back: damage may have changed its slot, but
 * they still name the id. */
static void claim_sessions(apl_lock_token_t *token, apl_process_t *p)
{
    apl_pool_t *pool = token->pool;
    uint32_t i, top = apl_top(&pool->header->top_session, pool->n.sessions);

    for (i = 1; i <= top; i++) {
        apl_session_t *s = &pool->sessions[i];

        if (s->state != APL_SESSION_OPEN || s->id != p->id ||
            s->process != APL_PROCESS_INDEX(pool, p) || s->group != p->group)
            continue;
        s->process_generation = p->generation;
        apl_session_recount(token, s, p);
    }
}

apr_status_t apl_supervise_adopt(apl_pool_t *pool, uint64_t id,
                                 apl_identity_t identity, const char *name,
                                 apl_wire_t wire, int live, int64_t now)
{
    apl_group_t *g;
    apl_process_t *p;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_group(&token, pool, name, now, &g);

    if (rv != APR_SUCCESS)
        return rv;
    p = take_slot(&token, id);
    if (!p) {
        apl_leave(&token);
        return APL_ESTALE;
    }
    apl_process_reset(p);
    p->id = id;
    p->identity = identity;
    p->group = APL_GROUP_INDEX(pool, g);
    p->wire = wire;
    p->started = p->ready_at = p->last_used = now;
    p->birth = ++pool->header->ticket;
    /* A live process may run any code that the app ever had. */
    p->revision = live ? 0 : g->revision;
    claim_sessions(&token, p);
    APL_CRASH_POINT("adopt_filled");
    p->state = live ? APL_PROCESS_LIVE : APL_PROCESS_STARTING;
    APL_CRASH_POINT("adopt_state");
    /* seen: it is there, but in no list yet */
    apl_process_link(&token, p);
    apl_capacity_share(&token, g);
    apl_leave(&token);
    return APR_SUCCESS;
}

APL_UNLOCKED apr_status_t apl_supervise_condition(const apl_pool_t *pool,
                                                  uint64_t id,
                                                  apl_condition_t *condition)
{
    uint32_t i = (uint32_t)(id & 0xffff);
    const apl_process_t *p = apl_process_at(pool, i);
    const apl_group_t *g = p ? apl_group_at(pool, p->group) : NULL;

    if (!p || i > pool->header->top_process)
        return APL_ESTALE;
    condition->state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
    condition->sessions = p->sessions;
    condition->abandoned = p->abandoned;
    condition->reason = p->reason;
    condition->replaces = g && g->outdated > 0 && p->replaces;
    condition->waiting = g ? g->waiting : 0;
    condition->processed = p->processed;
    return condition->state == APL_PROCESS_FREE || p->id != id ? APL_ESTALE
                                                               : APR_SUCCESS;
}

APL_UNLOCKED int apl_supervise_matches(const apl_pool_t *pool, uint64_t id,
                                       const apl_identity_t *identity,
                                       const char *name, apl_wire_t wire,
                                       int live)
{
    const apl_process_t *p = apl_process_at(pool, (uint32_t)(id & 0xffff));
    const apl_group_t *g = p ? apl_group_at(pool, p->group) : NULL;
    uint32_t state = p ? __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) : 0;

    return g && p->id == id && g->state == APL_GROUP_USED &&
           strncmp(g->name, name, sizeof g->name) == 0 &&
           p->identity.pid == identity->pid &&
           p->identity.start == identity->start &&
           memcmp(&p->wire, &wire, sizeof wire) == 0 &&
           (state == APL_PROCESS_LEAVING ||
            state == (live ? APL_PROCESS_LIVE : APL_PROCESS_STARTING));
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

APL_UNLOCKED uint32_t apl_supervise_ids(const apl_pool_t *pool, uint64_t *ids,
                                        uint32_t max)
{
    uint32_t i, n = 0;
    uint32_t top = apl_top(&pool->header->top_process, pool->n.processes);

    for (i = 1; i <= top && n < max; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->state > APL_PROCESS_WANTED && p->state < APL_PROCESS_STATES)
            ids[n++] = p->id;
    }
    return n;
}
