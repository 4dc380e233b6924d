/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file histogram.h
 * @brief How long requests wait and take: counted in a few classes, for
 *        machines that draw it.
 *
 * Lock:  counting needs it.
 * Crash: a count may lack what its sum has; nothing follows from it.
 * Trust: for people to look at; nothing is decided by it.
 */
#ifndef APPPOOL_SHM_FORMAT_HISTOGRAM_H
#define APPPOOL_SHM_FORMAT_HISTOGRAM_H

#include "shm/format/statistics.h"

/** The classes: up to so many us. */
extern const int64_t apl_histogram_bounds[APL_HISTOGRAM_BOUNDS];

/**
 * Count a time.
 * @param us below 0 is 0: times are taken before the lock, not in it
 * @return the time, 0 or more
 */
uint64_t apl_histogram_count(apl_histogram_t *h, int64_t us);

#endif
