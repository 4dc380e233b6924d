/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/child.h"

#include <unistd.h>

#include "shm/format/slot.h"
#include "shm/lock/alive.h"
#include "shm/lock/wake.h"
#include "shm/slots/event.h"
#include "shm/verbs/checkin.h"
#include "shm/verbs/enter.h"

#define BATCH 256 /* slots looked at under one lock */

void apl_child_free(apl_lock_token_t *token, apl_child_t *child)
{
    child->state = APL_CHILD_FREE;
    APL_CRASH_POINT("child_free");
    apl_slot_put(token->pool, apl_slots_children(token->pool), child);
}

/* ---- a child itself ---- */

/* @return 0: all slots are taken */
static int enroll(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_child_t *c = apl_slot_take(pool, apl_slots_children(pool));

    if (!c)
        return 0;
    c->generation++;
    c->identity = pool->identity;
    c->sessions = 0;
    c->config = pool->config;
    c->died = 0;
    APL_CRASH_POINT("child_filled");
    __atomic_store_n(&c->state, APL_CHILD_USED, __ATOMIC_RELEASE);
    APL_CRASH_POINT("child_used");
    pool->self = APL_CHILD_INDEX(pool, c);
    pool->generation = c->generation;
    token->ring = 1;
    return 1;
}

apr_status_t apl_child_register(apl_pool_t *pool, uint32_t config)
{
    apl_lock_token_t token;
    apr_status_t rv;

    if (apl_alive_identify(getpid(), &pool->identity) != 0)
        return APR_ENOENT;
    rv = apl_enter(&token, pool, apl_now(), APL_FOREVER);
    if (rv != APR_SUCCESS)
        return rv;
    pool->config = config;
    pool->self = 0;
    pool->stopping = 0;
    rv = enroll(&token) ? APR_SUCCESS : APL_ECHILDREN;
    apl_leave(&token);
    return rv;
}

/* Are the sessions of a living child being taken back? Only a roll call does
 * that. At any other time the mark `died` of a living child is damage. */
static int is_rolled(const apl_pool_t *pool, const apl_child_t *c)
{
    return c->died != 0 &&
           __atomic_load_n(&pool->header->roll_call, __ATOMIC_RELAXED) != 0;
}

void apl_child_confirm(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    const apl_child_t *c = apl_child_at(pool, pool->self);

    if (c && c->state == APL_CHILD_USED && c->generation == pool->generation &&
        pool->self <= pool->header->top_child && !is_rolled(pool, c))
        return;
    pool->self = 0;
    if (pool->identity.pid != 0)
        enroll(token);
}

void apl_child_unregister(apl_pool_t *pool)
{
    apl_child_t *c = apl_child_at(pool, pool->self);
    pid_t self = getpid();
    apl_lock_token_t token;

    pool->self = 0;
    pool->identity.pid = 0;
    if (!c || apl_enter(&token, pool, apl_now(), APL_WAKE_SLICE) != APR_SUCCESS)
        return;
    if (c->state == APL_CHILD_USED && c->identity.pid == self &&
        c->sessions == 0)
        apl_child_free(&token, c);
    apl_leave(&token);
}

/* ---- the spawner: one child ---- */

APL_UNLOCKED apr_status_t apl_child_watch_at(const apl_pool_t *pool,
                                             uint32_t index,
                                             apl_child_watch_t *watch)
{
    const apl_child_t *c = apl_child_at(pool, index);

    if (!c || index > pool->header->top_child ||
        __atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != APL_CHILD_USED)
        return APL_ESTALE;
    watch->index = index;
    watch->generation = c->generation;
    watch->identity = c->identity;
    return APR_SUCCESS;
}

/* Does the slot still have that child? */
static int is_same_child(const apl_child_t *c, const apl_child_watch_t *watch)
{
    return c && c->state == APL_CHILD_USED &&
           c->generation == watch->generation &&
           c->identity.pid == watch->identity.pid &&
           c->identity.start == watch->identity.start;
}

/* From now on the sessions of the child are taken back. After damage the child
 * may be alive. Then it takes another slot with its next request. So it opens
 * no session in a part of the slot array that was looked at already. */
static void begin_reclaim(apl_child_t *c)
{
    if (c->died == 0)
        c->died = APL_CHILD_EMPTIED;
    APL_CRASH_POINT("child_emptied");
}

/* Free the slot of a child. All its sessions were looked at. */
static void free_child(apl_lock_token_t *token, apl_child_t *c)
{
    if (c->sessions > 0)
        token->pool->damaged = 1;
    apl_child_free(token, c);
}

/* Take back sessions of a dead child, from slot *from on. It looks at a batch
 * of slots only. @return how many sessions it took back */
static uint32_t reclaim_some(apl_lock_token_t *token, const apl_child_t *c,
                             uint32_t *from)
{
    apl_pool_t *pool = token->pool;
    uint32_t top = apl_top(&pool->header->top_session, pool->n.sessions);
    uint32_t n = 0, left = BATCH;

    for (; c->sessions > 0 && *from <= top && left-- > 0; ++*from) {
        apl_session_t *s = &pool->sessions[*from];

        if (s->state == APL_SESSION_FREE ||
            s->child != APL_CHILD_INDEX(pool, c))
            continue;
        apl_checkin_orphan(token, s);
        n++;
    }
    return n;
}

apr_status_t apl_child_watch_gone(apl_pool_t *pool,
                                  const apl_child_watch_t *watch, int64_t now)
{
    apl_child_t *c = apl_child_at(pool, watch->index);
    uint32_t from = 1;
    apl_lock_token_t token;
    apr_status_t rv;
    int more;

    do {
        rv = apl_enter_patiently(&token, pool, now);
        if (rv != APR_SUCCESS)
            return rv;
        if (!is_same_child(c, watch)) {
            apl_leave(&token);
            return APL_ESTALE;
        }
        begin_reclaim(c);
        if (reclaim_some(&token, c, &from) > 0 &&
            c->died != APL_CHILD_COUNTED) {
            c->died = APL_CHILD_COUNTED;
            pool->header->counters.child_deaths++;
            apl_event_note(&token, APL_EVENT_CHILD_DIED, NULL, NULL);
        }
        more = c->sessions > 0 && !pool->damaged &&
               from <= apl_top(&pool->header->top_session, pool->n.sessions);
        if (!more)
            free_child(&token, c);
        apl_leave(&token);
    } while (more);
    return APR_SUCCESS;
}

/* ---- the spawner: all children ---- */

static void begin_reclaim_slot(apl_lock_token_t *token, uint32_t i)
{
    apl_child_t *c = &token->pool->children[i];

    if (c->state == APL_CHILD_USED)
        begin_reclaim(c);
}

static void reclaim_slot(apl_lock_token_t *token, uint32_t i)
{
    apl_session_t *s = &token->pool->sessions[i];
    const apl_child_t *c = apl_child_at(token->pool, s->child);

    if (s->state != APL_SESSION_FREE && c && c->state == APL_CHILD_USED &&
        c->died != 0)
        apl_checkin_orphan(token, s);
}

static void free_child_slot(apl_lock_token_t *token, uint32_t i)
{
    apl_child_t *c = &token->pool->children[i];

    if (c->state == APL_CHILD_USED && c->died != 0)
        free_child(token, c);
}

/* Call `act` for each slot of a slot array, for a batch under one lock.
 * @return 0: the lock was not free in time */
static int for_each_slot(apl_pool_t *pool, int64_t now, apl_slots_t slots,
                         void (*act)(apl_lock_token_t *token, uint32_t i))
{
    uint32_t i, end;
    apl_lock_token_t token;

    for (i = 1; i <= apl_top(slots.top, slots.n); i = end) {
        if (apl_enter_patiently(&token, pool, now) != APR_SUCCESS)
            return 0;
        for (end = i + BATCH; i < end && i <= apl_top(slots.top, slots.n); i++)
            act(&token, i);
        apl_leave(&token);
    }
    return 1;
}

int apl_child_watch_roll_call(apl_pool_t *pool, int64_t now)
{
    uint32_t due = __atomic_load_n(&pool->header->roll_call, __ATOMIC_RELAXED);

    if (due == 0)
        return 0;
    /* The roll call is over when all three passes are done. If the spawner dies
     * before, the next one repeats it. If there was damage meanwhile, the
     * number has changed, and the roll call is repeated, too. */
    if (for_each_slot(pool, now, apl_slots_children(pool),
                      begin_reclaim_slot) &&
        for_each_slot(pool, now, apl_slots_sessions(pool), reclaim_slot) &&
        for_each_slot(pool, now, apl_slots_children(pool), free_child_slot))
        __atomic_compare_exchange_n(&pool->header->roll_call, &due, 0, 0,
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return 1;
}
