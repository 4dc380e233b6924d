/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file refusal.h
 * @brief Why a request for an app gets no place in the queue.
 *
 * Lock:  needed.
 * Crash: nothing is written.
 * Trust: any values in the group lead to one of the results.
 */
#ifndef APPPOOL_SHM_POLICY_REFUSAL_H
#define APPPOOL_SHM_POLICY_REFUSAL_H

#include <apr_errno.h>

#include "shm/lock/lock_token.h"

/**
 * Would a request be refused if no process of the group is free? A drain is
 * another matter: then a request is refused in any case.
 * @return APR_SUCCESS: it may wait; APL_ESTOPPING: the app is removed;
 *         APL_EBACKOFF: until group.retry_at; APL_EUNKILLABLE; APL_EQUEUEFULL
 */
apr_status_t apl_refusal_of(const apl_lock_token_t *token,
                            const apl_group_t *group);

#endif
