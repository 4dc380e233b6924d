/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/enter.h"

#include "shm/slots/group.h"
#include "shm/lock/lock.h"
#include "shm/slots/process.h"
#include "shm/recovery/recovery.h"
#include "shm/policy/retire.h"
#include "shm/policy/capacity.h"
#include "shm/lock/wake.h"

/* The sequence number is odd while a process is inside. If a process died
 * inside, it is odd already. */
static void begin_change(apl_header_t *h)
{
    __atomic_store_n(&h->sequence, h->sequence | 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(apl_header_t *h)
{
    __atomic_store_n(&h->sequence, (h->sequence | 1) + 1, __ATOMIC_RELEASE);
}

static void repair_pool(apl_lock_token_t *token)
{
    apl_header_t *h = token->pool->header;

    /* A roll call is due after damage. A process that dies inside causes no
     * damage: the slots are still right. */
    if (token->pool->damaged)
        h->roll_call++;
    apl_repair(token);
    /* The dead process may have placed an order without ringing. */
    token->ring = 1;
    /* The dead process may have closed a session without giving the process to
     * a waiter or retiring it. */
    apl_retire_missed(token);
    apl_capacity_share_all(token);
}

apr_status_t apl_enter(apl_lock_token_t *token, apl_pool_t *pool, int64_t now,
                       int64_t limit)
{
    apl_header_t *h = pool->header;
    int died;
    apr_status_t rv = apl_lock_take(&h->lock, limit, &died);

    if (rv != APR_SUCCESS)
        return rv;
    token->pool = pool;
    token->now = now;
    token->ring = 0;
    token->more = 0;
    token->turns = 2 * pool->n.groups;
    token->n_wakes = 0;
    begin_change(h);
    APL_CRASH_POINT("enter_inside");
    if (__builtin_expect(died || pool->damaged, 0))
        repair_pool(token);
    return APR_SUCCESS;
}

apr_status_t apl_enter_patiently(apl_lock_token_t *token, apl_pool_t *pool,
                                 int64_t now)
{
    apr_status_t rv = apl_enter(token, pool, now, pool->patience);

    if (rv == APL_ELOCK)
        pool->patience = 0;
    return rv;
}

/* Give the lock back, then wake and ring.
 * @return 0: the lock was broken meanwhile, and others have been inside */
static int leave_once(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apl_header_t *h = pool->header;
    uint32_t i;
    int mine;

    if (__builtin_expect(apl_lock_is_mine(&h->lock), 1)) {
        if (__builtin_expect(pool->damaged, 0))
            repair_pool(token);
        end_change(h);
        APL_CRASH_POINT("leave_outside");
    }
    mine = apl_lock_give(&h->lock);
    for (i = 0; i < token->n_wakes; i++) {
        apl_session_t *s = apl_session_at(pool, token->wakes[i]);

        if (s)
            apl_wake_up(&s->wake_word);
    }
    if (token->ring)
        apl_wake_ring(pool->doorbell);
    return mine;
}

/* This process and others wrote at the same time, so lists and counts may be
 * wrong. All is rebuilt from the slots, as after any damage. */
static void repair_after_break(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    apr_status_t rv = apl_enter(token, pool, token->now, APL_PATIENCE);

    pool->damaged = 1; /* if the lock is not free, the next verb repairs */
    if (rv == APR_SUCCESS)
        leave_once(token);
}

apr_status_t apl_enter_process(apl_lock_token_t *token, apl_pool_t *pool,
                               uint64_t id, int64_t now, uint32_t from,
                               uint32_t to, apl_process_t **process)
{
    apr_status_t rv = apl_enter_patiently(token, pool, now);

    if (rv != APR_SUCCESS)
        return rv;
    *process = apl_process_find(token, id);
    if (*process && (*process)->state >= from && (*process)->state <= to)
        return APR_SUCCESS;
    apl_leave(token);
    return APL_ESTALE;
}

apr_status_t apl_enter_group(apl_lock_token_t *token, apl_pool_t *pool,
                             const char *name, int64_t now, apl_group_t **group)
{
    apr_status_t rv = apl_enter_patiently(token, pool, now);

    if (rv != APR_SUCCESS)
        return rv;
    *group = apl_group_find(token, apl_group_key(name), name);
    if (*group)
        return APR_SUCCESS;
    apl_leave(token);
    return APL_ESTALE;
}

apr_status_t apl_enter_app(apl_lock_token_t *token, apl_pool_t *pool,
                           const apl_app_t *app, int64_t now,
                           apl_group_t **group)
{
    apr_status_t rv = apl_enter_patiently(token, pool, now);

    if (rv != APR_SUCCESS)
        return rv;
    *group = apl_group_find_or_add(token, app);
    if (*group)
        return APR_SUCCESS;
    rv = pool->damaged ? APL_EDAMAGED : APL_EFULL;
    apl_leave(token);
    return rv;
}

/* Serve the waiters that the token had no room for. The rounds end after a
 * time, because another process may keep writing that there are waiters. The
 * tick serves waiters that are left. */
static void serve_more(apl_lock_token_t *token)
{
    apl_pool_t *pool = token->pool;
    int64_t end = apl_now() + APL_PATIENCE;

    do {
        if (apl_enter(token, pool, token->now, APL_PATIENCE) != APR_SUCCESS)
            return;
        apl_capacity_share_all(token);
        leave_once(token);
    } while (token->more && apl_now() < end);
}

void apl_leave(apl_lock_token_t *token)
{
    if (__builtin_expect(!leave_once(token), 0))
        repair_after_break(token);
    if (token->more)
        serve_more(token);
}
