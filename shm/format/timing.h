/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file timing.h
 * @brief Classes of times, and a percentile of what was counted in them.
 *
 * An octave is what lies between a time and twice that time. It has four
 * classes, and the ratio of their bounds is 2^(1/4). A percentile is the
 * geometric mean of the bounds of its class, so it is wrong by 2^(1/8) at most:
 * 9.1 %. This holds from 64 us to 71 minutes. Equal steps instead of equal
 * ratios would need five classes for each octave, and a quarter more memory.
 *
 * Trust: the counts may be any numbers.
 */
#ifndef APPPOOL_SHM_FORMAT_TIMING_H
#define APPPOOL_SHM_FORMAT_TIMING_H

#include "shm/format/format.h"

/** The class of a time. @param us below 0 counts as 0 @return < APL_TIMES */
uint32_t apl_timing_class(int64_t us);

/** The time that stands for a class, in us. A class that does not exist counts
 * as the last one. */
int64_t apl_timing_value(uint32_t class);

/**
 * A percentile: the class of the smallest time that this part of all times does
 * not exceed.
 * @param part in percent, 1 to 99
 * @return < APL_TIMES; APL_TIME_NONE: nothing was counted
 */
uint32_t apl_timing_percentile(const uint32_t counts[APL_TIMES], uint32_t part);

#endif
