/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file capacity.h
 * @brief The pool's capacity, and which group may start a process next.
 *
 * A start reserves its place. The limit of the pool is MaxPoolSize, plus the
 * hung processes that do not count (hung.h). A start that is to replace an
 * outdated process takes no place from others, but there is only one place
 * above the limit. So count + spawning <= limit + 1, and <= limit without such
 * starts. A try of a failing group that has become live may also stand above
 * the limit, until an idle process can leave. After an early end (backoff.h) it
 * is on trial there: no process leaves for it before its start is a success.
 *
 * A group that wants a process while there is no room takes its turn in one of
 * two lists. A group in `unserved` has no processes, or only hung ones. The
 * process of another group that has been idle longest makes room for it. A
 * group in `growing` has other processes and waits for room. But no process
 * makes room for a group whose starts fail, until one start succeeds. The tries
 * of such a group use the place above the limit, in turn with the starts that
 * replace. When its turn in `unserved` comes, it takes a turn for that place
 * instead.
 *
 * Among all these groups and the group whose process became free, the group
 * whose request has waited longest is served first. So a busy group cannot keep
 * a new one out.
 *
 * Lock:  needed by all; check.c calls apl_capacity_is_left() on a snapshot.
 * Crash: turns are derived; repair.c makes them again.
 * Trust: see list.h. Sums are made in 64 bits, so no count in the segment makes
 *        them overflow.
 */
#ifndef APPPOOL_SHM_POLICY_CAPACITY_H
#define APPPOOL_SHM_POLICY_CAPACITY_H

#include "shm/lock/lock_token.h"

/**
 * Is there room for one more process of the group, after `fewer` processes
 * have left? Leaving processes keep their slots until they are gone.
 * @param group NULL: a group without its own credit
 */
int apl_capacity_is_left(const apl_pool_t *pool, const apl_group_t *group,
                         uint32_t fewer);

/**
 * The group can use one more process: reserve its place, or take a turn, even
 * if another group has waited longer. Call apl_capacity_assign() afterwards.
 * Does nothing while processes of the group are being started and no more are
 * needed (apl_group_may_start()), or the group backs off.
 */
void apl_capacity_ask(apl_lock_token_t *token, apl_group_t *group);

/** As apl_capacity_ask(), if the group was used and has fewer processes than
 * its minimum. */
void apl_capacity_keep_minimum(apl_lock_token_t *token, apl_group_t *group);

/**
 * A process is wanted for a group that has none, although no request waits in
 * its queue. The group gets a place as for a request. If necessary, an idle
 * process of another group leaves. But the group gets no turn.
 * @return 0: there is no place now
 */
int apl_capacity_reserve(apl_lock_token_t *token, apl_group_t *group);

/**
 * If the group has outdated processes, it takes its turn for the place above
 * the limit. That place is for a start of the present revision, which will
 * replace an outdated process. Then the place, if it is free, is given to the
 * group whose turn it is. A group loses its turn if one of its processes is
 * being started, if it backs off, or if it is at its own limit. The end of
 * that start or pause, or the tick, gives it a new turn, behind the others.
 */
void apl_capacity_replace_outdated(apl_lock_token_t *token, apl_group_t *group);

/**
 * A process that took the place above the limit is live and replaces no
 * process of its group: it was the try of a group whose starts had failed. If
 * the pool is above its limit and another group has an idle process, that
 * process leaves now.
 */
void apl_capacity_end_excess(apl_lock_token_t *token, const apl_group_t *group);

/** Give the free places to the groups whose turn it is. */
void apl_capacity_assign(apl_lock_token_t *token);

/**
 * A process of this group became free, or its limits changed: serve its
 * waiters, or the group that has waited longer; then use the room. A process
 * that several requests share is hardly ever idle. So it leaves for an unserved
 * group when it can take another session.
 */
void apl_capacity_share(apl_lock_token_t *token, apl_group_t *group);

/** apl_capacity_share() for all groups, after a repair. */
void apl_capacity_share_all(apl_lock_token_t *token);

/** If the process has only abandoned sessions, it leaves for another group that
 * is unserved. So a request for which no client waits keeps no other app
 * out. */
void apl_capacity_evict_abandoned(apl_lock_token_t *token,
                                  apl_process_t *process);

/** apl_capacity_evict_abandoned() for all processes, for groups that became
 * unserved later. It walks over all slots, so only the tick calls it. */
void apl_capacity_evict_all_abandoned(apl_lock_token_t *token);

#endif
