/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_resolve.h
 * @brief Make the applications of a configuration from all its AppRoots, and
 *        check them.
 *
 * Two AppRoots with one group name are one app. If their settings of that app
 * differ, the configuration is refused.
 *
 * A mistake of the configuration itself that can never work is an error: a
 * group name with two meanings, limits that contradict each other. All other
 * mistakes are warnings, also for `httpd -t`. One is the state of an app's
 * files (AppRoot is missing, or belongs to root), because one tenant could
 * otherwise end httpd for all others. Another is a setting that works in some
 * way (minimums above MaxPoolSize).
 *
 * Trust: looks at directories with the rights of the user who starts httpd.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_RESOLVE_H
#define MOD_APPPOOL_CONFIG_APP_RESOLVE_H

#include "mod_apppool/config/app.h"

/**
 * Make the apps of this configuration and connect its mounts with them.
 * Errors and warnings go to the log.
 * @param generation of the configuration, for apl_options_t.config
 * @return OK, or !OK: the configuration cannot be used
 */
int apppool_app_resolve(apr_pool_t *p, server_rec *main_server,
                        apr_uint32_t generation);

#endif
