/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file turn.h
 * @brief Groups that want a process while there is no room, in the order in
 *        which they are served.
 *
 * A group takes its turn in one of the lists `unserved` and `growing`, and, for
 * the place above the limit, in `above` (capacity.h).
 *
 * Lock:  needed by all.
 * Crash: turns are derived; repair.h makes them again.
 * Trust: see list.h.
 */
#ifndef APPPOOL_SHM_POLICY_TURN_H
#define APPPOOL_SHM_POLICY_TURN_H

#include "shm/lock/lock_token.h"

/** The group takes its turn, behind the others, unless it has one. */
void apl_turn_take(apl_lock_token_t *token, apl_group_t *group);

/** The same for the place above the limit. */
void apl_turn_take_above(apl_lock_token_t *token, apl_group_t *group);

/** Can a group be served now? */
typedef int apl_turn_fits_t(const apl_lock_token_t *token,
                            const apl_group_t *group);

/** Is there room for one more process of the group? */
int apl_turn_has_room(const apl_lock_token_t *token, const apl_group_t *group);

/** May a process of another group make room for this one? Not while the starts
 * of this group fail. And only for its first start: the others wait for free
 * places. */
int apl_turn_may_evict(const apl_lock_token_t *token, const apl_group_t *group);

/**
 * The first group of a list that still wants its turn and fits. A group that
 * does not want its turn any more loses it. With apl_turn_may_evict(), a group
 * whose starts fail takes a turn for the place above the limit instead. So
 * the walk passes each of these groups once.
 * @param fits NULL: each group fits
 * @param but  not this group; or NULL
 */
apl_group_t *apl_turn_next(apl_lock_token_t *token, apl_link_t *list,
                           apl_turn_fits_t *fits, const apl_group_t *but);

/** Of two groups, the one whose first request came first. A group without
 * requests in its queue comes last. @param a or b: NULL is no group */
apl_group_t *apl_turn_older(apl_lock_token_t *token, apl_group_t *a,
                            apl_group_t *b);

/** Does another group that has a turn wait for longer than this one? */
int apl_turn_is_behind(apl_lock_token_t *token, apl_group_t *group);

/** Does the group have an outdated process that may be replaced now? */
int apl_turn_may_replace(const apl_lock_token_t *token,
                         const apl_group_t *group);

/**
 * The next group for the place above the limit. A group that may not start a
 * process now loses its turn, so the walk passes each of them once. The end of
 * its start or of its pause, or the tick, gives the group a new turn.
 */
apl_group_t *apl_turn_next_above(apl_lock_token_t *token);

#endif
