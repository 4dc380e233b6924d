/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/session.h"

#include "shm/format/histogram.h"
#include "shm/slots/process.h"
#include "shm/format/slot.h"

apl_session_t *apl_session_take(apl_held_t *held, uint32_t owner,
                                const apl_group_t *group)
{
    apl_session_t *s =
        apl_slot_take(held->pool, apl_slots_sessions(held->pool));

    if (!s)
        return NULL;
    s->generation++;
    s->owner = owner;
    s->group = APL_GROUP_INDEX(held->pool, group);
    s->process = 0;
    s->killed = s->endless = s->lasting = 0;
    s->queued = s->since = held->now;
    s->ticket = ++held->pool->header->ticket;
    s->method[0] = s->client[0] = s->uri[0] = s->uri[1] = 0;
    return s;
}

void apl_session_untake(apl_held_t *held, apl_session_t *session)
{
    apl_slot_put(held->pool, apl_slots_sessions(held->pool), session);
}

static void count_owner(apl_held_t *held, const apl_session_t *s, int by)
{
    apl_child_t *c = apl_child_at(held->pool, s->owner);

    if (c)
        c->sessions += (uint32_t)by;
    else
        held->pool->damaged = 1;
}

/* A slot that names the group is used, or free again: by 1 or -1. */
static void count_group(apl_held_t *held, const apl_session_t *s, int by)
{
    apl_group_t *g = apl_session_group(held, s);

    if (g)
        g->sessions += (uint32_t)by;
}

apl_group_t *apl_session_group(apl_held_t *held, const apl_session_t *session)
{
    apl_group_t *g = apl_group_at(held->pool, session->group);

    if (!g || g->state != APL_GROUP_USED) {
        held->pool->damaged = 1;
        return NULL;
    }
    return g;
}

static void dequeue(apl_held_t *held, apl_session_t *session)
{
    apl_group_t *g = apl_session_group(held, session);

    apl_list_remove(held->pool, &session->link);
    held->pool->header->waiting--;
    if (g)
        g->waiting--;
}

void apl_session_give(apl_held_t *held, apl_session_t *session,
                      apl_process_t *process)
{
    apl_header_t *h = held->pool->header;
    int waited = session->state == APL_SESSION_WAITING;
    apl_group_t *g = apl_session_group(held, session);

    session->process = APL_PROCESS_INDEX(held->pool, process);
    session->process_generation = process->generation;
    session->id = process->id;
    session->since = held->now;
    apl_process_touch(held, process);
    APL_STEP("give_named");
    __atomic_store_n(&session->state, APL_SESSION_HELD, __ATOMIC_RELEASE);
    APL_STEP("give_held"); /* seen: it has the process; lists say it is idle */
    if (waited) {
        dequeue(held, session);
        h->counters.handoffs++;
    }
    else {
        count_owner(held, session, 1);
        count_group(held, session, 1);
    }
    apl_process_open(held, process);
    h->counters.requests++;
    if (g) {
        g->n_requests++;
        apl_histogram_count(&g->queue_time,
                            apl_since(held->now, session->queued));
    }
}

void apl_session_queue(apl_held_t *held, apl_session_t *session)
{
    apl_group_t *g = apl_session_group(held, session);

    session->state = APL_SESSION_WAITING;
    APL_STEP("queue_waiting"); /* seen: it waits, in no queue yet */
    count_owner(held, session, 1);
    count_group(held, session, 1);
    if (++held->pool->header->waiting > held->pool->header->peak)
        held->pool->header->peak = held->pool->header->waiting;
    held->pool->header->counters.waits++;
    if (g) {
        g->waiting++;
        apl_list_append(held->pool, &g->queue, &session->link);
    }
}

void apl_session_fail(apl_held_t *held, apl_session_t *session,
                      apr_status_t outcome)
{
    session->outcome = (uint32_t)outcome;
    APL_STEP("fail_outcome");
    __atomic_store_n(&session->state, APL_SESSION_FAILED, __ATOMIC_RELEASE);
    APL_STEP("fail_failed"); /* seen: the wait is over; it is still queued */
    dequeue(held, session);
}

/* One that was has ended. */
static void count_abandoned(apl_held_t *held, const apl_session_t *s)
{
    apl_process_t *p = apl_session_process(held, s);

    if (p && p->abandoned > 0) {
        p->abandoned--;
        held->pool->header->abandoned--;
    }
    else
        held->pool->damaged = 1;
}

void apl_session_free(apl_held_t *held, apl_session_t *session)
{
    uint32_t before = session->state;

    __atomic_store_n(&session->state, APL_SESSION_FREE, __ATOMIC_RELEASE);
    APL_STEP("session_free"); /* seen: nobody's; counts say somebody's */
    count_group(held, session, -1);
    if (before == APL_SESSION_WAITING)
        dequeue(held, session);
    if (session->owner != 0)
        count_owner(held, session, -1);
    else
        count_abandoned(held, session);
    apl_slot_put(held->pool, apl_slots_sessions(held->pool), session);
}

void apl_session_abandon(apl_held_t *held, apl_session_t *session,
                         apl_process_t *process)
{
    count_owner(held, session, -1);
    APL_STEP("abandon_uncounted");
    session->owner = 0;
    APL_STEP("abandoned"); /* seen: it is nobody's, and not counted so */
    process->abandoned++;
    held->pool->header->abandoned++;
    held->ring = 1;
}

void apl_session_recount(apl_held_t *held, const apl_session_t *session,
                         apl_process_t *process)
{
    process->sessions++;
    process->abandoned += session->owner == 0;
    held->pool->header->abandoned += session->owner == 0;
}

static int is_abandoned(const apl_held_t *held, const apl_session_t *s,
                        const apl_process_t *by)
{
    return s->state == APL_SESSION_HELD && s->owner == 0 &&
           apl_session_process(held, s) == by;
}

apl_session_t *apl_session_abandoned(const apl_held_t *held,
                                     const apl_process_t *process)
{
    const apl_pool_t *pool = held->pool;
    uint32_t i, top = apl_top(&pool->header->top_session, pool->n.sessions);
    uint32_t left = process->abandoned;
    apl_session_t *first = NULL;

    for (i = 1; i <= top && left > 0; i++) {
        apl_session_t *s = &pool->sessions[i];

        if (!is_abandoned(held, s, process))
            continue;
        left--;
        if (!first || s->ticket < first->ticket)
            first = s;
    }
    return first;
}

void apl_session_forget(apl_held_t *held, const apl_process_t *process)
{
    apl_pool_t *pool = held->pool;
    uint32_t i, top = apl_top(&pool->header->top_session, pool->n.sessions);

    for (i = 1; i <= top && process->abandoned > 0; i++)
        if (is_abandoned(held, &pool->sessions[i], process))
            apl_session_free(held, &pool->sessions[i]);
}

apl_process_t *apl_session_process(const apl_held_t *held,
                                   const apl_session_t *session)
{
    const apl_pool_t *pool = held->pool;
    apl_process_t *p = apl_process_at(pool, session->process);

    return p && APL_PROCESS_INDEX(pool, p) <= pool->header->top_process &&
                   p->state != APL_PROCESS_FREE && p->group == session->group &&
                   p->generation == session->process_generation
               ? p
               : NULL;
}
