/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkin.h
 * @brief How sessions end. The verbs for it are in checkout.h.
 *
 * Lock:  needed by those that take a token; the others take it themselves.
 * Crash: a session is FREE with one store; its process and counts follow.
 * Trust: the caller trusts nothing but its own apl_hold_t.
 */
#ifndef APL_CHECKIN_H
#define APL_CHECKIN_H

#include "shm/checkout.h"

/** The session of a hold. @return NULL: it is not this child's any more */
apl_session_t *apl_checkin_session(const apl_pool_t *pool,
                                   const apl_hold_t *hold);

/** It waits no more, or was served too late: no process has heard of it. */
void apl_checkin_unused(apl_pool_t *pool, apl_hold_t *hold, int64_t now);

/**
 * The child of a session died. Its process may be at the request yet: then the
 * process keeps the session, as apl_checkout_abandon() says. Else it ends.
 */
void apl_checkin_orphan(apl_held_t *held, apl_session_t *session);

/** End a session that was abandoned: its process is done with it. */
void apl_checkin_reclaim(apl_held_t *held, apl_session_t *session);

#endif
