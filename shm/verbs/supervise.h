/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file supervise.h
 * @brief The spawner's operations on one process: take the order to start it,
 *        and report what happened to it. Other operations are in reconcile.h,
 *        housekeeping.h and admin.h.
 *
 * A process is named by its id. The low 16 bits are its slot, so each function
 * finds it in O(1). If the process with that id is not in the expected state
 * any more, the function returns APL_ESTALE and changes nothing.
 *
 * Lock:  each function takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 * Crash: the next spawner continues from the slots and its registry.
 * Trust: other processes wrote what is returned. It is a name to look up in the
 *        app table, or a number to report, and not an instruction.
 */
#ifndef APPPOOL_SHM_VERBS_SUPERVISE_H
#define APPPOOL_SHM_VERBS_SUPERVISE_H

#include "shm/format/pool.h"
#include "shm/policy/backoff.h"

/** The order to start a process. */
typedef struct {
    uint64_t id;             /**< of the new process */
    char name[APL_NAME_MAX]; /**< of the group; NUL-terminated */
} apl_order_t;

/**
 * Take the oldest order: its slot becomes STARTING.
 * @param random 64 random bits, from which the id is made
 * @return APR_SUCCESS; APR_EOF: there is none
 */
apr_status_t apl_supervise_next_order(apl_pool_t *pool, uint64_t random,
                                      int64_t now, apl_order_t *order);

/** The process of an order was forked. Called again when its wire protocol and
 * its stamp are known. The first call comes before the process looks at
 * restart.txt. */
apr_status_t apl_supervise_forked(apl_pool_t *pool, uint64_t id,
                                  const apl_start_t *start, int64_t now);

/**
 * The process accepts requests: it becomes LIVE and serves waiters.
 * @return APR_SUCCESS; APL_ESTALE: it was detached while it booted: stop it
 */
apr_status_t apl_supervise_ready(apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * The start failed: the place is free again, and the group backs off (1 s,
 * doubled with each failure in a row, at most 60 s). Starts that were under way
 * at the same time fail once. If the group has no process and no other start,
 * its waiters get APL_ESTART or APL_EREFUSED.
 * @param ran      1: the app's command was run; 0: it was not run
 * @param error_id 64 random bits that are also in the log
 * @param text     what failed, in a sentence
 */
apr_status_t apl_supervise_failed(apl_pool_t *pool, uint64_t id, int ran,
                                  uint64_t error_id, const char *text,
                                  int64_t now);

/** The process does not exist any more, whatever its state was. A LIVE one died
 * without being asked to; its open sessions end with their requests. If that is
 * a failed start (backoff.h), and the group has no other process and no start,
 * its waiters get APL_ESTART. */
apr_status_t apl_supervise_gone(apl_pool_t *pool, uint64_t id, int64_t now);

/** apl_supervise_gone() when the cause is known. @param reason in a few words,
 * for the events */
apr_status_t apl_supervise_died(apl_pool_t *pool, uint64_t id,
                                const char *reason, int64_t now);

/**
 * Give the process no new session. It ends when its open ones are closed.
 * @param reason APL_EVENT_*
 * @return APR_SUCCESS; APL_ESTALE: no such process, or leaving already
 */
apr_status_t apl_supervise_detach(apl_pool_t *pool, uint64_t id,
                                  uint32_t reason, int64_t now);

/**
 * A process was made from another configuration than the present one. If it
 * boots it leaves; if it is live it continues until another one is there to
 * replace it.
 * @return APR_SUCCESS; APL_ESTALE: no such process, or leaving already
 */
apr_status_t apl_supervise_outdate(apl_pool_t *pool, uint64_t id, int64_t now);

/**
 * Does a leaving process have no session that a client waits for?
 * @return APR_SUCCESS: it may be ended; APL_EWAIT: not yet; APL_ESTALE: it is
 *         not leaving
 */
apr_status_t apl_supervise_may_end(apl_pool_t *pool, uint64_t id, int64_t now);

#endif
