/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reconcile.h
 * @brief Compares the processes that the spawner knows with the slots of the
 *        segment. A process without a slot gets one; a slot without a process
 *        is reported as gone (apl_supervise_gone()).
 *
 * Example: repair has freed a slot that was damaged. The spawner still has the
 * process in its registry, so it calls apl_reconcile_adopt().
 *
 * Lock:  apl_reconcile_adopt() takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later. The other
 *        functions read without the lock.
 * Crash: the next spawner compares again, as it still has the registry.
 * Trust: other processes wrote what is returned. It is a number to report, and
 *        not an instruction.
 */
#ifndef APPPOOL_SHM_VERBS_RECONCILE_H
#define APPPOOL_SHM_VERBS_RECONCILE_H

#include "shm/format/pool.h"

/**
 * Put back a process that runs and is in the registry, but has no slot.
 * @param live 1: it is ready; 0: it still boots
 */
apr_status_t apl_reconcile_adopt(apl_pool_t *pool, uint64_t id,
                                 const apl_start_t *start, const char *name,
                                 int live, int64_t now);

/** What the segment says about a process. */
typedef struct {
    uint32_t state;     /**< APL_PROCESS_* */
    uint32_t sessions;  /**< open ones */
    uint32_t abandoned; /**< of these; no client waits for them */
    uint32_t reason;    /**< APL_EVENT_* of a leaving one */
    uint32_t replaces;  /**< 1: it has, or had, the place above the limit,
                         * and its group has outdated processes */
    uint32_t waiting;   /**< requests that wait for a process of its group */
    uint64_t processed;
    uint32_t responded; /**< 1: to a request */
} apl_condition_t;

/**
 * Reads without the lock: while another process repairs, `sessions` may be too
 * low (apl_supervise_may_end()).
 * @return APL_ESTALE: not in the segment
 */
apr_status_t apl_reconcile_condition(const apl_pool_t *pool, uint64_t id,
                                     apl_condition_t *condition);

/**
 * The process has ended by itself, or is about to. Is that a failed start to
 * the pool (shm/policy/backoff.h)? Reads without the lock: a response at this
 * moment may make it none.
 */
int apl_reconcile_ends_early(const apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * Does the slot say the truth about this process? Reads without the lock.
 * @param name of its group
 * @param live 1: it accepts requests; 0: it boots
 */
int apl_reconcile_matches(const apl_pool_t *pool, uint64_t id,
                          const apl_start_t *start, const char *name, int live);

/**
 * The ids of the slots that should have a process (STARTING, LIVE, LEAVING).
 * Reads without the lock. The spawner reports the ids that it does not know as
 * gone.
 * @return how many were written to ids
 */
uint32_t apl_reconcile_ids(const apl_pool_t *pool, uint64_t *ids, uint32_t max);

#endif
