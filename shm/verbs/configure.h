/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file configure.h
 * @brief The operations by which the spawner brings the configuration into the
 *        pool: the limit of the pool, the options of each app.
 *
 * Lock:  each function takes and gives back the pool lock itself, by
 *        apl_enter_patiently(): APL_ELOCK means try again later.
 *        apl_configure_group_name() needs no lock.
 * Crash: each function may be called again; the next spawner does so.
 * Trust: other processes wrote what is returned. It is a name to look up in the
 *        app table, and not an instruction.
 */
#ifndef APPPOOL_SHM_VERBS_CONFIGURE_H
#define APPPOOL_SHM_VERBS_CONFIGURE_H

#include "shm/slots/group.h"

/**
 * Set MaxPoolSize and the configuration generation. A higher limit serves
 * waiters. A lower one ends idle processes at the next tick, and others after
 * their requests.
 */
apr_status_t apl_configure_limits(apl_pool_t *pool, uint32_t max,
                                  uint32_t config, int64_t now);

/**
 * Apply the options of an app to its group, if there is one. With `prestart`,
 * make the group.
 * @return APR_SUCCESS; APL_EFULL or APL_EDAMAGED: it could not be made
 */
apr_status_t apl_configure_group(apl_pool_t *pool, const apl_app_t *app,
                                 int prestart, int64_t now);

/** The app is no longer in the configuration: its processes leave. */
apr_status_t apl_configure_remove(apl_pool_t *pool, const char *name,
                                  int64_t now);

/** The name of the group in slot `index`, without the lock. */
apr_status_t apl_configure_group_name(const apl_pool_t *pool, uint32_t index,
                                      char name[APL_NAME_MAX]);

#endif
