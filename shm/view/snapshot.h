/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot.h
 * @brief A consistent copy of the pool, for those who only look.
 *
 * The header's sequence is odd while somebody is inside. A copy between two
 * equal even readings is consistent. What is copied so is what lists and
 * counts are made of: of a session the first line, about a quarter of it.
 * The rest of a session is text for people. apl_snapshot_take() copies it
 * afterwards, for each request that is still the same; other texts are empty.
 *
 * Where somebody is inside in each try, the lock is taken for the copy. With
 * 10,000 processes and 100,000 sessions that takes about a millisecond.
 *
 * Lock:  none; or for the time of one copy of the slots in use, without text.
 * Crash: nothing is written.
 * Trust: the copy is other processes' word: indexes are checked by those who
 *        read it, texts are terminated here.
 */
#ifndef APPPOOL_SHM_VIEW_SNAPSHOT_H
#define APPPOOL_SHM_VIEW_SNAPSHOT_H

#include <apr_pools.h>

#include "shm/format/pool.h"

/**
 * Copy the pool, with texts. The result is a handle like any other, in private
 * memory of pool `p`, whose tables hold only the slots up to the marks of use.
 * @return APL_ELOCK: the lock, if it came to that, was not to be had within
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

/** Room for copies of the pool, as long as `p` is there. @return APR_ENOMEM */
apr_status_t apl_snapshot_prepare(apl_snapshot_t *snapshot, apl_pool_t *pool,
                                  apr_pool_t *p);

/**
 * Try to copy. Each call takes about a millisecond at the most.
 * @param enter 1: take the lock for it, by apl_enter_patiently()
 * @return APR_SUCCESS; APR_EAGAIN: somebody was inside; APR_INCOMPLETE: memory
 *         was made ready, call again; APL_ELOCK: the lock is not to be had
 */
apr_status_t apl_snapshot_try(apl_snapshot_t *snapshot, int enter);

#endif
