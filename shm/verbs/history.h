/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file history.h
 * @brief The last ten minutes of the counters, for the status page.
 *
 * Lock:  takes and gives back the pool lock when a sample is due.
 * Crash: a sample counts from the store of header.n_samples on.
 * Trust: no index is read from the samples. An impossible time is overwritten.
 */
#ifndef APPPOOL_SHM_VERBS_HISTORY_H
#define APPPOOL_SHM_VERBS_HISTORY_H

#include "shm/format/pool.h"

/** Record the counters if APL_SAMPLE_PERIOD is over. Only the spawner calls it.
 * @return APR_SUCCESS; APL_ELOCK: try again later */
apr_status_t apl_history_sample(apl_pool_t *pool, int64_t now);

#endif
