/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file repair.h
 * @brief Rebuild lists and counts from the slots.
 *
 * What a slot says is believed if it makes sense: a known state, references
 * within their tables to slots in use. Else the slot is emptied; what really
 * runs is put back by the spawner from its registry. Lists get the order they
 * had: processes by age and last use, queues by ticket, turns by who waits
 * longest.
 *
 * Repair never looks who lives: the sessions of a dead child come back when
 * the spawner reports it.
 *
 * Lock:  needed. O(n log n) in the slots in use.
 * Crash: idempotent: whoever dies here leaves it to the next.
 * Trust: ends on any bytes, and stays in bounds.
 */
#ifndef APPPOOL_SHM_RECOVERY_REPAIR_H
#define APPPOOL_SHM_RECOVERY_REPAIR_H

#include "shm/lock/lock_token.h"

void apl_repair(apl_lock_token_t *token);

#endif
