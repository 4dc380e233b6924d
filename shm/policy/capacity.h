/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file capacity.h
 * @brief Who may start a process: the pool's capacity, shared between groups.
 *
 * A start reserves its place. The pool's limit is MaxPoolSize, and as many more
 * as hung processes do not count (hung.h). The start of a process that is to
 * replace an outdated one takes no place of others, but there is only one place
 * above the limit: so count + spawning <= limit + 1, and <= limit without
 * those. A try of a failing group that has become live may stand above the
 * limit too, until a process is idle that can go. A group that wants a process
 * while there is no room takes its turn in one of two lists: `starved` has none
 * but hung ones, and for it the longest idle process of another group gives
 * way; `hungry` has others and waits for room. But nobody gives way to a group
 * whose starts fail, before one succeeds: its tries have the place above the
 * limit, in turn with those that replace. When a turn in `starved` comes to
 * such a group, it takes a turn for that place instead. Among all of them, and
 * against the waiters of the group whose process became free, the group whose
 * request waits longest is served first: a busy group cannot starve a new one.
 *
 * Lock:  needed by all.
 * Crash: turns are derived: repair.h gives them anew.
 * Trust: see list.h.
 */
#ifndef APPPOOL_SHM_POLICY_CAPACITY_H
#define APPPOOL_SHM_POLICY_CAPACITY_H

#include "shm/lock/lock_token.h"

/**
 * The group could use a process more: reserve its place, or take a turn, also
 * where another group waits for longer. Then apl_capacity_assign() is to follow.
 * Does nothing while one is being started or the group backs off.
 */
void apl_capacity_ask(apl_lock_token_t *token, apl_group_t *group);

/** The same, if the group was asked for and has less than its minimum. */
void apl_capacity_keep_minimum(apl_lock_token_t *token, apl_group_t *group);

/**
 * Somebody wants a process of a group that has none, and waits in no queue: it
 * gets a place as a request's would, at the cost of an idle process of another
 * group if need be, but no turn.
 * @return 0: there is no place now
 */
int apl_capacity_reserve(apl_lock_token_t *token, apl_group_t *group);

/**
 * If the group has outdated processes, it takes its turn for the place above
 * the limit: for a start of the present revision, which will replace one of
 * them. Then that place is given to the group whose turn it is, unless it is
 * taken. A group in which a process is being started, or that backs off, or
 * that is at its own limit, loses its turn. The end of that start or pause, or
 * the tick, gives it a new one, behind the others.
 */
void apl_capacity_replace_outdated(apl_lock_token_t *token, apl_group_t *group);

/**
 * A process that took the place above the limit is live, and replaces none of
 * its group: it was the try of a group whose starts had failed. Another group's
 * gives way to it now, if the limit is exceeded and one is idle.
 */
void apl_capacity_end_excess(apl_lock_token_t *token, const apl_group_t *group);

/**
 * Is there room for one more of the group, once `fewer` processes are leaving?
 * They keep their slots until they are gone.
 * @param group NULL: one without credit of its own
 */
int apl_capacity_is_left(const apl_pool_t *pool, const apl_group_t *group,
                         uint32_t fewer);

/** Give the room there is to the groups whose turn it is. */
void apl_capacity_assign(apl_lock_token_t *token);

/**
 * Something of this group's became free, or its limits changed: serve its
 * waiters, or the group that has waited longer; then use the room. Processes
 * that requests share are hardly ever idle, so one of them gives way to a
 * starved group when a place in it becomes free.
 */
void apl_capacity_share(apl_lock_token_t *token, apl_group_t *group);

/** The same for all groups, after repair.h. */
void apl_capacity_share_all(apl_lock_token_t *token);

/**
 * If the process has abandoned requests only, it gives way to another group
 * that starves: requests that nobody waits for lock nobody out.
 */
void apl_capacity_evict_abandoned(apl_lock_token_t *token,
                                  apl_process_t *process);

/** The same for all processes, for groups that came to starve later. A walk over
 * all slots: for the tick. */
void apl_capacity_evict_all_abandoned(apl_lock_token_t *token);

#endif
