/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process.h
 * @brief One process slot: its place in the lists, and the moves between its
 *        states.
 *
 * Lock:  needed by all.
 * Crash: each move is one store of the state; lists and counts follow.
 * Trust: a reference that is read from the slot is checked before it is
 *        followed.
 */
#ifndef APPPOOL_SHM_SLOTS_PROCESS_H
#define APPPOOL_SHM_SLOTS_PROCESS_H

#include "shm/lock/lock_token.h"

/** The group of a process. NULL: it names none (damage) */
apl_group_t *apl_process_group(apl_lock_token_t *token,
                               const apl_process_t *process);

/** The process with this id, in any state except FREE; or NULL. */
apl_process_t *apl_process_find(apl_lock_token_t *token, uint64_t id);

/**
 * FREE -> WANTED: reserve a place. The caller has checked the limits.
 * @param replaces 1: when the process is live, an outdated one leaves
 * @return NULL: the slot array is full
 */
apl_process_t *apl_process_reserve(apl_lock_token_t *token, apl_group_t *group,
                                   int replaces);

/** Clear the slot, except for its generation, which goes up first. So no old
 * session can refer to the next process. */
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

/** The process is used now. Another operation may have read the clock later and
 * taken the lock earlier. Then the time of that operation stays. */
static inline void apl_process_touch(const apl_lock_token_t *token,
                                     apl_process_t *process)
{
    if (token->now > process->last_used)
        process->last_used = token->now;
}

/** The process is live, and its trial is over (I21): it counts against the
 * limit of the pool from now on. */
void apl_process_end_trial(apl_lock_token_t *token, apl_process_t *process);

/** A session of the process was opened or closed: counts and lists follow. A
 * process without sessions is not hung. */
void apl_process_open(apl_lock_token_t *token, apl_process_t *process);
void apl_process_close(apl_lock_token_t *token, apl_process_t *process);

/** The process is hung from now on (1), or not any more (0). */
void apl_process_set_hung(apl_lock_token_t *token, apl_process_t *process,
                          int hung);

/** Add a process to the lists and counts of its state; for repair.c. Its
 * `sessions` must be right. */
void apl_process_link(apl_lock_token_t *token, apl_process_t *process);

#endif
