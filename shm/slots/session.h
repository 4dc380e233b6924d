/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session.h
 * @brief One session slot: a request that waits, or that has a process.
 *
 * Lock:  needed by all.
 * Crash: each move is one store of the state; lists and counts follow.
 * Trust: references are checked. The generation shows whether a process was
 *        replaced by another one in its slot.
 */
#ifndef APPPOOL_SHM_SLOTS_SESSION_H
#define APPPOOL_SHM_SLOTS_SESSION_H

#include "shm/lock/lock_token.h"

/** apl_session_t.killed: why does its process end? */
enum {
    APL_KILLED = 1, /**< because of a request that took too long */
    APL_CLOSED,     /**< it had to leave, and had no other requests */
    APL_DYING,      /**< as APL_KILLED, and it has got SIGTERM */
};

/** apl_session_t.long_lived: why the session may last for any time. Such a
 * session never makes its process hung. */
enum {
    APL_LONG_LIVED_RESPONSE = 1, /**< a response that httpd does not store */
    /** An upgraded connection, or an event stream. Its client opens another one
     * when it ends. */
    APL_LONG_LIVED_CONNECTION,
};

/**
 * A free slot for this child of httpd. It is still FREE.
 * @return NULL: the slot array is full
 */
apl_session_t *apl_session_take(apl_lock_token_t *token, uint32_t owner,
                                const apl_group_t *group);

/** Put back a slot that was taken and not used. */
void apl_session_put_back(apl_lock_token_t *token, apl_session_t *session);

/** FREE or WAITING -> OPEN, with this process. */
void apl_session_give(apl_lock_token_t *token, apl_session_t *session,
                      apl_process_t *process);

/** FREE -> WAITING, at the end of the group's queue. */
void apl_session_queue(apl_lock_token_t *token, apl_session_t *session);

/** WAITING -> FAILED. @param outcome the result that the waiter gets */
void apl_session_fail(apl_lock_token_t *token, apl_session_t *session,
                      apr_status_t outcome);

/** Any state -> FREE. The caller updates the process. */
void apl_session_free(apl_lock_token_t *token, apl_session_t *session);

/** An OPEN session no longer belongs to its child of httpd, but its process
 * keeps it. */
void apl_session_abandon(apl_lock_token_t *token, apl_session_t *session,
                         apl_process_t *process);

/** Count an OPEN session for its process, whose counts began at 0. */
void apl_session_recount(apl_lock_token_t *token, const apl_session_t *session,
                         apl_process_t *process);

/** The oldest abandoned session of a process; or NULL. */
apl_session_t *apl_session_oldest_abandoned(const apl_lock_token_t *token,
                                            const apl_process_t *process);

/** Free the abandoned sessions of a process that is gone. */
void apl_session_free_abandoned(apl_lock_token_t *token,
                                const apl_process_t *process);

/** The process of an OPEN session. @return NULL: it is gone */
apl_process_t *apl_session_process(const apl_lock_token_t *token,
                                   const apl_session_t *session);

/** The group of a session. @return NULL: damage */
apl_group_t *apl_session_group(apl_lock_token_t *token,
                               const apl_session_t *session);

#endif
