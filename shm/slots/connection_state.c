/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/connection_state.h"

#include "shm/lock/alive.h"
#include "shm/slots/group.h"

/* Generation of the slot, serial of the connection, state. */
#define STATE_BITS    2
#define SERIAL_BITS   30
#define SERIAL_MAX    ((1u << SERIAL_BITS) - 1)
#define STATE(word)   ((uint32_t)(word) & ((1u << STATE_BITS) - 1))
#define SERIAL(word)  ((uint32_t)(word) >> STATE_BITS)
#define GENERATION_AT (STATE_BITS + SERIAL_BITS)

static uint64_t word_of(const apl_connection_state_t *c, uint32_t state)
{
    uint32_t low = c->serial << STATE_BITS | state;

    return (uint64_t)c->generation << GENERATION_AT | low;
}

APL_UNLOCKED static uint64_t read_word(const apl_connection_state_t *c)
{
    return __atomic_load_n(&c->process->connection, __ATOMIC_SEQ_CST);
}

/* The word of an earlier process says nothing. */
static int is_of(const apl_connection_state_t *c, uint64_t word)
{
    return (uint32_t)(word >> GENERATION_AT) == c->generation;
}

APL_UNLOCKED static int change(const apl_connection_state_t *c, uint64_t from,
                               uint32_t state)
{
    return __atomic_compare_exchange_n(&c->process->connection, &from,
                                       word_of(c, state), 0, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

APL_UNLOCKED apl_connection_state_t
apl_connection_state(const apl_pool_t *pool, const apl_session_ref_t *ref)
{
    apl_connection_state_t c = {.pool = pool, .ref = ref};
    const apl_session_t *s = apl_session_ref_find(pool, ref);
    apl_process_t *p;

    if (!s || __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) != APL_SESSION_OPEN)
        return c;
    p = apl_process_at(pool, s->process);
    c.generation = s->process_generation;
    if (p && __atomic_load_n(&p->generation, __ATOMIC_ACQUIRE) == c.generation)
        c.process = p;
    return c;
}

APL_UNLOCKED int apl_connection_is_alone(const apl_connection_state_t *c)
{
    const apl_process_t *p = c->process;
    const apl_session_t *s = apl_session_ref_find(c->pool, c->ref);
    const apl_group_t *g;

    if (!p || !s || s->process_generation != c->generation ||
        __atomic_load_n(&p->sessions, __ATOMIC_SEQ_CST) != 1 ||
        __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) != APL_PROCESS_LIVE)
        return 0;
    g = apl_group_at(c->pool, p->group);
    return g && g->options.global_queue && apl_group_concurrency(g, p) == 1 &&
           __atomic_load_n(&p->generation, __ATOMIC_ACQUIRE) == c->generation;
}

/* This child is about to use the connection. */
APL_UNLOCKED static void sign(const apl_connection_state_t *c)
{
    c->process->connection_child = c->pool->identity;
}

APL_UNLOCKED static int is_used_by_a_child(const apl_connection_state_t *c)
{
    apl_identity_t child = c->process->connection_child;

    return apl_alive(&child);
}

APL_UNLOCKED uint32_t apl_connection_take(apl_connection_state_t *c, int alone,
                                          int may_reuse, int64_t now)
{
    uint64_t word;
    int64_t idle;

    if (!c->process)
        return APL_CONNECTION_NOT_OURS;
    word = read_word(c);
    if (!is_of(c, word) || STATE(word) == APL_CONNECTION_NONE)
        return alone ? APL_CONNECTION_NONE : APL_CONNECTION_NOT_OURS;
    c->serial = SERIAL(word);
    if (STATE(word) != APL_CONNECTION_IDLE)
        return alone && !is_used_by_a_child(c) ? APL_CONNECTION_BUSY
                                               : APL_CONNECTION_NOT_OURS;
    sign(c);
    idle = now - __atomic_load_n(&c->process->connection_at, __ATOMIC_RELAXED);
    if (!change(c, word, APL_CONNECTION_BUSY))
        return APL_CONNECTION_NOT_OURS;
    APL_CRASH_POINT("connection_taken");
    return alone && may_reuse && c->serial != 0 && idle >= 0 &&
                   idle < APL_CONNECTION_IDLE_LIMIT
               ? APL_CONNECTION_IDLE
               : APL_CONNECTION_BUSY;
}

APL_UNLOCKED int apl_connection_is_held(const apl_connection_state_t *c)
{
    return c->process && read_word(c) == word_of(c, APL_CONNECTION_BUSY);
}

APL_UNLOCKED int apl_connection_is_gone(const apl_connection_state_t *c)
{
    return c->process && __atomic_load_n(&c->process->generation,
                                         __ATOMIC_ACQUIRE) != c->generation;
}

APL_UNLOCKED void apl_connection_forget(const apl_connection_state_t *c)
{
    if (!c->process)
        return;
    change(c, word_of(c, APL_CONNECTION_BUSY), APL_CONNECTION_NONE);
    APL_CRASH_POINT("connection_forgotten");
}

/* 0 is no serial. The connection that had this serial 2^30 connections ago was
 * shut down, so a copy of it does no harm. */
static uint32_t next_serial(uint32_t serial)
{
    return serial % SERIAL_MAX + 1;
}

APL_UNLOCKED int apl_connection_begin_parking(apl_connection_state_t *c)
{
    uint64_t word;

    if (!apl_connection_is_alone(c))
        return 0;
    word = read_word(c);
    if (is_of(c, word) && STATE(word) != APL_CONNECTION_NONE)
        return 0;
    sign(c);
    c->serial = is_of(c, word) ? next_serial(SERIAL(word)) : 1;
    if (!change(c, word, APL_CONNECTION_BUSY))
        return 0;
    APL_CRASH_POINT("connection_parked");
    return 1;
}

APL_UNLOCKED int apl_connection_release(const apl_connection_state_t *c,
                                        int64_t now)
{
    if (!apl_connection_is_held(c))
        return 0;
    __atomic_store_n(&c->process->connection_at, now, __ATOMIC_RELAXED);
    APL_CRASH_POINT("connection_dated");
    if (!change(c, word_of(c, APL_CONNECTION_BUSY), APL_CONNECTION_IDLE))
        return 0;
    APL_CRASH_POINT("connection_idle");
    /* A session that came meanwhile has seen BUSY, or is seen here. Its request
     * would wait behind a connection that is idle. */
    return apl_connection_is_alone(c) ||
           !change(c, word_of(c, APL_CONNECTION_IDLE), APL_CONNECTION_BUSY);
}

APL_UNLOCKED int apl_connection_is_unused(const apl_pool_t *pool, uint64_t id,
                                          uint64_t *word)
{
    const apl_process_t *p = apl_process_at(pool, (uint32_t)(id & 0xffff));
    apl_identity_t child;

    if (!p || p->id != id)
        return 0;
    *word = __atomic_load_n(&p->connection, __ATOMIC_SEQ_CST);
    if ((uint32_t)(*word >> GENERATION_AT) !=
        __atomic_load_n(&p->generation, __ATOMIC_RELAXED))
        return 0;
    if (STATE(*word) != APL_CONNECTION_BUSY)
        return STATE(*word) == APL_CONNECTION_IDLE;
    child = p->connection_child;
    return __atomic_load_n(&p->sessions, __ATOMIC_RELAXED) <=
               __atomic_load_n(&p->abandoned, __ATOMIC_RELAXED) &&
           !apl_alive(&child);
}

int apl_connection_is_left(uint64_t word)
{
    return STATE(word) == APL_CONNECTION_BUSY;
}

APL_UNLOCKED int apl_connection_is_valid(const apl_process_t *process)
{
    uint64_t word = __atomic_load_n(&process->connection, __ATOMIC_RELAXED);

    return STATE(word) == APL_CONNECTION_NONE ||
           (STATE(word) < APL_CONNECTION_STATES && SERIAL(word) != 0);
}
