/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file health.h
 * @brief What a load balancer asks: would this host refuse the next request for
 *        an app? And is the host out, because an administrator says so?
 *
 * A host that is out serves all requests that it gets. Only the response to the
 * balancer changes, so the balancer sends no more requests before httpd stops.
 *
 * Lock:  apl_health_app() takes and gives back the pool lock itself. The other
 *        functions need no lock.
 * Crash: nothing is written but one word.
 * Trust: only the value 1 of that word says that the host is out.
 */
#ifndef APPPOOL_SHM_VERBS_HEALTH_H
#define APPPOOL_SHM_VERBS_HEALTH_H

#include "shm/slots/group.h"

/**
 * What would the next request for this app get? This starts no process and
 * counts nothing.
 * @param ready is a place in the queue of an app without a process too little?
 * @return APR_SUCCESS: a process, or a place in the queue; APL_EDRAINED,
 *         APL_EQUEUEFULL, APL_EBACKOFF, APL_EUNKILLABLE, APL_EFULL,
 *         APL_ECHILDREN, APL_ESTOPPING: it would be refused at once;
 *         APL_EBACKOFF also while the app does not start, but is tried again
 *         without a request; APL_EWAIT: `ready`, and the app has no process;
 *         APL_ELOCK: the lock could not be taken in time
 */
apr_status_t apl_health_app(apl_pool_t *pool, const apl_app_t *app, int ready,
                            int64_t now);

/** Take the host out, or back in. @return 0: it was so already */
int apl_health_set_out(apl_pool_t *pool, int out);

/** Is the host out? */
int apl_health_is_out(const apl_pool_t *pool);

#endif
