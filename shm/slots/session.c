/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/session.h"

#include "shm/format/error.h"
#include "shm/format/histogram.h"
#include "shm/format/slot.h"
#include "shm/slots/process.h"

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
    s->killed = s->long_lived = s->counted = s->suspended = 0;
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
        if (++g->waiting > g->peak)
            g->peak = g->waiting;
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

/* ---- without the lock ---- */

APL_UNLOCKED apl_session_t *apl_session_ref_find(const apl_pool_t *pool,
                                                 const apl_session_ref_t *ref)
{
    apl_session_t *s = apl_session_at(pool, ref->session);

    return s && ref->session <= pool->header->top_session &&
                   s->generation == ref->generation && s->child == pool->self
               ? s
               : NULL;
}

/* The fields that differ between two requests of a slot. */
typedef struct {
    uint32_t state, generation;
    uint64_t ticket;
} mark_t;

APL_UNLOCKED static mark_t mark_of(const apl_session_t *s)
{
    mark_t m;

    /* The generation goes up between two requests. So a state that is read
     * after the generation is not the state of an earlier request. */
    m.generation = __atomic_load_n(&s->generation, __ATOMIC_ACQUIRE);
    m.state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
    m.ticket = __atomic_load_n(&s->ticket, __ATOMIC_ACQUIRE);
    return m;
}

APL_UNLOCKED static void copy_text(char *to, const char *from, size_t size)
{
    apl_copy(to, from, size);
    to[size - 1] = 0;
}

uint32_t apl_session_peek_top(const apl_pool_t *pool)
{
    return apl_top(&pool->header->top_session, pool->n.sessions);
}

APL_UNLOCKED apr_status_t apl_session_peek(const apl_pool_t *pool,
                                           uint32_t index,
                                           apl_session_peek_t *request)
{
    const apl_session_t *s = apl_session_at(pool, index);
    mark_t before, after;

    if (!s)
        return APL_ESTALE;
    before = mark_of(s);
    if (before.state != APL_SESSION_OPEN)
        return APL_ESTALE;
    request->process = s->id;
    request->ticket = before.ticket;
    /* When a long-lived session becomes one that has to end, its age is set
     * back first. */
    request->long_lived = __atomic_load_n(&s->long_lived, __ATOMIC_ACQUIRE);
    request->since = s->since;
    copy_text(request->method, s->method, sizeof request->method);
    copy_text(request->client, s->client, sizeof request->client);
    copy_text(request->uri, s->uri, sizeof request->uri);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    after = mark_of(s);
    return after.state == before.state &&
                   after.generation == before.generation &&
                   after.ticket == before.ticket
               ? APR_SUCCESS
               : APL_ESTALE;
}
