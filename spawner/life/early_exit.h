/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file early_exit.h
 * @brief A process that is ready has not started well before it has served a
 *        request, or lived for a second: else one that ends at once, again
 *        and again, would start well each time.
 *
 * Crash: one that was ready before our time has started well.
 * Trust: a segment that lies of requests brings forward what is told, no more.
 */
#ifndef APPPOOL_SPAWNER_LIFE_EARLY_EXIT_H
#define APPPOOL_SPAWNER_LIFE_EARLY_EXIT_H

#include "spawner/state/state.h"

/** It is dead: did it end unasked, as soon as it was ready? To the pool that
 * is a failed start. */
int early_exit_failed(const spawner_t *s, const process_t *p);

/** Does it stay by now? Then no start that failed before is of interest, nor
 * what it has printed so far. */
void early_exit_check(spawner_t *s, process_t *p);

#endif
