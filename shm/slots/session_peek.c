/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/session_peek.h"

#include "shm/format/error.h"

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
