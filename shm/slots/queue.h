/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file queue.h
 * @brief Requests that wait for a process of their group, and their order.
 *
 * A queue is served in the order of arrival, by direct hand-off: the child of
 * httpd that frees a process gives it to the head of the queue and wakes only
 * that request. So no request overtakes another, and no request is woken in
 * vain.
 *
 * Lock:  needed by all.
 * Crash: a waiter that got a process and was not woken looks at its slot again
 *        within a second.
 * Trust: see list.h.
 */
#ifndef APPPOOL_SHM_SLOTS_QUEUE_H
#define APPPOOL_SHM_SLOTS_QUEUE_H

#include <apr_errno.h>

#include "shm/lock/lock_token.h"

/** The request that has waited longest. @return NULL: no request waits */
apl_session_t *apl_queue_head(apl_lock_token_t *token,
                              const apl_group_t *group);

/**
 * Give processes of the group to its waiters, while there are both. At most
 * APL_WAKES_MAX waiters can be woken under one lock; token->more says that
 * more are left.
 */
void apl_queue_serve(apl_lock_token_t *token, apl_group_t *group);

/**
 * End the waits of the group: there will be no process. @return 1:
 * APL_WAKES_MAX waits ended, and some are left
 */
int apl_queue_fail(apl_lock_token_t *token, apl_group_t *group,
                   apr_status_t outcome);

/**
 * Would a request be refused if no process of the group is free? A drain is
 * another matter: then a request is refused in any case.
 * @return APR_SUCCESS: it may wait; APL_ESTOPPING: the app is removed;
 *         APL_EBACKOFF: until group.retry_at; APL_EUNKILLABLE; APL_EQUEUEFULL
 */
apr_status_t apl_queue_refusal(const apl_lock_token_t *token,
                               const apl_group_t *group);

#endif
