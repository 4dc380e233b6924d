/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/reconcile.h"

#include <string.h>

#include "shm/format/list.h"
#include "shm/policy/backoff.h"
#include "shm/policy/capacity.h"
#include "shm/slots/group.h"
#include "shm/slots/process.h"
#include "shm/slots/session.h"
#include "shm/verbs/enter.h"

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

apr_status_t apl_reconcile_adopt(apl_pool_t *pool, uint64_t id,
                                 const apl_start_t *start, const char *name,
                                 int live, int64_t now)
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
    p->identity = start->identity;
    p->group = APL_GROUP_INDEX(pool, g);
    p->wire = start->wire;
    p->stamp = start->stamp;
    p->started = p->ready_at = p->last_used = now;
    p->birth = ++pool->header->ticket;
    /* A live process may run any code that the app ever had. */
    p->revision = live ? 0 : g->revision;
    p->responded = live != 0; /* its start was a success */
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

APL_UNLOCKED apr_status_t apl_reconcile_condition(const apl_pool_t *pool,
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
    condition->responded = p->responded;
    return condition->state == APL_PROCESS_FREE || p->id != id ? APL_ESTALE
                                                               : APR_SUCCESS;
}

APL_UNLOCKED int apl_reconcile_ends_early(const apl_pool_t *pool, uint64_t id,
                                          int64_t now)
{
    const apl_process_t *p = apl_process_at(pool, (uint32_t)(id & 0xffff));
    const apl_group_t *g = p ? apl_group_at(pool, p->group) : NULL;

    return g && p->id == id &&
           (p->state == APL_PROCESS_LIVE ? apl_backoff_ends_early(g, p, now)
                                         : apl_backoff_has_counted(g, p));
}

APL_UNLOCKED int apl_reconcile_matches(const apl_pool_t *pool, uint64_t id,
                                       const apl_start_t *start,
                                       const char *name, int live)
{
    const apl_process_t *p = apl_process_at(pool, (uint32_t)(id & 0xffff));
    const apl_group_t *g = p ? apl_group_at(pool, p->group) : NULL;
    uint32_t state = p ? __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) : 0;

    return g && p->id == id && g->state == APL_GROUP_USED &&
           strncmp(g->name, name, sizeof g->name) == 0 &&
           p->identity.pid == start->identity.pid &&
           p->identity.start == start->identity.start &&
           memcmp(&p->wire, &start->wire, sizeof p->wire) == 0 &&
           p->stamp == start->stamp &&
           (state == APL_PROCESS_LEAVING ||
            state == (live ? APL_PROCESS_LIVE : APL_PROCESS_STARTING));
}

APL_UNLOCKED uint32_t apl_reconcile_ids(const apl_pool_t *pool, uint64_t *ids,
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
