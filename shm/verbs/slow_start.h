/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slow_start.h
 * @brief A start that lasts long: what is known of it before it is ready or has
 *        failed. The spawner writes it to the group. It is for the log, for the
 *        status, and for requests that have left the queue meanwhile.
 *
 * Nothing clears it. It names the process that is being started, so it counts
 * only while this process starts.
 *
 * Lock:  apl_slow_start_write() and apl_slow_start_read() take and give back
 *        the pool lock themselves. apl_slow_start_of() takes none.
 * Crash: the text is for people, and may be a mixture of two texts.
 * Trust: a child of httpd may write any text.
 */
#ifndef APPPOOL_SHM_VERBS_SLOW_START_H
#define APPPOOL_SHM_VERBS_SLOW_START_H

#include "shm/format/pool.h"
#include "shm/slots/group.h"

/** @return APR_SUCCESS; APL_ESTALE: there is no such group; APL_ELOCK: try
 * again later */
apr_status_t apl_slow_start_write(apl_pool_t *pool, const char *name,
                                  const apl_slow_start_t *slow, int64_t now);

/**
 * Does the group wait for its first process, and is that being started? The
 * request that asks may have waited for less time than it takes until a start
 * lasts long.
 * @param slow filled in; its text ends with NUL, and is "" if nothing is known
 * @return 1; 0: no
 */
int apl_slow_start_read(apl_pool_t *pool, const apl_app_t *app,
                        apl_slow_start_t *slow, int64_t now);

/** In a pool or in a copy of it: @return the slow start of the group; NULL:
 * there is none, or it is over */
const apl_slow_start_t *apl_slow_start_of(const apl_pool_t *pool,
                                          const apl_group_t *group);

#endif
