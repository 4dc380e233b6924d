/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file timeouts.h
 * @brief Requests that take too long: the spawner's look at them, once a
 *        second, and what comes of it.
 *
 *     n = apl_timeouts_find(pool, now, overdue, MAX);
 *     for (i = 0; i < n; i++)
 *         apl_timeouts_expire(pool, &overdue[i], now);
 *
 * There is one clock, and it runs without requests: else nobody would notice
 * that all of them hang.
 *
 * Lock:  sessions are looked at without it; each verb takes and gives it back
 *        itself, by apl_enter_patiently(), for one process at a time.
 * Crash: a mark is one store; the next look marks the rest.
 * Trust: see session_peek.h; what is found without the lock is verified with
 *        it.
 */
#ifndef APPPOOL_SHM_VERBS_TIMEOUTS_H
#define APPPOOL_SHM_VERBS_TIMEOUTS_H

#include "shm/slots/session_peek.h"

/**
 * Mark the processes that are hung, and those that are not any more; give the
 * capacity they do not count as to who waits.
 * @param overdue filled in: of each process, the oldest request that is due to
 *                be killed, its app's kill_after being over
 * @return how many of them; others are found again with the next look
 */
uint32_t apl_timeouts_find(apl_pool_t *pool, int64_t now,
                           apl_session_peek_t *overdue, uint32_t max);

/**
 * End a process although it has requests: LIVE, or LEAVING for another reason,
 * it becomes LEAVING with APL_EVENT_KILLED. It counts no more, so another may
 * be started at once. Its requests are told (apl_checkout_killed()).
 * @param ticket of a request that it must be working on yet; 0: of any
 * @return APR_SUCCESS; APL_ESTALE: no such process, or killed already;
 *         APL_EIDLE: it does not work on that request; APL_ELOCK
 */
apr_status_t apl_timeouts_kill(apl_pool_t *pool, uint64_t id, uint64_t ticket,
                               int64_t now);

/**
 * A killed process was sent SIGTERM: its requests need not wait for its end
 * (apl_checkout_dying()).
 * @return APL_ESTALE: no such process, or it is not killed; APL_ELOCK
 */
apr_status_t apl_timeouts_term_sent(apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * The same as apl_timeouts_kill() for a request that apl_timeouts_find() found, if it
 * is overdue yet.
 * @return APL_EIDLE: it ended, or was upgraded, meanwhile; else as
 *         apl_timeouts_kill()
 */
apr_status_t apl_timeouts_expire(apl_pool_t *pool,
                                 const apl_session_peek_t *request,
                                 int64_t now);

/**
 * A leaving process is about to be stopped although it has sessions. That is
 * right when all of them are links (APL_LASTING_CONNECTION) or abandoned; then they are told
 * (apl_checkout_closed()).
 * @return APR_SUCCESS; APL_EWAIT: it has requests to finish; APL_ESTALE: no
 *         such process; APL_ELOCK
 */
apr_status_t apl_timeouts_close(apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * An app is done with abandoned requests: their sessions end, the oldest
 * first. So none is ever taken for older than it is.
 * @param n how many at the most
 * @return APL_ESTALE: no such process; APL_EIDLE: it has none; APL_ELOCK
 */
apr_status_t apl_timeouts_end_abandoned(apl_pool_t *pool, uint64_t id,
                                        uint32_t n, int64_t now);

/** A leaving process survives SIGKILL. @return APL_ESTALE: no such process, or
 * known already */
apr_status_t apl_timeouts_mark_unkillable(apl_pool_t *pool, uint64_t id,
                                          int64_t now);

#endif
