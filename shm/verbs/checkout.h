/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkout.h
 * @brief How a child of httpd gets a process for a request. checkin.h says how
 *        it gives the process back.
 *
 *     rv = apl_checkout(pool, &ref, app, &request, &seen, apl_now());
 *     if (rv == APL_EWAIT)
 *         rv = apl_checkout_wait(pool, &ref, deadline, client_gone, r);
 *     if (rv == APR_SUCCESS) {
 *         ... connect to ref.id ...
 *         apl_checkin(pool, &ref, apl_now());
 *     }
 *
 * The algorithm is that of Phusion Passenger's get(), checkout_without_lock()
 * and session_has_been_closed(), with the decisions that ARCHITECTURE lists.
 *
 * Lock:  each function takes and gives back the pool lock itself.
 * Crash: if the caller dies, apl_child_watch_gone() ends its sessions, or
 *        apl_timeouts_end_abandoned() ends the abandoned ones.
 * Trust: the caller trusts only its own apl_session_ref_t.
 */
#ifndef APPPOOL_SHM_VERBS_CHECKOUT_H
#define APPPOOL_SHM_VERBS_CHECKOUT_H

#include "shm/verbs/child.h"
#include "shm/slots/group.h"
#include "shm/policy/restart.h"
#include "shm/format/pool.h"
#include "shm/slots/session.h"

/** A request. Texts for the status page are copied, and cut if they are too
 * long. */
typedef struct {
    const char *method, *uri, *client;
    const char *query; /**< NULL: not shown */
    int wants_upgrade; /**< it asks for an upgraded connection */
} apl_request_t;

/** Has the client of a waiting request left? Called outside the lock. */
typedef int apl_client_gone_t(void *ctx);

/**
 * Ask for a process.
 * @param ref     filled in; pass it to the other functions
 * @param request may be NULL
 * @param look    what apl_restart_poll() saw, or NULL when it did not look
 * @param now     us
 * @return APR_SUCCESS: the session has a process;
 *         APL_EWAIT: it waits in the queue, call apl_checkout_wait();
 *         APL_EQUEUEFULL, APL_EBACKOFF (retry_after, error_id),
 *         APL_EUNKILLABLE, APL_EDRAINED, APL_EFULL, APL_ECHILDREN: refused,
 *         there is no session
 */
apr_status_t apl_checkout(apl_pool_t *pool, apl_session_ref_t *ref,
                          const apl_app_t *app, const apl_request_t *request,
                          const apl_restart_seen_t *look, int64_t now);

/**
 * Has the wait ended? This does not sleep.
 * @return APR_SUCCESS; APL_EWAIT; or APL_ESTART, APL_EREFUSED, APL_EDRAINED,
 *         after which there is no session
 */
apr_status_t apl_checkout_poll(apl_pool_t *pool, apl_session_ref_t *ref,
                               int64_t now);

/**
 * Sleep until the wait ends, for at most a second at a time.
 * @param deadline us, absolute
 * @param gone     asked after each sleep, and before success; may be NULL
 * @return APR_SUCCESS: the session has its process. APL_ESTART, APL_EREFUSED,
 *         APL_ETIMEOUT, APL_EGONE, APL_ESTOPPING, APL_EDRAINED: there is no
 *         session
 */
apr_status_t apl_checkout_wait(apl_pool_t *pool, apl_session_ref_t *ref,
                               int64_t deadline, apl_client_gone_t *gone,
                               void *ctx);

/** Make every apl_checkout_wait() of this process return APL_ESTOPPING. */
void apl_checkout_stop(apl_pool_t *pool);

/**
 * The session is long-lived: its request never makes the process hung, and the
 * process is never killed because of it.
 * @param how APL_LONG_LIVED_RESPONSE, APL_LONG_LIVED_CONNECTION
 */
void apl_checkout_set_long_lived(apl_pool_t *pool, const apl_session_ref_t *ref,
                                 uint32_t how);

/** Long-lived connections of an app. */
typedef struct {
    uint32_t held;      /**< each holds a worker of httpd */
    uint32_t suspended; /**< they hold none */
} apl_long_lived_t;

/**
 * Count the session as a long-lived connection from now on: it is one, or its
 * request asks for an upgrade.
 * @param suspended 1: it will hold no worker of httpd
 * @return the numbers of other long-lived connections of the app, and of other
 *         requests that asked for an upgrade before this one. This is counted
 *         without the lock, in a time that grows with the sessions in use.
 *         Event streams count when their response begins. If two begin at the
 *         same time, one of them may not see the other.
 */
apl_long_lived_t apl_checkout_count_long_lived(const apl_pool_t *pool,
                                               const apl_session_ref_t *ref,
                                               int suspended);

/** Was the process of this request ended because of a request that took too
 * long? Then the error that the client gets says so. */
int apl_checkout_killed(const apl_pool_t *pool, const apl_session_ref_t *ref);

/** Was the process of this request ended as apl_checkout_killed() says, and has
 * it got SIGTERM already? It may still take some time to end. */
int apl_checkout_dying(const apl_pool_t *pool, const apl_session_ref_t *ref);

/** Is the process of this long-lived connection stopped because the process had
 * to leave? Then the end of the connection is no failure. */
int apl_checkout_closed(const apl_pool_t *pool, const apl_session_ref_t *ref);

#endif
