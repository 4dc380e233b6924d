/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file adopt.h
 * @brief The spawner's own start: take over the processes of the last
 *        spawner. And its accounts: which processes exist, the registry says.
 *
 * Crash:  may be repeated at any time.
 * Trust:  a record is believed when a process of that pid, start time and
 *         user runs. A slot of the segment without one is emptied, a process
 *         that bears our mark without one is killed.
 */
#ifndef APPPOOL_ADOPT_H
#define APPPOOL_ADOPT_H

#include "spawner/state.h"

/** Take over every process of the registry; end those that are in none. */
void adopt_all(spawner_t *s);

/** Slots that ought to have a process, and have none, become free. */
void adopt_reconcile(spawner_t *s);

#endif
