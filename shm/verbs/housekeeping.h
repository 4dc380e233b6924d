/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file housekeeping.h
 * @brief The operations of the spawner that keep the pool in order: limits,
 *        options, repairs, the tick.
 *
 * Lock:  each function takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 * Crash: each function may be called again; the next spawner does so.
 * Trust: other processes wrote what is returned: a name to look up in the app
 *        table, nothing to obey.
 */
#ifndef APPPOOL_SHM_VERBS_HOUSEKEEPING_H
#define APPPOOL_SHM_VERBS_HOUSEKEEPING_H

#include "shm/slots/group.h"

/**
 * Set MaxPoolSize and the configuration generation. A higher limit serves
 * waiters. A lower one ends idle processes at the next tick, and others after
 * their requests.
 */
apr_status_t apl_housekeeping_limits(apl_pool_t *pool, uint32_t max,
                                     uint32_t config, int64_t now);

/**
 * Apply the options of an app to its group, if there is one. With `prestart`,
 * make the group.
 * @return APR_SUCCESS; APL_EFULL or APL_EDAMAGED: it could not be made
 */
apr_status_t apl_housekeeping_configure(apl_pool_t *pool, const apl_app_t *app,
                                        int prestart, int64_t now);

/** The app is no longer in the configuration: its processes leave. */
apr_status_t apl_housekeeping_remove(apl_pool_t *pool, const char *name,
                                     int64_t now);

/** The name of the group in slot `index`, without the lock. */
apr_status_t apl_housekeeping_group_name(const apl_pool_t *pool, uint32_t index,
                                         char name[APL_NAME_MAX]);

/** There is damage that no operation has met: rebuild lists and counts. */
apr_status_t apl_housekeeping_repair(apl_pool_t *pool, int64_t now);

/**
 * The regular work: end processes that were idle for too long (but keep the
 * minimum), restore minimums, end what is above the limits, and start what has
 * waited for the end of a back-off.
 * @param next when to call again at the latest, us; in a second if nothing is
 *             due before
 */
apr_status_t apl_housekeeping_tick(apl_pool_t *pool, int64_t now,
                                   int64_t *next);

#endif
