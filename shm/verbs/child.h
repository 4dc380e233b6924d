/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file child.h
 * @brief The httpd children: who may own sessions.
 *
 * Lock:  register and unregister take it themselves; the others need it.
 * Crash: a child that dies keeps its slot until the spawner, which watches
 *        it, has given its sessions back.
 * Trust: a slot may name any process; the spawner only watches it.
 */
#ifndef APPPOOL_SHM_VERBS_CHILD_H
#define APPPOOL_SHM_VERBS_CHILD_H

#include "shm/lock/lock_token.h"

/**
 * Register this process as an httpd child; once, before any checkout. Sets
 * pool->self. Rings for the spawner, which watches it from now on.
 * @param config configuration generation it serves
 * @return APR_SUCCESS; APL_ECHILDREN: no slot
 */
apr_status_t apl_child_register(apl_pool_t *pool, uint32_t config);

/** Is the slot still this child's? Else take another one: the roll was called
 * (housekeeping.h) or is being called, there was damage, or there was none.
 * What the child held is given back by then, or before the roll is over. */
void apl_child_confirm(apl_lock_token_t *token);

/** Take this child's slot back if it holds nothing; at its orderly end. */
void apl_child_unregister(apl_pool_t *pool);

/** USED -> FREE; it must have no session. */
void apl_child_free(apl_lock_token_t *token, apl_child_t *child);

#endif
