/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/child.h"

#include <unistd.h>

#include "shm/lock/alive.h"
#include "shm/verbs/enter.h"
#include "shm/format/slot.h"
#include "shm/lock/wake.h"

/* @return 0: all slots are taken */
static int enroll(apl_held_t *held)
{
    apl_pool_t *pool = held->pool;
    apl_child_t *c = apl_slot_take(pool, apl_slots_children(pool));

    if (!c)
        return 0;
    c->generation++;
    c->who = pool->who;
    c->sessions = 0;
    c->config = pool->config;
    c->died = 0;
    APL_STEP("child_filled");
    __atomic_store_n(&c->state, APL_CHILD_USED, __ATOMIC_RELEASE);
    APL_STEP("child_used");
    pool->self = APL_CHILD_INDEX(pool, c);
    pool->generation = c->generation;
    held->ring = 1;
    return 1;
}

apr_status_t apl_child_register(apl_pool_t *pool, uint32_t config)
{
    apl_held_t held;
    apr_status_t rv;

    if (apl_alive_look(getpid(), &pool->who) != 0)
        return APR_ENOENT;
    rv = apl_enter(&held, pool, apl_now(), APL_FOREVER);
    if (rv != APR_SUCCESS)
        return rv;
    pool->config = config;
    pool->self = 0;
    pool->stopping = 0;
    rv = enroll(&held) ? APR_SUCCESS : APL_ECHILDREN;
    apl_leave(&held);
    return rv;
}

/* Are the sessions of a living child being taken back? Only a roll does that:
 * otherwise the mark says nothing, whoever wrote it. */
static int is_rolled(const apl_pool_t *pool, const apl_child_t *c)
{
    return c->died != 0 &&
           __atomic_load_n(&pool->header->roll, __ATOMIC_RELAXED) != 0;
}

void apl_child_confirm(apl_held_t *held)
{
    apl_pool_t *pool = held->pool;
    const apl_child_t *c = apl_child_at(pool, pool->self);

    if (c && c->state == APL_CHILD_USED && c->generation == pool->generation &&
        pool->self <= pool->header->top_child && !is_rolled(pool, c))
        return;
    pool->self = 0;
    if (pool->who.pid != 0)
        enroll(held);
}

void apl_child_free(apl_held_t *held, apl_child_t *child)
{
    child->state = APL_CHILD_FREE;
    APL_STEP("child_free");
    apl_slot_put(held->pool, apl_slots_children(held->pool), child);
}

void apl_child_unregister(apl_pool_t *pool)
{
    apl_child_t *c = apl_child_at(pool, pool->self);
    pid_t self = getpid();
    apl_held_t held;

    pool->self = 0;
    pool->who.pid = 0;
    if (!c || apl_enter(&held, pool, apl_now(), APL_WAKE_SLICE) != APR_SUCCESS)
        return;
    if (c->state == APL_CHILD_USED && c->who.pid == self && c->sessions == 0)
        apl_child_free(&held, c);
    apl_leave(&held);
}
