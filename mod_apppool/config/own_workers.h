/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file own_workers.h
 * @brief Commands of servers that start processes of their own. The pool gives
 *        such a server one request at a time, so its other processes only use
 *        memory.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_OWN_WORKERS_H
#define MOD_APPPOOL_CONFIG_OWN_WORKERS_H

#include "mod_apppool/config/app.h"

/** Warn if the app has more of them than requests at a time. */
void apppool_own_workers_warn(apr_pool_t *p, const apppool_app_t *app);

#endif
