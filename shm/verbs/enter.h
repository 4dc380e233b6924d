/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file enter.h
 * @brief The one door to the pool: take the lock, mend what a dead process
 *        left behind, hand out the token that every other function asks for.
 *
 *     rv = apl_enter(&token, pool, now, APL_FOREVER);
 *     if (rv == APR_SUCCESS) {
 *         ...
 *         apl_leave(&token);
 *     }
 *
 * Lock:  apl_enter() takes the pool lock; between it and apl_leave() nothing
 *        may block, allocate, log or make a system call. What must follow
 *        (waking a waiter, ringing for the spawner) is noted in the token and
 *        done by apl_leave() when the lock is free.
 * Crash: a process that dies between the two leaves the lock to the next one
 *        in apl_enter(), which rebuilds lists and counts from the slots
 *        (repair.h) before it goes on. Dying in the repair is the same case.
 *        A waiter whose waker died looks at its slot within a second.
 *        A process that did not run for a second may lose the lock while it
 *        is inside (spawner/upkeep/lock_rescue.h). It goes on with its verb
 *        when it runs again, beside others. apl_leave() then leaves their lock
 *        and their sequence number alone, takes the lock again, and repairs.
 * Trust: damage met inside is repaired before the lock is given back.
 */
#ifndef APPPOOL_SHM_VERBS_ENTER_H
#define APPPOOL_SHM_VERBS_ENTER_H

#include "shm/lock/lock_token.h"

#define APL_FOREVER (-1)

/**
 * Take the pool lock, repairing first if its last owner died.
 * @param token  the token to pass on; valid until apl_leave()
 * @param now   apl_now(), or the time a test wants it to be
 * @param limit us to wait for the lock at most, or APL_FOREVER
 * @return APR_SUCCESS; APL_ELOCK: not to be had within the limit
 */
apr_status_t apl_enter(apl_lock_token_t *token, apl_pool_t *pool, int64_t now,
                       int64_t limit);

/**
 * The same for those who must not hang, the spawner first of all: it waits at
 * most pool->patience us, and once that was in vain not at all, until its
 * caller sets that anew.
 */
apr_status_t apl_enter_patiently(apl_lock_token_t *token, apl_pool_t *pool,
                                 int64_t now);

/**
 * The same, and find a process in a state between two, by its id.
 * @param process filled in
 * @return APL_ESTALE: there is none, and nobody is inside; or as above
 */
apr_status_t apl_enter_process(apl_lock_token_t *token, apl_pool_t *pool,
                               uint64_t id, int64_t now, uint32_t from,
                               uint32_t to, apl_process_t **process);

/**
 * The same, and find a group by its name.
 * @param group filled in
 * @return APL_ESTALE: there is none, and nobody is inside; or as above
 */
apr_status_t apl_enter_group(apl_lock_token_t *token, apl_pool_t *pool,
                             const char *name, int64_t now,
                             apl_group_t **group);

/** Give the lock back; then wake and ring whom the verb noted. More waiters
 * than a token has room for are served in another round. */
void apl_leave(apl_lock_token_t *token);

#endif
