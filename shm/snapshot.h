/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file snapshot.h
 * @brief A consistent copy of the pool, for those who only look.
 *
 * The header's sequence is odd while somebody is inside. A copy between two
 * equal even readings is consistent. There are many tries: the lock is taken
 * for the copy only where somebody is inside all the time, who then is dead or
 * stopped.
 *
 * Lock:  none; then for the time of one memcpy of the slots in use.
 * Crash: nothing is written.
 * Trust: the copy is other processes' word: indexes are checked by those who
 *        read it, texts are terminated by apl_snapshot_take().
 */
#ifndef APL_SNAPSHOT_H
#define APL_SNAPSHOT_H

#include <apr_pools.h>

#include "shm/segment.h"

/**
 * Copy the pool. The result is a handle like any other, in private memory of
 * pool `p`, whose tables hold only the slots that were ever used.
 */
apr_status_t apl_snapshot_take(apl_pool_t **copy, apl_pool_t *pool,
                               apr_pool_t *p);

#endif
