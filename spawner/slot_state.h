/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file slot_state.h
 * @brief Does what the segment says about a process. A process that is LEAVING
 *        there is stopped when its requests are finished. WebSockets and event
 *        streams keep it for AppRetireTimeout. Then it is stopped together with
 *        them.
 *
 * Crash:  the next spawner does it; AppRetireTimeout begins again.
 * Trust:  the spawner uses two facts of the segment: whether a process leaves,
 *         and whether it has sessions. It uses them only for processes that it
 *         knows. A child of httpd may write that a request is an upgraded
 *         connection. Then the request is broken off.
 */
#ifndef APPPOOL_SPAWNER_SLOT_STATE_H
#define APPPOOL_SPAWNER_SLOT_STATE_H

#include "spawner/process/state.h"

/** Call this with each turn of the loop. */
void slot_state_apply(spawner_t *s, process_t *p);

#endif
