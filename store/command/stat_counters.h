/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file stat_counters.h
 * @brief The counters of a space, summed over all workers.
 *
 * A counter belongs to its worker, and the status page needs counters that only
 * grow. So `stats reset` remembers what they were, for this command only.
 *
 * Lock:  none; single loads and stores.
 * Crash: what was remembered is gone, as the counters are.
 */
#ifndef APPPOOL_STORE_COMMAND_STAT_COUNTERS_H
#define APPPOOL_STORE_COMMAND_STAT_COUNTERS_H

#include "store/memory/extent.h"

/** The sums since the last reset. */
void store_stat_counters_sum(const store_space_t *, store_counters_t *);

void store_stat_counters_reset(const store_space_t *);

/** The space is forgotten, and has no connections. So the space that gets its
 * slot begins with zeros. */
void store_stat_counters_forget(const store_space_t *);

#endif
