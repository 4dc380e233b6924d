/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process.h
 * @brief One process slot: its place in the lists, and the moves between its
 *        states.
 *
 * Lock:  needed by all.
 * Crash: each move is one store of the state; lists and counts follow.
 * Trust: what is read from the slot is checked where it leads somewhere.
 */
#ifndef APPPOOL_SHM_SLOTS_PROCESS_H
#define APPPOOL_SHM_SLOTS_PROCESS_H

#include "shm/lock/lock_token.h"

/** The group of a process, or NULL when it names none (damage). */
apl_group_t *apl_process_group(apl_lock_token_t *token,
                               const apl_process_t *process);

/** The process with this id, whatever its state but FREE. @return or NULL */
apl_process_t *apl_process_find(apl_lock_token_t *token, uint64_t id);

/**
 * FREE -> WANTED: reserve a place. The caller has checked the limits.
 * @param replaces 1: once it is live, an outdated one leaves
 * @return NULL: the table is full
 */
apl_process_t *apl_process_reserve(apl_lock_token_t *token, apl_group_t *group,
                                   int replaces);

/** Nothing of what was in the slot is left, but for its generation, which goes
 * up before: so no session of the past can mean the next process. */
void apl_process_reset(apl_process_t *process);

/** WANTED -> STARTING, with the group's present revision. */
void apl_process_start(apl_lock_token_t *token, apl_process_t *process,
                       uint64_t id);

/** STARTING -> LIVE. */
void apl_process_live(apl_lock_token_t *token, apl_process_t *process);

/** STARTING, LIVE -> LEAVING. @param reason APL_EVENT_* */
void apl_process_leave(apl_lock_token_t *token, apl_process_t *process,
                       uint32_t reason);

/** Any -> FREE. */
void apl_process_free(apl_lock_token_t *token, apl_process_t *process);

/** It is used now; or was, by a verb that read the clock later than this one
 * and had the lock before it. */
static inline void apl_process_touch(const apl_lock_token_t *token,
                                     apl_process_t *process)
{
    if (token->now > process->last_used)
        process->last_used = token->now;
}

/** A session of it was opened, resp. closed: counts and lists follow. Without
 * one it is not hung. */
void apl_process_open(apl_lock_token_t *token, apl_process_t *process);
void apl_process_close(apl_lock_token_t *token, apl_process_t *process);

/** It is hung from now on, or not any more. */
void apl_process_set_hung(apl_lock_token_t *token, apl_process_t *process,
                          int hung);

/**
 * Enter a process into the lists and counts of its state; for repair.h. Its
 * `sessions` must be right.
 */
void apl_process_link(apl_lock_token_t *token, apl_process_t *process);

#endif
