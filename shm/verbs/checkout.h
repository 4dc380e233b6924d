/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkout.h
 * @brief The verbs of httpd children: get a process for a request. How it is
 *        given back: checkin.h.
 *
 *     rv = apl_checkout(pool, &ref, app, &request, &look, apl_now());
 *     if (rv == APL_EWAIT)
 *         rv = apl_checkout_wait(pool, &ref, deadline, client_gone, r);
 *     if (rv == APR_SUCCESS) {
 *         ... connect to hold.id ...
 *         apl_checkin(pool, &ref, apl_now());
 *     }
 *
 * The algorithm is seeds' get(), checkout_without_lock() and
 * session_has_been_closed() with the decisions listed in ARCHITECTURE.
 *
 * Lock:  each verb takes and gives back the pool lock itself.
 * Crash: a caller that dies leaves its sessions to
 *        apl_child_watch_gone(), or abandoned ones to apl_timeouts_end_abandoned().
 * Trust: the caller trusts nothing but its own apl_session_ref_t.
 */
#ifndef APPPOOL_SHM_VERBS_CHECKOUT_H
#define APPPOOL_SHM_VERBS_CHECKOUT_H

#include "shm/verbs/child.h"
#include "shm/slots/group.h"
#include "shm/policy/restart.h"
#include "shm/format/pool.h"
#include "shm/slots/session.h"
#include "shm/slots/session_ref.h"

/** A request; what the status page shows is copied, cut where too long. */
typedef struct {
    const char *method, *uri, *client;
    const char *query; /**< NULL: nobody is to see it */
    int lasting;       /**< it asks to be upgraded to a connection that lasts */
} apl_request_t;

/** Has the client of a waiting request gone? Called outside the lock. */
typedef int apl_client_gone_t(void *ctx);

/**
 * Ask for a process.
 * @param ref    filled in; to be given to the other verbs
 * @param request may be NULL
 * @param look    what apl_restart_poll() saw, or NULL when it did not look
 * @param now     us
 * @return APR_SUCCESS: the process is held;
 *         APL_EWAIT: it waits in the queue, go on with apl_checkout_wait();
 *         APL_EQUEUEFULL, APL_EBACKOFF (retry_after, error_id), APL_EUNKILLABLE,
 *         APL_EDRAINED, APL_EFULL, APL_ECHILDREN: refused, nothing is held
 */
apr_status_t apl_checkout(apl_pool_t *pool, apl_session_ref_t *ref,
                          const apl_app_t *app, const apl_request_t *request,
                          const apl_restart_seen_t *look, int64_t now);

/**
 * Has the wait ended? Does not sleep.
 * @return APR_SUCCESS, APL_EWAIT; or APL_ESTART, APL_EREFUSED, APL_EDRAINED,
 *         after which nothing is held
 */
apr_status_t apl_checkout_poll(apl_pool_t *pool, apl_session_ref_t *ref,
                               int64_t now);

/**
 * Sleep until the wait ends, in slices of a second at the most.
 * @param deadline us, absolute
 * @param gone     asked after each slice and before success; may be NULL
 * @return APR_SUCCESS: the process is held. APL_ESTART, APL_EREFUSED,
 *         APL_ETIMEOUT, APL_EGONE, APL_ESTOPPING, APL_EDRAINED: nothing is held
 */
apr_status_t apl_checkout_wait(apl_pool_t *pool, apl_session_ref_t *ref,
                               int64_t deadline, apl_client_gone_t *gone,
                               void *ctx);

/** Make every apl_checkout_wait() of this process return APL_ESTOPPING. */
void apl_checkout_stop(apl_pool_t *pool);

/** The answer may last: it is never hung, and its process is never killed
 * because of it. @param how APL_LASTING_RESPONSE, APL_LASTING_CONNECTION */
void apl_checkout_endless(apl_pool_t *pool, const apl_session_ref_t *ref,
                          uint32_t how);

/**
 * The request lasts, or asks to. How many others of its app last already, or
 * asked before it? Looked for without the lock, in a time that grows with the
 * sessions in use. The ones that do not ask, event streams, are counted when
 * their answer begins: of two that begin at once, one may not see the other.
 */
uint32_t apl_checkout_lasting(const apl_pool_t *pool,
                              const apl_session_ref_t *ref);

/** Was the process of this request ended because of a request that took too
 * long? Then the client is told so. */
int apl_checkout_killed(const apl_pool_t *pool, const apl_session_ref_t *ref);

/** The same, and is it being ended by now? It may take its time. */
int apl_checkout_dying(const apl_pool_t *pool, const apl_session_ref_t *ref);

/** Is the process of this link stopped because it had to leave? Then the end of
 * the link is no failure. */
int apl_checkout_closed(const apl_pool_t *pool, const apl_session_ref_t *ref);

#endif
