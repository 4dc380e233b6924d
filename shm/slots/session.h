/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file session.h
 * @brief One session slot: a request that waits, or that has a process.
 *
 * Lock:  needed by all that take a token. apl_session_ref_find() does not need
 *        it, because only the child of httpd that owns the slot reuses it.
 *        apl_session_peek() does not need it either, and delays no process.
 * Crash: each move is one store of the state; lists and counts follow.
 * Trust: references are checked. The generation shows whether a process was
 *        replaced by another one in its slot. A child of httpd trusts only its
 *        own apl_session_ref_t. Other processes wrote what is copied: texts are
 *        terminated and may contain any byte.
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

/* ---- without the lock ---- */

/** A reference to a session of this child of httpd, and to the process that the
 * session has. Private memory of the caller. apl_checkout() fills it in. */
typedef struct {
    uint32_t session, generation; /**< slot; 0: nothing is held */
    /* Valid once a verb has returned APR_SUCCESS: */
    uint64_t id;     /**< of the process: names its socket */
    int32_t pid;     /**< for the log */
    apl_wire_t wire; /**< how to reach it; protocol AUTO: it is gone */
    int64_t queued;  /**< us of waiting */
    /* Valid once a verb has returned APL_ESTART, APL_EREFUSED, APL_EBACKOFF: */
    uint64_t error_id;   /**< of the failed start; also in the log */
    int64_t retry_after; /**< us until another start will be tried */
} apl_session_ref_t;

/**
 * The session of the reference.
 * @return NULL: it does not belong to this child any more
 */
apl_session_t *apl_session_ref_find(const apl_pool_t *pool,
                                    const apl_session_ref_t *ref);

/** A consistent copy of the slot of an open session, for callers that only
 * read:
 *
 *     for (i = 1; i <= apl_session_peek_top(pool); i++)
 *         if (apl_session_peek(pool, i, &r) == APR_SUCCESS && ...
 */
typedef struct {
    uint64_t process;    /**< id of the process that it has, to look up */
    uint64_t ticket;     /**< another request has another one */
    int64_t since;       /**< us: when it got the process */
    uint32_t long_lived; /**< as in apl_session_t */
    char method[sizeof((apl_session_t *)0)->method];
    char client[sizeof((apl_session_t *)0)->client]; /**< address */
    char uri[sizeof((apl_session_t *)0)->uri];       /**< path, cut off */
} apl_session_peek_t;

/** No slot with a higher index was ever used. */
uint32_t apl_session_peek_top(const apl_pool_t *pool);

/**
 * The session in slot `index`.
 * @return APL_ESTALE: there is no open session, or it ended just now
 */
apr_status_t apl_session_peek(const apl_pool_t *pool, uint32_t index,
                              apl_session_peek_t *request);

#endif
