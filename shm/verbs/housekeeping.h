/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file housekeeping.h
 * @brief The verbs of the spawner that keep the pool in shape: limits, options,
 *        repairs, the tick.
 *
 * Lock:  each verb takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 * Crash: each verb may be called again; the next spawner does so.
 * Trust: what a verb returns is other processes' word: a name to look up in
 *        the app table, nothing to obey.
 */
#ifndef APPPOOL_SHM_VERBS_HOUSEKEEPING_H
#define APPPOOL_SHM_VERBS_HOUSEKEEPING_H

#include "shm/slots/group.h"

/**
 * MaxPoolSize and the configuration generation. A raised limit serves those
 * who wait; a lowered one ends idle processes with the next tick, and others
 * with their requests.
 */
apr_status_t apl_housekeeping_limits(apl_pool_t *pool, uint32_t max,
                                     uint32_t config, int64_t now);

/**
 * Apply an app's options, whatever is there; make its group if `prestart`.
 * @return APR_SUCCESS; or APL_EFULL, APL_EDAMAGED: it could not be made
 */
apr_status_t apl_housekeeping_configure(apl_pool_t *pool, const apl_app_t *app,
                                        int prestart, int64_t now);

/** The app is gone from the configuration: its processes leave. */
apr_status_t apl_housekeeping_remove(apl_pool_t *pool, const char *name,
                                     int64_t now);

/** Name of the group in slot `index`, without the lock. */
apr_status_t apl_housekeeping_group_name(const apl_pool_t *pool, uint32_t index,
                                         char name[APL_NAME_MAX]);

/** There is damage that nobody has met: rebuild lists and counts. */
apr_status_t apl_housekeeping_repair(apl_pool_t *pool, int64_t now);

/**
 * The pool's housekeeping: end what idled too long (never below the
 * minimum), restore minimums, trim what is above the limits, start what
 * waits for the end of a back-off.
 * @param next when to call again at the latest, us; in a second if nothing
 *             is due before
 */
apr_status_t apl_housekeeping_tick(apl_pool_t *pool, int64_t now,
                                   int64_t *next);

#endif
