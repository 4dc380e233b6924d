/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file adopt.h
 * @brief Adopts the processes of the last spawner when a new spawner starts.
 *
 * A template of the last spawner is ended: a process that it forked now would
 * not be a child of this spawner.
 *
 * Crash:  may be repeated at any time.
 * Trust:  a record is used if a process of that pid, start time and user runs.
 *         A process that has our mark but no record is killed a moment later
 *         (mark_scan.h).
 */
#ifndef APPPOOL_SPAWNER_ADOPT_H
#define APPPOOL_SPAWNER_ADOPT_H

#include "spawner/process/state.h"

/** Adopt each process of the registry. End the processes that are not in it. */
void adopt_all(spawner_t *s);

/** Adopt the processes for which there was no descriptor before. */
void adopt_tick(spawner_t *s);

#endif
