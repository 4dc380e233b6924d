/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file hung.h
 * @brief Hung processes, and how many of them do not count against the limits.
 *
 * A process is hung while one of its requests takes longer than AppHungAfter.
 * Hung processes of a group do not count against MaxInstances and MaxPoolSize,
 * but this holds for at most AppHungExtra of them. Their number is the group's
 * credit. A group with AppSpawnIfUnder 0 has no credit. The limit of the pool
 * is MaxPoolSize plus the credit of all groups, and the places that the credit
 * makes are given away like any others. But a group uses its own credit only
 * while fewer than AppSpawnIfUnder of its processes are not hung. When hung
 * processes recover or leave, the credit falls. Processes above the limit then
 * leave, as if MaxPoolSize had been lowered.
 *
 * Lock:  needed, except by apl_hung_is_overdue(), apl_hung_age() and
 *        apl_hung_exceeded(). Without the lock, the last one is only roughly
 *        right.
 * Crash: the mark of a process is the truth (process.h); counts follow.
 * Trust: ages and limits are any numbers.
 */
#ifndef APPPOOL_SHM_SLOTS_HUNG_H
#define APPPOOL_SHM_SLOTS_HUNG_H

#include "shm/lock/lock_token.h"

/**
 * Does a request take too long? Only this function decides it.
 * @param age us, without the time in the queue
 * @param limit us; 0: no limit
 */
static inline int apl_hung_is_overdue(int64_t age, int64_t limit)
{
    return limit > 0 && age >= limit;
}

/** The age of the request at that time, us. */
APL_UNLOCKED static inline int64_t apl_hung_age(const apl_session_t *session,
                                                int64_t now)
{
    return apl_since(now, session->since);
}

/** The number of hung processes of the group that do not count. */
uint32_t apl_hung_credit(const apl_group_t *group);

/** May the group use its credit: does it have too few processes that are not
 * hung? Starts count as such. */
int apl_hung_may_use_credit(const apl_group_t *group);

/**
 * The number of processes that the pool may have, without starts that only
 * replace a process.
 * @param group the group that wants one more process; or NULL
 */
uint64_t apl_hung_limit(const apl_pool_t *pool, const apl_group_t *group);

/** Does the pool have more processes than apl_hung_limit()? */
int apl_hung_exceeded(const apl_pool_t *pool);

/** The group has one hung process more (by 1) or less (by -1). */
void apl_hung_count(apl_pool_t *pool, apl_group_t *group, int by);

/** Apply options: the credit may change. */
void apl_hung_configure(apl_pool_t *pool, apl_group_t *group,
                        const apl_options_t *options);

#endif
