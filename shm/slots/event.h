/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file event.h
 * @brief The last APL_EVENT_MAX things that an operator may want to know.
 *
 * Lock:  needed.
 * Crash: the event that was being written may be lost or half a text.
 * Trust: for people to read only.
 */
#ifndef APPPOOL_SHM_SLOTS_EVENT_H
#define APPPOOL_SHM_SLOTS_EVENT_H

#include "shm/lock/lock_token.h"

/** Note an event. @param group, process may be NULL */
void apl_event_note(apl_lock_token_t *token, uint32_t kind,
                    const apl_group_t *group, const apl_process_t *process);

/**
 * Say why, of the last event that was noted.
 * @param error_id of a start that failed; 0: none
 */
void apl_event_explain(apl_lock_token_t *token, const char *reason,
                       uint64_t error_id);

#endif
