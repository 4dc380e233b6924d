/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file hung.h
 * @brief Hung processes, and the capacity they do not count as.
 *
 * A process is hung while one of its requests takes longer than AppHungAfter.
 * The hung processes of a group do not count against MaxInstances and
 * MaxPoolSize, but at most AppHungExtra of them: that is the group's credit. A
 * group whose AppSpawnIfUnder is 0 has none. The pool's limit is MaxPoolSize
 * and the credit of all groups, and the places that credit makes are given away
 * as any others. But a group uses its own credit only while fewer than
 * AppSpawnIfUnder of its processes are not hung. When processes recover, or
 * leave, the credit falls. What is above the limit then goes, as if MaxPoolSize
 * had been lowered.
 *
 * Lock:  needed, but not by apl_hung_is_overdue(), apl_hung_age(), and
 *        apl_hung_exceeded(): without it that one answers for about now.
 * Crash: a process's mark is the truth (process.h); counts follow.
 * Trust: ages and limits are any numbers.
 */
#ifndef APPPOOL_SHM_SLOTS_HUNG_H
#define APPPOOL_SHM_SLOTS_HUNG_H

#include "shm/lock/lock_token.h"

/** Is a request overdue? Here alone. @param age us, without the time it waited
 * in the queue. @param limit us; 0: it may take for ever */
static inline int apl_hung_is_overdue(int64_t age, int64_t limit)
{
    return limit > 0 && age >= limit;
}

/** The request's age at that time, us. */
static inline int64_t apl_hung_age(const apl_session_t *session, int64_t now)
{
    return apl_since(now, session->since);
}

/** The number of the group's hung processes that do not count. */
uint32_t apl_hung_credit(const apl_group_t *group);

/** May the group use its credit: has it too few processes that are not hung?
 * Starts count as such. */
int apl_hung_may_use_credit(const apl_group_t *group);

/** The number of processes that the pool may have, without those that only
 * replace another one.
 * @param group that wants one more; or NULL */
uint64_t apl_hung_limit(const apl_pool_t *pool, const apl_group_t *group);

/** Has the pool more processes than that? */
int apl_hung_exceeded(const apl_pool_t *pool);

/** One more of the group is hung, or one less: by 1 or -1. */
void apl_hung_count(apl_pool_t *pool, apl_group_t *group, int by);

/** Apply options: the credit may be another one. */
void apl_hung_configure(apl_pool_t *pool, apl_group_t *group,
                        const apl_options_t *options);

#endif
