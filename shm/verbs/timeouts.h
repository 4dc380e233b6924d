/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file timeouts.h
 * @brief Requests that take too long: the spawner checks all of them once a
 *        second, and acts.
 *
 *     n = apl_timeouts_find(pool, now, overdue, MAX);
 *     for (i = 0; i < n; i++)
 *         apl_timeouts_expire(pool, &overdue[i], now);
 *
 * The spawner's clock is the only one, and it runs without requests. Otherwise
 * no process would notice that all requests hang.
 *
 * Lock:  sessions are read without it. Each function takes and gives it back
 *        itself, by apl_enter_patiently(), for one process at a time.
 * Crash: a mark is one store; the next check marks the rest.
 * Trust: see session.h. What is found without the lock is verified under
 *        the lock.
 */
#ifndef APPPOOL_SHM_VERBS_TIMEOUTS_H
#define APPPOOL_SHM_VERBS_TIMEOUTS_H

#include "shm/slots/session.h"

/**
 * Mark the processes that are hung, unmark those that have recovered, and give
 * the capacity that this frees to waiters.
 * @param overdue filled in: for each process, its oldest request that is older
 *                than kill_after of its app
 * @return how many; the next check finds the others again
 */
uint32_t apl_timeouts_find(apl_pool_t *pool, int64_t now,
                           apl_session_peek_t *overdue, uint32_t max);

/**
 * End a process although it has requests. A process that is LIVE, or LEAVING
 * for another reason, becomes LEAVING with APL_EVENT_KILLED. It does not count
 * any more, so another one may start at once. Its sessions say so
 * (apl_checkout_killed()).
 * @param ticket of a request that the process must still work on; 0: any
 * @return APR_SUCCESS; APL_ESTALE: no such process, or killed already;
 *         APL_EIDLE: it does not work on that request; APL_ELOCK
 */
apr_status_t apl_timeouts_kill(apl_pool_t *pool, uint64_t id, uint64_t ticket,
                               int64_t now);

/**
 * A killed process was sent SIGTERM: its requests do not have to wait for its
 * end (apl_checkout_dying()).
 * @return APL_ESTALE: no such process, or it is not killed; APL_ELOCK
 */
apr_status_t apl_timeouts_term_sent(apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * As apl_timeouts_kill(), for a request that apl_timeouts_find() found, if
 * that request is still overdue.
 * @return APL_EIDLE: it ended or was upgraded meanwhile; else as
 *         apl_timeouts_kill()
 */
apr_status_t apl_timeouts_expire(apl_pool_t *pool,
                                 const apl_session_peek_t *request,
                                 int64_t now);

/**
 * A leaving process is about to be stopped although it has sessions. This is
 * right if each of them is a long-lived connection (APL_LONG_LIVED_CONNECTION)
 * or abandoned. Then the sessions say so (apl_checkout_closed()).
 * @return APR_SUCCESS; APL_EWAIT: it has requests to finish; APL_ESTALE: no
 *         such process; APL_ELOCK
 */
apr_status_t apl_timeouts_close(apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * An app has finished abandoned requests: their sessions end, the oldest
 * first. So no session counts as older than it is.
 * @param n at most this many
 * @return APL_ESTALE: no such process; APL_EIDLE: it has none; APL_ELOCK
 */
apr_status_t apl_timeouts_end_abandoned(apl_pool_t *pool, uint64_t id,
                                        uint32_t n, int64_t now);

/** A leaving process is unkillable: it still exists after SIGKILL. @return
 * APL_ESTALE: no such process, or marked already */
apr_status_t apl_timeouts_mark_unkillable(apl_pool_t *pool, uint64_t id,
                                          int64_t now);

#endif
