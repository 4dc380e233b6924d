/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file enter.h
 * @brief The only way into the pool: take the lock, repair what a dead process
 *        left behind, and make the lock token that all other functions ask
 *        for.
 *
 * An operation on the pool that enters, does one thing and leaves is called a
 * verb.
 *
 *     rv = apl_enter(&token, pool, now, APL_FOREVER);
 *     if (rv == APR_SUCCESS) {
 *         ...
 *         apl_leave(&token);
 *     }
 *
 * Lock:  apl_enter() takes the pool lock. Until apl_leave(), nothing may
 *        block, allocate, log or make a system call. What has to follow (to
 *        wake a waiter, to ring the doorbell) is noted in the token, and
 *        apl_leave() does it when the lock is free.
 * Crash: if a process dies inside, the next one to enter gets the lock. It
 *        rebuilds lists and counts from the slots (repair.c) before it
 *        continues. Death during the repair is the same case. A waiter whose
 *        waker died looks at its slot within a second. A process that did not
 *        run for a second may lose the lock while it is inside
 *        (spawner/control/lock_rescue.c). When it runs again, it continues its
 *        operation beside others. Then apl_leave() does not touch their lock
 *        and their sequence number, takes the lock again, and repairs.
 * Trust: damage that is met inside is repaired before the lock is given back.
 */
#ifndef APPPOOL_SHM_VERBS_ENTER_H
#define APPPOOL_SHM_VERBS_ENTER_H

#include "shm/lock/lock_token.h"
#include "shm/slots/group.h"

#define APL_FOREVER (-1)

/**
 * Take the pool lock, and repair first if its last holder died.
 * @param token filled in; valid until apl_leave()
 * @param now   apl_now(), or the time that a test sets
 * @param limit us to wait for the lock at most, or APL_FOREVER
 * @return APR_SUCCESS; APL_ELOCK: not within the limit
 */
apr_status_t apl_enter(apl_lock_token_t *token, apl_pool_t *pool, int64_t now,
                       int64_t limit);

/**
 * apl_enter() for callers that must not hang, above all the spawner. It waits
 * for at most pool->patience us. When that was not enough once, it does not
 * wait at all until the caller sets pool->patience again.
 */
apr_status_t apl_enter_patiently(apl_lock_token_t *token, apl_pool_t *pool,
                                 int64_t now);

/**
 * Enter patiently, and find a process by its id, in a state from `from` to
 * `to`.
 * @param process filled in
 * @return APL_ESTALE: there is none, and the lock was given back; or as
 *         above
 */
apr_status_t apl_enter_process(apl_lock_token_t *token, apl_pool_t *pool,
                               uint64_t id, int64_t now, uint32_t from,
                               uint32_t to, apl_process_t **process);

/**
 * Enter patiently, and find a group by its name.
 * @param group filled in
 * @return APL_ESTALE: there is none, and the lock was given back; or as
 *         above
 */
apr_status_t apl_enter_group(apl_lock_token_t *token, apl_pool_t *pool,
                             const char *name, int64_t now,
                             apl_group_t **group);

/**
 * Enter patiently, and find or add the group of an app.
 * @param group filled in
 * @return APL_EFULL: the segment has no place for another group;
 *         APL_EDAMAGED: the group could not be added; or as above. After an
 *         error the lock is not held
 */
apr_status_t apl_enter_app(apl_lock_token_t *token, apl_pool_t *pool,
                           const apl_app_t *app, int64_t now,
                           apl_group_t **group);

/**
 * Give the lock back, then wake the waiters and ring the doorbell as noted. If
 * there are more waiters than the token has room for, another round serves
 * them.
 */
void apl_leave(apl_lock_token_t *token);

#endif
