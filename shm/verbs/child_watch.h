/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file child_watch.h
 * @brief The verbs of the spawner about children of httpd: who there is, one
 *        that is gone, and all of them after damage.
 *
 * Lock:  apl_child_watch_at() needs none. The others take and give back the
 *        pool lock themselves, by apl_enter_patiently(), for a bounded number
 *        of slots at a time.
 * Crash: each verb may be called again; the next spawner does so.
 * Trust: what a verb returns is other processes' word: a child to look for,
 *        nothing to obey.
 */
#ifndef APPPOOL_SHM_VERBS_CHILD_WATCH_H
#define APPPOOL_SHM_VERBS_CHILD_WATCH_H

#include "shm/format/pool.h"

/** An httpd child to watch. */
typedef struct {
    uint32_t index, generation;
    apl_who_t who;
} apl_child_watch_t;

/** The child in slot `index`, without the lock. @return APL_ESTALE: none */
apr_status_t apl_child_watch_at(const apl_pool_t *pool, uint32_t index,
                                apl_child_watch_t *watch);

/** An httpd child is gone: its waits end. What its processes work on they keep,
 * as abandoned requests (apl_checkin_orphan()).
 * @return APL_ESTALE: the slot is another child's, or nobody's, by now */
apr_status_t apl_child_watch_gone(apl_pool_t *pool,
                                  const apl_child_watch_t *watch, int64_t now);

/**
 * After damage a session may be there that no child knows of, and would never
 * be given back. So all sessions are taken back, as if the children were gone,
 * and each child takes a slot anew with its next request. Requests that have
 * their process go on; those that wait get APL_EDAMAGED, and have never reached
 * an app.
 * @return 1: that was due and was done; 0: not
 */
int apl_child_watch_roll_call(apl_pool_t *pool, int64_t now);

#endif
