/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkin.h
 * @brief How sessions end. The verbs of httpd children that give a process
 *        back, or report that it refused the connection; and what other files
 *        of shm/ need for it.
 *
 * Lock:  needed by those that take a token; the others take it themselves.
 * Crash: a session is FREE with one store; its process and counts follow.
 * Trust: the caller trusts nothing but its own apl_session_ref_t.
 */
#ifndef APPPOOL_SHM_VERBS_CHECKIN_H
#define APPPOOL_SHM_VERBS_CHECKIN_H

#include "shm/lock/lock_token.h"
#include "shm/slots/session_ref.h"

/**
 * The session is closed: give the process back, to the next waiter if there
 * is one. Also ends a wait. Harmless when nothing is held.
 */
void apl_checkin(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * As apl_checkin(), but the app was silent for too long, and may still work on
 * the request. So the process keeps the session, as if it was its
 * child's, until apl_timeouts_end_abandoned() says that the app is done with it, or the
 * process ends. A process keeps at most AppConcurrency (0: one) of them; others
 * are closed. An answer that lasts is one as well from now on, where
 * AppConcurrency is not 0: it is as young as if it began now.
 */
void apl_checkin_abandon(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * The process is dead or dying: it refused the connection, or broke it and
 * apl_alive_ending() says so. Detach it. The session ends, and does not count
 * as a request of the process. The time that it took counts if the process was
 * killed because of a request. Ask again with apl_checkout().
 */
void apl_checkin_refused(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/* ---- for the other verbs of shm/ ---- */

/** It waits no more, or was served too late: no process has heard of it. */
void apl_checkin_unused(apl_pool_t *pool, apl_session_ref_t *ref, int64_t now);

/**
 * The child of a session died. Its process may be at the request yet: then the
 * process keeps the session, as apl_checkin_abandon() says. Else it ends.
 */
void apl_checkin_orphan(apl_lock_token_t *token, apl_session_t *session);

/** End a session that was abandoned: its process is done with it. */
void apl_checkin_reclaim(apl_lock_token_t *token, apl_session_t *session);

#endif
