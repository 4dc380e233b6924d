/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file histogram.h
 * @brief Counts how long requests wait and take, in a few classes, for programs
 *        that draw it.
 *
 * Lock:  needed to count.
 * Crash: a count may be missing from its sum; nothing depends on it.
 * Trust: only people read it. No decision depends on it.
 */
#ifndef APPPOOL_SHM_FORMAT_HISTOGRAM_H
#define APPPOOL_SHM_FORMAT_HISTOGRAM_H

#include "shm/format/format.h"

/** The upper bound of each class, in us. */
extern const int64_t apl_histogram_bounds[APL_HISTOGRAM_BOUNDS];

/**
 * Count a time.
 * @param us below 0 counts as 0: times are taken before the lock, not inside
 *           it
 * @return the time, 0 or more
 */
uint64_t apl_histogram_count(apl_histogram_t *h, int64_t us);

#endif
