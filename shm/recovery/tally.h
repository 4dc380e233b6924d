/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file tally.h
 * @brief Counts the slots in one pass over each slot array. The lists and
 *        counts of format.h have to agree with it.
 *
 * The caller counts each slot once, and all processes before the first
 * session.
 *
 * Lock:  the segment must not change meanwhile, as for check.h.
 * Crash: only the caller's own memory is written.
 * Trust: an index that leads out of its slot array is counted nowhere.
 */
#ifndef APPPOOL_SHM_RECOVERY_TALLY_H
#define APPPOOL_SHM_RECOVERY_TALLY_H

#include "shm/format/pool.h"

/** The counts of a group. */
typedef struct {
    uint32_t live, idle, spawning, waiting;
    uint32_t room; /**< busy ones that can take another session */
    uint32_t outdated;
    uint32_t marked; /**< live ones that are marked hung */
    uint32_t hung;   /**< those of them that have a session */
    uint32_t leaving, unkillable, sessions;
} apl_tally_group_t;

/** The counts of a process, from the sessions. */
typedef struct {
    uint32_t open, abandoned;
} apl_tally_process_t;

typedef struct {
    apl_capacity_t top;        /**< slots of each array that are looked at */
    apl_tally_group_t *groups; /**< by index */
    apl_tally_process_t *processes; /**< by index */
    uint32_t *children;             /**< by index: sessions that a child owns */
    uint32_t states[APL_PROCESS_STATES]; /**< processes in each state */
    uint32_t replacing, abandoned;
    uint32_t groups_free, sessions_free, children_free;
    uint32_t unserved, growing, above; /**< groups that have such a turn */
} apl_tally_t;

/** Begin with nothing counted. @return 0: there is no memory */
int apl_tally_begin(apl_tally_t *tally, const apl_pool_t *pool);

/** Count a slot, 1 <= index <= top. */
void apl_tally_group(apl_tally_t *tally, const apl_pool_t *pool,
                     uint32_t index);
void apl_tally_process(apl_tally_t *tally, const apl_pool_t *pool,
                       uint32_t index);
void apl_tally_session(apl_tally_t *tally, const apl_pool_t *pool,
                       uint32_t index);
void apl_tally_child(apl_tally_t *tally, const apl_pool_t *pool,
                     uint32_t index);

void apl_tally_end(apl_tally_t *tally);

#endif
