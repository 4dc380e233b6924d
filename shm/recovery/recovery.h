/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file recovery.h
 * @brief What a pool is checked for, and repaired. A part for each file of the
 *        folder.
 */
#ifndef APPPOOL_SHM_RECOVERY_RECOVERY_H
#define APPPOOL_SHM_RECOVERY_RECOVERY_H

#include "shm/format/pool.h"
#include "shm/lock/lock_token.h"

/* check.c: do the invariants of format.h hold? If not: which one fails, and
 * where?
 *
 * A check takes a time that is linear in the slots in use. It does not look at
 * slots above the marks of use (header.top_*): the operation that takes such a
 * slot finds what is hidden there. A check can be done in slices:
 *
 *     check = apl_check_begin(copy);
 *     while ((rv = apl_check_go(check, APL_CHECK_SLICE, &finding)) ==
 *            APL_CHECK_MORE)
 *         ... something else ...
 *     apl_check_end(check);
 *
 * Lock:  the segment must not change meanwhile: check under the lock, or check
 *        a snapshot. A check allocates memory, so only tests do it under the
 *        lock.
 * Crash: nothing is written.
 * Trust: a check ends and stays in bounds, whatever the bytes are. */

/** The first invariant that does not hold. */
typedef struct {
    int number; /**< of format.h: 4 = I4; 0: all hold */
    uint32_t
        slot; /**< of the group, process, session or child; 0: the header */
    char text[160]; /**< what and where */
} apl_finding_t;

/** Have two checks found the same? Numbers in the text may differ. */
static inline int apl_finding_same(const apl_finding_t *a,
                                   const apl_finding_t *b)
{
    return a->number == b->number && a->slot == b->slot;
}

enum {
    APL_CHECK_BAD,  /**< *finding says what does not hold */
    APL_CHECK_GOOD, /**< all invariants hold */
    APL_CHECK_MORE  /**< there is more to look at */
};

typedef struct apl_check_t apl_check_t;

/** @return NULL: there is no memory */
apl_check_t *apl_check_begin(const apl_pool_t *pool);

#define APL_CHECK_SLICE 4000 /* steps that take less than a millisecond */

/** Continue. @param steps the number of slots and links to look at */
int apl_check_go(apl_check_t *check, uint32_t steps, apl_finding_t *finding);

void apl_check_end(apl_check_t *check);

/**
 * The whole check at once.
 * @return 1: all invariants hold; 0: *finding says which one does not. Its
 *         number is 0 if there is no memory for the check
 */
int apl_check(const apl_pool_t *pool, apl_finding_t *finding);

/* tally.c: counts the slots in one pass over each slot array. The lists and
 * counts of format.h have to agree with it.
 *
 * The caller counts each slot once, and all processes before the first
 * session.
 *
 * Lock:  the segment must not change meanwhile, as for check.c.
 * Crash: only the caller's own memory is written.
 * Trust: an index that leads out of its slot array is counted nowhere. */

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

/* repair.c: rebuild lists and counts from the slots.
 *
 * What a slot says is accepted if it makes sense: a known state, and
 * references within their slot arrays to slots in use. Otherwise the slot is
 * emptied. The spawner puts back the processes that really run, from its
 * registry. Lists get the order that they had: processes by age and last use,
 * queues by ticket, turns by the longest wait.
 *
 * A repair never checks which processes are alive. The sessions of a dead
 * child come back when the spawner reports its death.
 *
 * Lock:  needed. O(n log n) in the slots in use.
 * Crash: a repair can be repeated: if a process dies here, the next one
 *        repairs again.
 * Trust: a repair ends and stays in bounds, whatever the bytes are. */

void apl_repair(apl_lock_token_t *token);

#endif
