/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file step.h
 * @brief The last ten minutes of each application, and its moments
 *        (slots/numbers.h).
 *
 * Lock:  none: it writes what only the spawner writes, and reads what is shown
 *        to people. A group that ends meanwhile loses nothing but its numbers.
 * Crash: see slots/numbers.h. If the spawner is killed between the two, the
 *        next one may write a step that is shorter. The counters are not
 *        concerned.
 * Trust: a time that is impossible is overwritten.
 */
#ifndef APPPOOL_SHM_VERBS_STEP_H
#define APPPOOL_SHM_VERBS_STEP_H

#include "shm/slots/group.h"

/** What the processes of a group use at this moment. All are 0 at first. */
typedef struct {
    uint64_t memory;   /**< bytes, of those whose memory is known */
    uint32_t measured; /**< so many */
    uint32_t idle, busy, hung, starting;
} apl_step_use_t;

/** A process has used so much CPU time since the last call for it.
 * @param id of the process
 * @return the index of its group; 0: there is no such process */
uint32_t apl_step_add_cpu(apl_pool_t *pool, uint64_t id, uint64_t us,
                          int64_t now);

/**
 * Look at each application that is used, and for which a step is over. Only the
 * spawner calls it.
 * @param use of each group, by index: pool->n.groups of them. The processes are
 *        counted here
 */
void apl_step_sample(apl_pool_t *pool, apl_step_use_t *use, int64_t now);

#endif
