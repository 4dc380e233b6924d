/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session.h
 * @brief One session slot: a request that waits, or has a process.
 *
 * Lock:  needed by all.
 * Crash: each move is one store of the state; lists and counts follow.
 * Trust: references are checked; a process that was replaced meanwhile is
 *        told by its generation.
 */
#ifndef APPPOOL_SHM_SLOTS_SESSION_H
#define APPPOOL_SHM_SLOTS_SESSION_H

#include "shm/lock/lock_token.h"

/** apl_session_t.killed: why is its process ended? */
enum {
    APL_KILLED = 1, /**< because of a request that took too long */
    APL_CLOSED,     /**< it had to leave, and had nothing but links */
    APL_DYING,      /**< as APL_KILLED, and by now it was sent SIGTERM */
};

/** apl_session_t.endless: what lasts? */
enum {
    APL_LASTING_RESPONSE = 1, /**< an answer, for as long as it takes */
    APL_LASTING_CONNECTION, /**< a link: upgraded, or an event stream. Its client opens
                * another one when it ends */
};

/**
 * A free slot of this child's, still FREE.
 * @return NULL: the table is full
 */
apl_session_t *apl_session_take(apl_lock_token_t *token, uint32_t owner,
                                const apl_group_t *group);

/** Put back a slot that was taken and not used. */
void apl_session_put_back(apl_lock_token_t *token, apl_session_t *session);

/** FREE, WAITING -> OPEN by this process. */
void apl_session_give(apl_lock_token_t *token, apl_session_t *session,
                      apl_process_t *process);

/** FREE -> WAITING, at the end of its group's queue. */
void apl_session_queue(apl_lock_token_t *token, apl_session_t *session);

/** WAITING -> FAILED. @param outcome what the waiter is told */
void apl_session_fail(apl_lock_token_t *token, apl_session_t *session,
                      apr_status_t outcome);

/** Any -> FREE; the caller sees to the process. */
void apl_session_free(apl_lock_token_t *token, apl_session_t *session);

/** An OPEN one is its child's no more, but its process has it. */
void apl_session_abandon(apl_lock_token_t *token, apl_session_t *session,
                         apl_process_t *process);

/** Count an OPEN one with its process, whose counts began at 0. */
void apl_session_recount(apl_lock_token_t *token, const apl_session_t *session,
                         apl_process_t *process);

/** The abandoned one of a process that it was given first, or NULL. */
apl_session_t *apl_session_oldest_abandoned(const apl_lock_token_t *token,
                                            const apl_process_t *process);

/** Abandoned ones of a process that is gone -> FREE. */
void apl_session_free_abandoned(apl_lock_token_t *token,
                                const apl_process_t *process);

/** The process that an OPEN session has. @return NULL: it is gone */
apl_process_t *apl_session_process(const apl_lock_token_t *token,
                                   const apl_session_t *session);

/** The group it belongs to. @return NULL: damage */
apl_group_t *apl_session_group(apl_lock_token_t *token,
                               const apl_session_t *session);

#endif
