/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file hung.h
 * @brief Hung processes, and the capacity they do not count as.
 *
 * A process is hung while one of its requests takes longer than AppHungAfter.
 * Up to AppHungExtra of a group's hung processes are its credit: so many may
 * be started above MaxInstances and MaxPoolSize, but only while fewer than
 * AppSpawnIfUnder of the group are not hung. Those above MaxPoolSize stand in
 * for hung ones: each is marked with the group whose credit it takes. That is
 * its own, which nobody else may take, but for who gets the place of a
 * stand-in: one that gives way, is replaced or has had its requests hands the
 * mark on. With less credit (they recover, or leave) as many marks go: these
 * processes take places as others do, and the surplus goes as if MaxPoolSize
 * had been lowered.
 *
 * Lock:  needed by those that take a group; the first needs none.
 * Crash: a process's marks are the truth (process.h); counts follow, and who
 *        has a mark without credit loses it.
 * Trust: ages and limits are any numbers.
 */
#ifndef APL_HUNG_H
#define APL_HUNG_H

#include "shm/held.h"

/** Is a request overdue? Here alone. @param age us, without the time it waited
 * in the queue. @param limit us; 0: it may take for ever */
static inline int apl_hung_at(int64_t age, int64_t limit)
{
    return limit > 0 && age >= limit;
}

/** The request's age at that time, us. */
static inline int64_t apl_hung_age(const apl_session_t *session, int64_t now)
{
    return apl_since(now, session->since);
}

/** So many may be started above the group's limit. */
uint32_t apl_hung_credit(const apl_group_t *group);

/** Could one of its hung processes go, and leave enough credit for those that
 * stand in? Else the place would be theirs, and nobody's gain. */
int apl_hung_spares(const apl_group_t *group);

/** May it use credit: has it too few processes that are not hung? */
int apl_hung_short(const apl_group_t *group);

/** May it use credit for one more, above the pool's limit? */
int apl_hung_has_credit(const apl_group_t *group);

/** Has the pool more processes than its limit, but for stand-ins? */
int apl_hung_exceeded(const apl_pool_t *pool);

/** One more of the group is hung, or one less: by 1 or -1. */
void apl_hung_count(apl_pool_t *pool, apl_group_t *group, int by);

/** A process that may be a stand-in is counted, or not any more: by 1 or -1. */
void apl_hung_count_stand_in(apl_pool_t *pool, const apl_process_t *process,
                             int by);

/** `heir` gets the place of a process that will leave. */
void apl_hung_hand_on(apl_process_t *process, apl_process_t *heir);

/** Take the marks of stand-ins for which the group has no credit, of the oldest
 * first. A walk over all slots for each. */
void apl_hung_recall(apl_pool_t *pool, apl_group_t *group);

/** Apply options: the credit may be another one. */
void apl_hung_configure(apl_pool_t *pool, apl_group_t *group,
                        const apl_options_t *options);

#endif
