/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file child_watch.h
 * @brief The spawner's operations on children of httpd: which ones exist, the
 *        death of one, and a roll call of all after damage.
 *
 * Lock:  apl_child_watch_at() needs none. The others take and give back the
 *        pool lock themselves, by apl_enter_patiently(), for a limited number
 *        of slots at a time.
 * Crash: each function may be called again; the next spawner does so.
 * Trust: other processes wrote what is returned. It is a child to watch, and
 *        not an instruction.
 */
#ifndef APPPOOL_SHM_VERBS_CHILD_WATCH_H
#define APPPOOL_SHM_VERBS_CHILD_WATCH_H

#include "shm/format/pool.h"

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
