/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file adopt.h
 * @brief The spawner's own start: take over the processes of the last
 *        spawner.
 *
 * Crash:  may be repeated at any time.
 * Trust:  a record is believed when a process of that pid, start time and
 *         user runs. A process that bears our mark without one is killed
 *         a moment later (mark_scan.h).
 */
#ifndef APPPOOL_SPAWNER_LIFE_ADOPT_H
#define APPPOOL_SPAWNER_LIFE_ADOPT_H

#include "spawner/state/state.h"

/** Take over every process of the registry; end those that are in none. */
void adopt_all(spawner_t *s);

/** Take over those for which there was no descriptor. */
void adopt_tick(spawner_t *s);

#endif
