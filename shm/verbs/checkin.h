/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkin.h
 * @brief How sessions end: the operations by which a child of httpd gives a
 *        process back, or reports that it refused the connection; and what
 *        other files of shm/ need for it.
 *
 * Lock:  needed by functions that take a token; the others take it themselves.
 * Crash: a session becomes FREE by one store; its process and counts follow.
 * Trust: the caller trusts only its own apl_session_ref_t.
 */
#ifndef APPPOOL_SHM_VERBS_CHECKIN_H
#define APPPOOL_SHM_VERBS_CHECKIN_H

#include "shm/lock/lock_token.h"
#include "shm/slots/session.h"

/** Close the session: give the process back, to the next waiter if there is
 * one. This also ends a wait. It does nothing if there is no session. */
void apl_checkin(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * As apl_checkin(), but the app was silent for too long and may still work on
 * the request. So the session is abandoned: the process keeps it as if a child
 * of httpd still had it, until apl_timeouts_end_abandoned() says that the app
 * has finished, or the process ends. A process keeps at most AppConcurrency of
 * them (0: one); others are closed. A response that lasts is abandoned, too,
 * where AppConcurrency is not 0; it gets the age of a request that begins now.
 */
void apl_checkin_abandon(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * The process is dead or dying: it refused the connection, or broke it and
 * apl_alive_ending() says so. Detach it. The session ends and does not count
 * as a request of the process. Its time counts if the process was killed
 * because of a request. This may be an early end (backoff.h). The caller then
 * asks again with apl_checkout().
 */
void apl_checkin_refused(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/** As apl_checkin(), but the process is ending: detach it. */
void apl_checkin_last(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * As apl_checkin(), but the process has closed the connection without a
 * complete response. It may be about to end, so the request does not show that
 * its start was a success (backoff.h).
 */
void apl_checkin_unanswered(apl_pool_t *pool, apl_session_ref_t *ref,
                            int64_t now);

/* ---- for the other verbs of shm/ ---- */

/** The request does not wait any more, or got its process too late. No process
 * has seen it. */
void apl_checkin_unused(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * The child of httpd that has the session died. Its process may still work on
 * the request; then the session is abandoned, as in apl_checkin_abandon().
 * Otherwise it ends.
 */
void apl_checkin_orphan(apl_lock_token_t *token, apl_session_t *session);

/** End an abandoned session: its process has finished the request. */
void apl_checkin_reclaim(apl_lock_token_t *token, apl_session_t *session);

#endif
