/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file child.h
 * @brief A child of httpd registers itself, and the spawner watches it. Only
 *        registered children can have sessions.
 *
 * Lock:  apl_child_confirm() needs it, and apl_child_watch_at() does not. The
 *        others take and give it back themselves. Those of the spawner do so by
 *        apl_enter_patiently(), for a limited number of slots at a time.
 * Crash: a child that dies keeps its slot until the spawner has given its
 *        sessions back. Each function of the spawner may be called again; the
 *        next spawner does so.
 * Trust: a slot may name any process; the spawner only watches it.
 */
#ifndef APPPOOL_SHM_VERBS_CHILD_H
#define APPPOOL_SHM_VERBS_CHILD_H

#include "shm/lock/lock_token.h"

/* ---- a child itself ---- */

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
 * was a roll call, or there is one now, or there was damage, or the child had
 * no slot. The sessions that the child had are given back by then, or before
 * the roll call is over.
 */
void apl_child_confirm(apl_lock_token_t *token);

/** Give this child's slot back if it has no session; at its orderly end. */
void apl_child_unregister(apl_pool_t *pool);

/** USED -> FREE; it must have no session. */
void apl_child_free(apl_lock_token_t *token, apl_child_t *child);

/* ---- the spawner ---- */

/** An httpd child to watch. */
typedef struct {
    uint32_t index, generation;
    apl_identity_t identity;
} apl_child_watch_t;

/** The child in slot `index`, without the lock. @return APL_ESTALE: none */
apr_status_t apl_child_watch_at(const apl_pool_t *pool, uint32_t index,
                                apl_child_watch_t *watch);

/**
 * A child of httpd is gone: its waits end. Its processes keep the requests
 * that they work on, as abandoned sessions (apl_checkin_orphan()).
 * @return APL_ESTALE: the slot belongs to another child by now, or is free
 */
apr_status_t apl_child_watch_gone(apl_pool_t *pool,
                                  const apl_child_watch_t *watch, int64_t now);

/**
 * After damage there may be a session that no child knows of and that would
 * never be given back. So all sessions are taken back, as if all children were
 * gone, and each child takes a new slot with its next request. Requests that
 * have a process continue. Requests that wait get APL_EDAMAGED. They have never
 * reached an app.
 * @return 1: a roll call was due and was done; 0: none was due
 */
int apl_child_watch_roll_call(apl_pool_t *pool, int64_t now);

#endif
