/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slot_state.h
 * @brief What the segment says of a process is done: one that has to leave is
 *        stopped when its requests are finished. WebSockets and event streams
 *        keep it for AppDrainTimeout; then it is stopped with them.
 *
 * Crash:  the next spawner looks again; AppDrainTimeout begins again.
 * Trust:  of the segment only "is it leaving?" and "has it sessions?" are
 *         believed, and only for processes that the spawner knows. A child of
 *         httpd that calls a request a link can have it broken off.
 */
#ifndef APPPOOL_SPAWNER_LIFE_SLOT_STATE_H
#define APPPOOL_SPAWNER_LIFE_SLOT_STATE_H

#include "spawner/state/state.h"

/** With each turn of the loop. */
void slot_state_apply(spawner_t *s, process_t *p);

#endif
