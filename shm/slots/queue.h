/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file queue.h
 * @brief Requests that wait for a process of their group, and their turn.
 *
 * First come, first served, by direct hand-off: whoever frees a process gives
 * it to the head of the queue and wakes that one alone. So nobody overtakes,
 * and nobody is woken in vain.
 *
 * Lock:  needed by all.
 * Crash: a waiter that was given a process and not woken looks for itself
 *        within a second.
 * Trust: see list.h.
 */
#ifndef APPPOOL_SHM_SLOTS_QUEUE_H
#define APPPOOL_SHM_SLOTS_QUEUE_H

#include "shm/lock/lock_token.h"

/** The request that waits longest. @return NULL: none waits */
apl_session_t *apl_queue_head(apl_lock_token_t *token,
                              const apl_group_t *group);

/** Give the group's processes to its waiters while there are both. No more
 * than APL_WAKES_MAX can be woken under one lock: token->more. */
void apl_queue_serve(apl_lock_token_t *token, apl_group_t *group);

/**
 * Tell the group's waiters that there will be no process.
 * @return 1: as many as can be woken are told, and some are left
 */
int apl_queue_fail(apl_lock_token_t *token, apl_group_t *group,
                   apr_status_t outcome);

#endif
