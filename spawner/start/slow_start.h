/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slow_start.h
 * @brief A start that lasts more than a second: tells the pool what is missing,
 *        and what the process or the template has printed last.
 *
 * A request waits for AppQueueTimeout, which is shorter than AppStartTimeout. So
 * its client gets a response before the start has failed. The response and the
 * log say what is known by then (shm/verbs/group_start.h, start_failure.h).
 *
 * Crash:  the next spawner tells it again.
 * Trust:  the output is the app's.
 */
#ifndef APPPOOL_SPAWNER_START_SLOW_START_H
#define APPPOOL_SPAWNER_START_SLOW_START_H

#include "spawner/process/state.h"

/** Call this with each turn of the loop. */
void slow_start_look(spawner_t *s, process_t *p);

#endif
