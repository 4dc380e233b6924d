/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file step.h
 * @brief The last ten minutes of each application, and its moments
 *        (slots/numbers.h).
 *
 * Lock:  none: it writes what only the spawner writes, and reads what is shown
 *        to people. A group that ends meanwhile loses nothing but its numbers.
 * Crash: see slots/numbers.h.
 * Trust: a time that is impossible is overwritten.
 */
#ifndef APPPOOL_SHM_VERBS_STEP_H
#define APPPOOL_SHM_VERBS_STEP_H

#include "shm/format/pool.h"

/** Look at each application for which APL_STEP_PERIOD has begun again. Only the
 * spawner calls it. */
void apl_step_sample(apl_pool_t *pool, int64_t now);

#endif
