/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/session.h"

#include "shm/format/histogram.h"
#include "shm/slots/process.h"
#include "shm/format/slot.h"

apl_session_t *apl_session_take(apl_lock_token_t *token, uint32_t owner,
                                const apl_group_t *group)
{
    apl_session_t *s =
        apl_slot_take(token->pool, apl_slots_sessions(token->pool));

    if (!s)
        return NULL;
    s->generation++;
    s->child = owner;
    s->group = APL_GROUP_INDEX(token->pool, group);
    s->process = 0;
    s->killed = s->long_lived = s->counted = 0;
    s->queued = s->since = token->now;
    s->ticket = ++token->pool->header->ticket;
    s->method[0] = s->client[0] = s->uri[0] = s->uri[1] = 0;
    return s;
}

void apl_session_put_back(apl_lock_token_t *token, apl_session_t *session)
{
    apl_slot_put(token->pool, apl_slots_sessions(token->pool), session);
}

static void count_owner(apl_lock_token_t *token, const apl_session_t *s, int by)
{
    apl_child_t *c = apl_child_at(token->pool, s->child);

    if (c)
        c->sessions += (uint32_t)by;
    else
        token->pool->damaged = 1;
}

/* Count a session of the group (1), or one that is free again (-1). */
static void count_group(apl_lock_token_t *token, const apl_session_t *s, int by)
{
    apl_group_t *g = apl_session_group(token, s);

    if (g)
        g->sessions += (uint32_t)by;
}

apl_group_t *apl_session_group(apl_lock_token_t *token,
                               const apl_session_t *session)
{
    apl_group_t *g = apl_group_at(token->pool, session->group);

    if (!g || g->state != APL_GROUP_USED) {
        token->pool->damaged = 1;
        return NULL;
    }
    return g;
}

static void dequeue(apl_lock_token_t *token, apl_session_t *session)
{
    apl_group_t *g = apl_session_group(token, session);

    apl_list_remove(token->pool, &session->link);
    token->pool->header->waiting--;
    if (g)
        g->waiting--;
}

void apl_session_give(apl_lock_token_t *token, apl_session_t *session,
                      apl_process_t *process)
{
    apl_header_t *h = token->pool->header;
    int waited = session->state == APL_SESSION_WAITING;
    apl_group_t *g = apl_session_group(token, session);

    session->process = APL_PROCESS_INDEX(token->pool, process);
    session->process_generation = process->generation;
    session->id = process->id;
    session->since = token->now;
    apl_process_touch(token, process);
    APL_CRASH_POINT("give_named");
    __atomic_store_n(&session->state, APL_SESSION_OPEN, __ATOMIC_RELEASE);
    APL_CRASH_POINT("give_open");
    /* seen: it has the process; the lists say the process is idle */
    if (waited) {
        dequeue(token, session);
        h->counters.handoffs++;
    }
    else {
        count_owner(token, session, 1);
        count_group(token, session, 1);
    }
    apl_process_open(token, process);
    h->counters.requests++;
    if (g) {
        g->n_requests++;
        apl_histogram_count(&g->queue_time,
                            apl_since(token->now, session->queued));
    }
}

void apl_session_queue(apl_lock_token_t *token, apl_session_t *session)
{
    apl_group_t *g = apl_session_group(token, session);

    session->state = APL_SESSION_WAITING;
    APL_CRASH_POINT("queue_waiting"); /* seen: it waits, in no queue yet */
    count_owner(token, session, 1);
    count_group(token, session, 1);
    if (++token->pool->header->waiting > token->pool->header->peak)
        token->pool->header->peak = token->pool->header->waiting;
    token->pool->header->counters.waits++;
    if (g) {
        g->waiting++;
        apl_list_append(token->pool, &g->queue, &session->link);
    }
}

void apl_session_fail(apl_lock_token_t *token, apl_session_t *session,
                      apr_status_t outcome)
{
    session->outcome = (uint32_t)outcome;
    APL_CRASH_POINT("fail_outcome");
    __atomic_store_n(&session->state, APL_SESSION_FAILED, __ATOMIC_RELEASE);
    APL_CRASH_POINT("fail_failed");
    /* seen: the wait is over; it is still in the queue */
    dequeue(token, session);
}

/* An abandoned session has ended. */
static void count_abandoned(apl_lock_token_t *token, const apl_session_t *s)
{
    apl_process_t *p = apl_session_process(token, s);

    if (p && p->abandoned > 0) {
        p->abandoned--;
        token->pool->header->abandoned--;
    }
    else
        token->pool->damaged = 1;
}

void apl_session_free(apl_lock_token_t *token, apl_session_t *session)
{
    uint32_t before = session->state;

    __atomic_store_n(&session->state, APL_SESSION_FREE, __ATOMIC_RELEASE);
    APL_CRASH_POINT("session_free"); /* seen: it is free, but still counted */
    count_group(token, session, -1);
    if (before == APL_SESSION_WAITING)
        dequeue(token, session);
    if (session->child != 0)
        count_owner(token, session, -1);
    else
        count_abandoned(token, session);
    apl_slot_put(token->pool, apl_slots_sessions(token->pool), session);
}

void apl_session_abandon(apl_lock_token_t *token, apl_session_t *session,
                         apl_process_t *process)
{
    count_owner(token, session, -1);
    APL_CRASH_POINT("abandon_uncounted");
    session->child = 0;
    APL_CRASH_POINT("abandoned"); /* seen: it has no owner; the count is old */
    process->abandoned++;
    token->pool->header->abandoned++;
    token->ring = 1;
}

void apl_session_recount(apl_lock_token_t *token, const apl_session_t *session,
                         apl_process_t *process)
{
    process->sessions++;
    process->abandoned += session->child == 0;
    token->pool->header->abandoned += session->child == 0;
}

static int is_abandoned(const apl_lock_token_t *token, const apl_session_t *s,
                        const apl_process_t *by)
{
    return s->state == APL_SESSION_OPEN && s->child == 0 &&
           apl_session_process(token, s) == by;
}

apl_session_t *apl_session_oldest_abandoned(const apl_lock_token_t *token,
                                            const apl_process_t *process)
{
    const apl_pool_t *pool = token->pool;
    uint32_t i, top = apl_top(&pool->header->top_session, pool->n.sessions);
    uint32_t left = process->abandoned;
    apl_session_t *first = NULL;

    for (i = 1; i <= top && left > 0; i++) {
        apl_session_t *s = &pool->sessions[i];

        if (!is_abandoned(token, s, process))
            continue;
        left--;
        if (!first || s->ticket < first->ticket)
            first = s;
    }
    return first;
}

void apl_session_free_abandoned(apl_lock_token_t *token,
                                const apl_process_t *process)
{
    apl_pool_t *pool = token->pool;
    uint32_t i, top = apl_top(&pool->header->top_session, pool->n.sessions);

    for (i = 1; i <= top && process->abandoned > 0; i++)
        if (is_abandoned(token, &pool->sessions[i], process))
            apl_session_free(token, &pool->sessions[i]);
}

apl_process_t *apl_session_process(const apl_lock_token_t *token,
                                   const apl_session_t *session)
{
    const apl_pool_t *pool = token->pool;
    apl_process_t *p = apl_process_at(pool, session->process);

    return p && APL_PROCESS_INDEX(pool, p) <= pool->header->top_process &&
                   p->state != APL_PROCESS_FREE && p->group == session->group &&
                   p->generation == session->process_generation
               ? p
               : NULL;
}
