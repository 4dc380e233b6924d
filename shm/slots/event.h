/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file event.h
 * @brief The last APL_EVENT_MAX events for the administrator to read.
 *
 * Lock:  needed.
 * Crash: the event that was being written may be lost, or have half a text.
 * Trust: only people read events. No decision depends on them.
 */
#ifndef APPPOOL_SHM_SLOTS_EVENT_H
#define APPPOOL_SHM_SLOTS_EVENT_H

#include "shm/lock/lock_token.h"

/** Record an event. @param group, process may be NULL */
void apl_event_note(apl_lock_token_t *token, uint32_t kind,
                    const apl_group_t *group, const apl_process_t *process);

/**
 * Add the reason to the last recorded event.
 * @param error_id of a start that failed; 0: none
 */
void apl_event_explain(apl_lock_token_t *token, const char *reason,
                       uint64_t error_id);

#endif
