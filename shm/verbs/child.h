/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file child.h
 * @brief A child of httpd registers itself. Only registered children can have
 *        sessions.
 *
 * Lock:  register and unregister take it themselves; the others need it.
 * Crash: a child that dies keeps its slot until the spawner, which watches it,
 *        has given its sessions back.
 * Trust: a slot may name any process; the spawner only watches it.
 */
#ifndef APPPOOL_SHM_VERBS_CHILD_H
#define APPPOOL_SHM_VERBS_CHILD_H

#include "shm/lock/lock_token.h"

/**
 * Register this process as a child of httpd, once, before the first checkout.
 * Sets pool->self and rings the doorbell: the spawner watches the child from
 * now on.
 * @param config the configuration generation that it serves
 * @return APR_SUCCESS; APL_ECHILDREN: no slot is free
 */
apr_status_t apl_child_register(apl_pool_t *pool, uint32_t config);

/**
 * Does the slot still belong to this child? If not, take another one: there
 * was a roll call (child_watch.h), or there is one now, or there was damage,
 * or the child had no slot. The sessions that the child had are given back by
 * then, or before the roll call is over.
 */
void apl_child_confirm(apl_lock_token_t *token);

/** Give this child's slot back if it has no session; at its orderly end. */
void apl_child_unregister(apl_pool_t *pool);

/** USED -> FREE; it must have no session. */
void apl_child_free(apl_lock_token_t *token, apl_child_t *child);

#endif
