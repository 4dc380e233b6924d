/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file retire.h
 * @brief Ends processes: at MaxRequests, at a restart of their group, above a
 *        limit, or because their app must not run.
 *
 * A process near MaxRequests is outdated. It is replaced as in a rolling
 * restart, so no request waits for a boot when it ends. A process is near
 * MaxRequests when a tenth of its requests is left. It is near after half of
 * them if the rest would be used up before each process of the group could
 * have been replaced. At MaxRequests the process leaves at once, whether it was
 * replaced or not. So does a process whose MaxRequests is below ten. If its
 * replacement is being started then, that start takes its place and no longer
 * counts as above the limit. But while the starts of the group fail, the
 * process continues to serve, until a start succeeds and replaces it.
 *
 * Lock:  needed by all.
 * Crash: each process leaves by one store; the rest leave with the next call.
 * Trust: see list.h.
 */
#ifndef APPPOOL_SHM_POLICY_RETIRE_H
#define APPPOOL_SHM_POLICY_RETIRE_H

#include "shm/lock/lock_token.h"

/**
 * The app is no longer in the configuration. Its processes leave when no
 * request waits for one. The wait of a request that waits in vain ends with an
 * error.
 * @return 1: there are more such waiters; call again
 */
int apl_retire_removed(apl_lock_token_t *token, apl_group_t *group);

/**
 * The app is drained: its processes leave, and the waits of its requests end.
 * @return 1: there are more such waiters; call again
 */
int apl_retire_drained(apl_lock_token_t *token, apl_group_t *group);

/**
 * If the app must not run because it was removed or drained, its processes
 * leave. If no process will come, the waits of its requests end. The next tick
 * ends those that are left over.
 */
void apl_retire_closed(apl_lock_token_t *token, apl_group_t *group);

/** Processes that have served a request leave (always_restart.txt). */
void apl_retire_used(apl_lock_token_t *token, apl_group_t *group);

/**
 * The code of the group is to be loaded again.
 * @param rolling 1: a process leaves when another one is there to replace it
 *                (apl_retire_replaced()); 0: all leave at once
 */
void apl_retire_restart(apl_lock_token_t *token, apl_group_t *group,
                        int rolling);

/**
 * A live process is to be replaced, by a process that starts now if one may
 * start.
 * @param reason APL_EVENT_RESTART or APL_EVENT_RETIRED
 */
void apl_retire_outdate(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process, uint32_t reason);

/** `process` is live and was started to replace an outdated process: an idle
 * outdated one leaves, else the oldest. @return 0: there is none */
int apl_retire_replaced(apl_lock_token_t *token, apl_group_t *group,
                        apl_process_t *process);

/** A session of the process was closed: retire the process at MaxRequests, or
 * have it replaced near MaxRequests. */
void apl_retire_if_due(apl_lock_token_t *token, apl_group_t *group,
                       apl_process_t *process);

#define APL_RETIRE_MISSED_MAX 4

/**
 * Retire idle processes that reached MaxRequests and are still there, because
 * the child of httpd that closed their last request died before the process
 * could leave. Each retirement looks at all starts. So at most
 * APL_RETIRE_MISSED_MAX of them leave now, and the others with their next
 * request.
 */
void apl_retire_missed(apl_lock_token_t *token);

#endif
