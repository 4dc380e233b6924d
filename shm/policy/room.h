/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file room.h
 * @brief Is there room in the pool for one more process?
 *
 * Lock:  needed by all; check.h calls apl_room_is_left() on a snapshot.
 * Crash: nothing is written.
 * Trust: the sums are made in 64 bits, so no count in the segment makes them
 *        overflow.
 */
#ifndef APPPOOL_SHM_POLICY_ROOM_H
#define APPPOOL_SHM_POLICY_ROOM_H

#include "shm/format/pool.h"

/**
 * Is there room for one more process of the group, after `fewer` processes
 * have left? Leaving processes keep their slots until they are gone.
 * @param group NULL: a group without its own credit
 */
int apl_room_is_left(const apl_pool_t *pool, const apl_group_t *group,
                     uint32_t fewer);

/** Is the one place above the limit free? At most one start is above the limit.
 * The try of a failing group may also find room below it. */
int apl_room_is_left_above(const apl_pool_t *pool);

#endif
