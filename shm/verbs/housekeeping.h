/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file housekeeping.h
 * @brief The operations of the spawner that keep the pool in order: the tick,
 *        and a repair.
 *
 * Lock:  each function takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 * Crash: each function may be called again; the next spawner does so.
 * Trust: damage that the tick meets is repaired before it gives the lock back.
 */
#ifndef APPPOOL_SHM_VERBS_HOUSEKEEPING_H
#define APPPOOL_SHM_VERBS_HOUSEKEEPING_H

#include "shm/format/pool.h"

/** There is damage that no operation has met: rebuild lists and counts. */
apr_status_t apl_housekeeping_repair(apl_pool_t *pool, int64_t now);

/**
 * The regular work: end processes that were idle for too long (but keep the
 * minimum), restore minimums, end what is above the limits, and start what has
 * waited for the end of a back-off.
 * @param next when to call again at the latest, us; in a second if nothing is
 *             due before
 */
apr_status_t apl_housekeeping_tick(apl_pool_t *pool, int64_t now,
                                   int64_t *next);

#endif
