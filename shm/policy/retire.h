/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file retire.h
 * @brief Processes that have to go: at MaxRequests, with their group's
 *        restart, above a limit, where nothing is to run.
 *
 * Near MaxRequests a process is outdated: it is replaced as in a rolling
 * restart, so nobody waits for a boot when it goes. Near is with a tenth of its
 * requests left, or after half of them if it is so busy that the others will
 * not last until all of the group could have been replaced. At the limit it
 * goes at once, whether it could be replaced or not; so do those that have
 * less than ten. A start that is under way for a replacement takes the place
 * then, and is none above the limit any more. But while the group's starts fail
 * it serves on, until one that does start replaces it.
 *
 * Lock:  needed by all.
 * Crash: each process leaves by one store; who is left goes with the next
 *        look.
 * Trust: see list.h.
 */
#ifndef APPPOOL_SHM_POLICY_RETIRE_H
#define APPPOOL_SHM_POLICY_RETIRE_H

#include "shm/lock/lock_token.h"

/**
 * The app is gone from the configuration: its processes leave once nobody
 * waits for one; who waits in vain is told so.
 * @return 1: some are left to be told
 */
int apl_retire_removed(apl_lock_token_t *token, apl_group_t *group);

/**
 * The app is drained: its processes leave, and who waits is told so.
 * @return 1: some are left to be told
 */
int apl_retire_drained(apl_lock_token_t *token, apl_group_t *group);

/** Those leave that have had a request (always_restart.txt). */
void apl_retire_used(apl_lock_token_t *token, apl_group_t *group);

/**
 * The group's code is to be loaded anew.
 * @param rolling 1: a process leaves when another is there to replace it
 *                (apl_retire_replaced()); 0: all leave at once
 */
void apl_retire_restart(apl_lock_token_t *token, apl_group_t *group,
                        int rolling);

/**
 * A live process is to be replaced: by one that starts now, if one may.
 * @param reason APL_EVENT_RESTART, or APL_EVENT_RETIRED
 */
void apl_retire_outdate(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process, uint32_t reason);

/** `process` is live and was to replace an outdated one: an idle one leaves,
 * else the oldest. @return 0: there is none */
int apl_retire_replaced(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process);

/** A session of the process was closed: did it reach MaxRequests, or is it
 * near that? */
void apl_retire_if_due(apl_lock_token_t *token, apl_group_t *group,
                       apl_process_t *process);

#define APL_RETIRE_MISSED_MAX 4

/** Idle processes that reached MaxRequests and are still there: the child of
 * httpd that closed the last request died before the process could leave. Each
 * that leaves takes a look at all starts. So at most APL_RETIRE_MISSED_MAX of
 * them leave now, and the others with their next request. */
void apl_retire_missed(apl_lock_token_t *token);

#endif
