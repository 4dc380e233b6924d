/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file retire.h
 * @brief Processes that have to go: at MaxRequests, with their group's
 *        restart, above a limit.
 *
 * Lock:  needed by all.
 * Crash: each process leaves by one store; who is left goes with the next
 *        look.
 * Trust: see list.h.
 */
#ifndef APL_RETIRE_H
#define APL_RETIRE_H

#include "shm/held.h"

/**
 * The group's code is to be loaded anew: its processes leave.
 * @param all 1: also those that are booting. 0 (always_restart.txt): only
 *            those that have had a request
 */
void apl_retire_group(apl_held_t *held, apl_group_t *group, uint32_t reason,
                      int all);

/** A session of the process was closed: did it reach MaxRequests? */
void apl_retire_if_due(apl_held_t *held, apl_group_t *group,
                       apl_process_t *process);

#endif
