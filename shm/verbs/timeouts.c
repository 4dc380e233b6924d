/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/timeouts.h"

#include <stdlib.h>
#include <string.h>

#include "shm/verbs/checkin.h"
#include "shm/verbs/enter.h"
#include "shm/slots/event.h"
#include "shm/slots/hung.h"
#include "shm/slots/numbers.h"
#include "shm/slots/process.h"
#include "shm/policy/capacity.h"
#include "shm/slots/session.h"

/* ---- looking ---- */

/* The process and the group of a request that is served and has to end. This
 * runs without the lock, so both may change, and each is checked. */
APL_UNLOCKED static const apl_process_t *served_by(const apl_pool_t *pool,
                                                   const apl_session_t *s,
                                                   const apl_group_t **group)
{
    const apl_process_t *p = apl_process_at(pool, s->process);

    *group = apl_group_at(pool, s->group);
    if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != APL_SESSION_OPEN ||
        s->long_lived || !p || !*group || p->id != s->id ||
        p->generation != s->process_generation)
        return NULL;
    return p;
}

/* Does the process still have this request, and is the request too old? */
static int is_hung(const apl_pool_t *pool, const apl_process_t *process,
                   const apl_session_t *s, int64_t now)
{
    const apl_group_t *g;

    return served_by(pool, s, &g) == process &&
           apl_hung_is_overdue(apl_hung_age(s, now), g->options.hung_after);
}

/* Mark the process as hung, or remove the mark. @param s the request by which
 * it is hung; NULL: it has no such request, so remove the mark */
static void mark_process(apl_pool_t *pool, apl_process_t *p,
                         const apl_session_t *s, int64_t now)
{
    apl_lock_token_t token;
    apl_group_t *g;

    if (apl_enter_patiently(&token, pool, now) != APR_SUCCESS)
        return;
    if (p->state == APL_PROCESS_LIVE && (p->hung != 0) != (s != NULL) &&
        (!s || is_hung(pool, p, s, now))) {
        apl_process_set_hung(&token, p, s != NULL);
        g = apl_process_group(&token, p);
        if (g)
            apl_capacity_share(&token, g);
    }
    apl_leave(&token);
}

/* Note the request in a slot if it is overdue, unless an older one of the same
 * process is noted. apl_session_peek() reads its age and its ticket together:
 * in a slot that is reused meanwhile, they could belong to two requests. */
static uint32_t note_overdue(const apl_pool_t *pool, uint32_t index,
                             int64_t limit, int64_t now,
                             apl_session_peek_t *overdue, uint32_t n,
                             uint32_t max)
{
    apl_session_peek_t r;
    uint32_t i;

    if (apl_session_peek(pool, index, &r) != APR_SUCCESS || r.long_lived ||
        !apl_hung_is_overdue(apl_since(now, r.since), limit))
        return n;
    for (i = 0; i < n && overdue[i].process != r.process; i++)
        ;
    if (i == max || (i < n && overdue[i].since <= r.since))
        return n;
    overdue[i] = r;
    return i == n ? n + 1 : n;
}

/* @param by filled in: for each process its session that is too old, or 0 */
APL_UNLOCKED static uint32_t look_at_sessions(const apl_pool_t *pool,
                                              int64_t now, uint32_t *by,
                                              apl_session_peek_t *overdue,
                                              uint32_t max)
{
    uint32_t i, n = 0;
    uint32_t top = apl_top(&pool->header->top_session, pool->n.sessions);

    for (i = 1; i <= top; i++) {
        const apl_session_t *s = &pool->sessions[i];
        const apl_group_t *g;
        const apl_process_t *p = served_by(pool, s, &g);
        int64_t age = apl_hung_age(s, now);

        if (!p)
            continue;
        if (apl_hung_is_overdue(age, g->options.hung_after))
            by[APL_PROCESS_INDEX(pool, p)] = i;
        if (apl_hung_is_overdue(age, g->options.kill_after) &&
            p->state >= APL_PROCESS_LIVE && p->reason != APL_EVENT_KILLED)
            n = note_overdue(pool, i, g->options.kill_after, now, overdue, n,
                             max);
    }
    return n;
}

/* Mark all processes that became hung (1), or remove the marks of those that
 * have recovered (0). The caller removes marks first: the credit for a process
 * that has recovered must not be given away once more.
 * @param by as of look_at_sessions() */
APL_UNLOCKED static void mark_all(apl_pool_t *pool, const uint32_t *by,
                                  int hung, int64_t now)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);

    for (i = 1; i <= top; i++) {
        apl_process_t *p = &pool->processes[i];

        if (p->state == APL_PROCESS_LIVE && (by[i] != 0) == hung &&
            (p->hung != 0) != hung)
            mark_process(pool, p, hung ? &pool->sessions[by[i]] : NULL, now);
    }
}

uint32_t apl_timeouts_find(apl_pool_t *pool, int64_t now,
                           apl_session_peek_t *overdue, uint32_t max)
{
    uint32_t n, *by = calloc(pool->n.processes, sizeof *by);

    if (!by)
        return 0;
    n = look_at_sessions(pool, now, by, overdue, max);
    mark_all(pool, by, 0, now);
    mark_all(pool, by, 1, now);
    free(by);
    return n;
}

/* ---- ending ---- */

/* The request with this ticket, if the process works on it; or NULL. */
static const apl_session_t *request_of(const apl_lock_token_t *token,
                                       const apl_process_t *p, uint64_t ticket)
{
    const apl_pool_t *pool = token->pool;
    uint32_t i, top = apl_top(&pool->header->top_session, pool->n.sessions);

    for (i = 1; i <= top; i++) {
        const apl_session_t *s = &pool->sessions[i];

        if (s->state == APL_SESSION_OPEN && s->ticket == ticket)
            return apl_session_process(token, s) == p ? s : NULL;
    }
    return NULL;
}

/* Does the process still have the request that it would be ended for? Any
 * request, if ticket is 0. */
static int has_such_request(const apl_lock_token_t *token,
                            const apl_process_t *p, uint64_t ticket,
                            int overdue)
{
    const apl_session_t *s;
    const apl_group_t *g;

    if (ticket == 0 && !overdue)
        return p->sessions > 0;
    s = request_of(token, p, ticket);
    return s && (!overdue || (served_by(token->pool, s, &g) == p &&
                              apl_hung_is_overdue(apl_hung_age(s, token->now),
                                                  g->options.kill_after)));
}

/* The next session of a process, after slot *at (0: from the first on); or
 * NULL. */
static apl_session_t *next_of(const apl_lock_token_t *token,
                              const apl_process_t *p, uint32_t *at)
{
    const apl_pool_t *pool = token->pool;
    uint32_t top = apl_top(&pool->header->top_session, pool->n.sessions);

    while (++*at <= top) {
        apl_session_t *s = &pool->sessions[*at];

        if (s->state == APL_SESSION_OPEN && apl_session_process(token, s) == p)
            return s;
    }
    return NULL;
}

/* Note in the sessions of a process why it ends: the process is not broken.
 * @param why APL_KILLED ... */
static void note_in_requests(apl_lock_token_t *token, const apl_process_t *p,
                             uint32_t why)
{
    uint32_t at = 0, left = p->sessions;
    apl_session_t *s;

    while (left-- > 0 && (s = next_of(token, p, &at)) != NULL)
        __atomic_store_n(&s->killed, why, __ATOMIC_RELAXED);
}

/* @param overdue 1: only if the request is overdue */
static apr_status_t end_process(apl_pool_t *pool, uint64_t id, uint64_t ticket,
                                int overdue, int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(&token, pool, id, now, APL_PROCESS_LIVE,
                                        APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    if (p->state == APL_PROCESS_LEAVING && p->reason == APL_EVENT_KILLED)
        rv = APL_ESTALE;
    else if (!has_such_request(&token, p, ticket, overdue))
        rv = APL_EIDLE;
    if (rv != APR_SUCCESS) {
        apl_leave(&token);
        return rv;
    }
    note_in_requests(&token, p, APL_KILLED);
    APL_CRASH_POINT("kill_told");
    pool->header->counters.killed++;
    g = apl_process_group(&token, p);
    if (p->state == APL_PROCESS_LIVE)
        apl_process_leave(&token, p, APL_EVENT_KILLED);
    else {
        p->reason = APL_EVENT_KILLED;
        APL_CRASH_POINT("kill_reason");
        apl_event_note(&token, APL_EVENT_KILLED, g, p);
        token.ring = 1;
    }
    if (g) {
        apl_numbers_note_death(&token, g, "killed");
        apl_capacity_keep_minimum(&token, g);
        apl_capacity_share(&token, g);
    }
    apl_leave(&token);
    return APR_SUCCESS;
}

apr_status_t apl_timeouts_kill(apl_pool_t *pool, uint64_t id, uint64_t ticket,
                               int64_t now)
{
    return end_process(pool, id, ticket, 0, now);
}

apr_status_t apl_timeouts_term_sent(apl_pool_t *pool, uint64_t id, int64_t now)
{
    apl_process_t *p;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_LEAVING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    if (p->reason == APL_EVENT_KILLED)
        note_in_requests(&token, p, APL_DYING);
    else
        rv = APL_ESTALE;
    APL_CRASH_POINT("dying_told");
    apl_leave(&token);
    return rv;
}

apr_status_t apl_timeouts_expire(apl_pool_t *pool,
                                 const apl_session_peek_t *request, int64_t now)
{
    return end_process(pool, request->process, request->ticket, 1, now);
}

/* Is there no request that the process has to finish? */
static int has_only_long_lived(const apl_lock_token_t *token,
                               const apl_process_t *p)
{
    uint32_t at = 0, left = p->sessions;
    const apl_session_t *s;

    while (left-- > 0 && (s = next_of(token, p, &at)) != NULL)
        if (s->child != 0 && s->long_lived != APL_LONG_LIVED_CONNECTION)
            return 0;
    return 1;
}

apr_status_t apl_timeouts_close(apl_pool_t *pool, uint64_t id, int64_t now)
{
    apl_process_t *p;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_LEAVING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    if (has_only_long_lived(&token, p)) {
        note_in_requests(&token, p, APL_CLOSED);
        APL_CRASH_POINT("close_told");
    }
    else
        rv = APL_EWAIT;
    apl_leave(&token);
    return rv;
}

apr_status_t apl_timeouts_end_abandoned(apl_pool_t *pool, uint64_t id,
                                        uint32_t n, int64_t now)
{
    apr_status_t rv = APL_EIDLE;
    apl_lock_token_t token;
    apl_process_t *p;
    apl_session_t *s;

    if (n > pool->n.sessions)
        n = pool->n.sessions;
    /* One entry for each session: each is a walk over all sessions, and the
     * token has room for the waiters that it wakes. */
    while (n-- > 0) {
        apr_status_t one = apl_enter_process(
            &token, pool, id, now, APL_PROCESS_LIVE, APL_PROCESS_LEAVING, &p);

        if (one != APR_SUCCESS)
            return one;
        s = apl_session_oldest_abandoned(&token, p);
        if (s) {
            apl_checkin_reclaim(&token, s);
            rv = APR_SUCCESS;
        }
        else
            n = 0;
        apl_leave(&token);
    }
    return rv;
}

apr_status_t apl_timeouts_mark_unkillable(apl_pool_t *pool, uint64_t id,
                                          int64_t now)
{
    apl_process_t *p;
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_process(
        &token, pool, id, now, APL_PROCESS_LEAVING, APL_PROCESS_LEAVING, &p);

    if (rv != APR_SUCCESS)
        return rv;
    g = apl_process_group(&token, p);
    if (p->unkillable || !g)
        rv = APL_ESTALE;
    else {
        p->unkillable = 1;
        APL_CRASH_POINT("unkillable"); /* seen: it is marked, but not counted */
        g->unkillable++;
        pool->header->counters.unkillable++;
        apl_event_note(&token, APL_EVENT_UNKILLABLE, g, p);
        token.ring = 1;
    }
    apl_leave(&token);
    return rv;
}
