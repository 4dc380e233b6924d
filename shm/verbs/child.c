/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/child.h"

#include <unistd.h>

#include "shm/lock/alive.h"
#include "shm/verbs/enter.h"
#include "shm/format/slot.h"
#include "shm/lock/wake.h"

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

void apl_child_free(apl_lock_token_t *token, apl_child_t *child)
{
    child->state = APL_CHILD_FREE;
    APL_CRASH_POINT("child_free");
    apl_slot_put(token->pool, apl_slots_children(token->pool), child);
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
