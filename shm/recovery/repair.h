/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file repair.h
 * @brief Rebuild lists and counts from the slots.
 *
 * What a slot says is accepted if it makes sense: a known state, and
 * references within their slot arrays to slots in use. Otherwise the slot is
 * emptied. The spawner puts back the processes that really run, from its
 * registry. Lists get the order that they had: processes by age and last use,
 * queues by ticket, turns by the longest wait.
 *
 * A repair never checks which processes are alive. The sessions of a dead
 * child come back when the spawner reports its death.
 *
 * Lock:  needed. O(n log n) in the slots in use.
 * Crash: a repair can be repeated: if a process dies here, the next one
 *        repairs again.
 * Trust: a repair ends and stays in bounds, whatever the bytes are.
 */
#ifndef APPPOOL_SHM_RECOVERY_REPAIR_H
#define APPPOOL_SHM_RECOVERY_REPAIR_H

#include "shm/lock/lock_token.h"

void apl_repair(apl_lock_token_t *token);

#endif
