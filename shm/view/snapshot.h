/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot.h
 * @brief A consistent copy of the pool, for callers that only read.
 *
 * The sequence number of the header is odd while a process has the lock. A copy
 * between two equal even readings is consistent. It contains the fields from
 * which lists and counts are made. Of a session, that is only the first cache
 * line, about a quarter. The rest of a session is text for people.
 * apl_snapshot_take() copies that text afterwards, for each request that is
 * still the same. Other texts are empty. The numbers of applications are not
 * copied: they are read in the segment (slots/numbers.h).
 *
 * If a process has the lock in each try, the lock is taken for the copy. With
 * 10,000 processes and 100,000 sessions that takes about a millisecond.
 *
 * Lock:  none; or the lock, for one copy of the slots in use, without text.
 * Crash: nothing is written.
 * Trust: other processes wrote what is copied. The reader checks indexes;
 *        texts are terminated here.
 */
#ifndef APPPOOL_SHM_VIEW_SNAPSHOT_H
#define APPPOOL_SHM_VIEW_SNAPSHOT_H

#include <apr_pools.h>

#include "shm/format/pool.h"

/**
 * Copy the pool, with texts. The result is a handle like any other, in private
 * memory of pool `p`. Its slot arrays contain only the slots up to the marks
 * of use.
 * @return APL_ELOCK: the lock was needed and could not be taken within
 *         pool->patience
 */
apr_status_t apl_snapshot_take(apl_pool_t **copy, apl_pool_t *pool,
                               apr_pool_t *p);

/** A copy without texts, that is made again and again, in short calls. */
typedef struct {
    apl_pool_t *copy;
    apl_pool_t *of;
    apl_capacity_t ready; /**< slots whose memory is there */
} apl_snapshot_t;

/** Prepare memory for copies of the pool, for the lifetime of `p`. @return
 * APR_ENOMEM */
apr_status_t apl_snapshot_prepare(apl_snapshot_t *snapshot, apl_pool_t *pool,
                                  apr_pool_t *p);

/**
 * Try to copy. Each call takes at most about a millisecond.
 * @param enter 1: take the lock for it, by apl_enter_patiently()
 * @return APR_SUCCESS; APR_EAGAIN: a process had the lock; APR_INCOMPLETE:
 *         memory was prepared, call again; APL_ELOCK: the lock could not be
 *         taken
 */
apr_status_t apl_snapshot_try(apl_snapshot_t *snapshot, int enter);

#endif
