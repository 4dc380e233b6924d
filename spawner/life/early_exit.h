/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file early_exit.h
 * @brief The start of a process is a success when it has served a request, or
 *        has been ready for a second. Without this rule, a process that ends
 *        as soon as it is ready would be a success each time.
 *
 * Crash: the start of a process that was ready before this spawner began is a
 *        success.
 * Trust: a segment that lies about requests makes a start a success too early,
 *        no more.
 */
#ifndef APPPOOL_SPAWNER_LIFE_EARLY_EXIT_H
#define APPPOOL_SPAWNER_LIFE_EARLY_EXIT_H

#include "spawner/state/state.h"

/** It is dead: did it end by itself as soon as it was ready? To the pool that
 * is a failed start. */
int early_exit_failed(const spawner_t *s, const process_t *p);

/** If its start is a success by now, forget the failed starts of its app, and
 * what it has printed so far. */
void early_exit_check(spawner_t *s, process_t *p);

#endif
