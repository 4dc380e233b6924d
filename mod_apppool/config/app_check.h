/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_check.h
 * @brief Can an application run as its configuration says, and will it do what
 *        the administrator expects? Mistakes are written to the log.
 *
 * A mistake of the configuration itself, and a setting that can never work, is
 * an error: the functions that return int find it. The state of an app's files
 * is only a warning: the owner of a directory or a link must not be able to
 * keep httpd from starting, or to end it at a reload. The spawner checks the
 * directory again when it starts a process (approot_owner.h).
 *
 * Trust: looks at directories with the rights of the user who starts httpd.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_CHECK_H
#define MOD_APPPOOL_CONFIG_APP_CHECK_H

#include "mod_apppool/config/app.h"

/** Check AppRoot and its user, as far as they are known now. This sets
 * app->real_root, uid and owner. */
void apppool_app_check_root(apr_pool_t *p, apppool_app_t *app);

/** Is the module loaded that speaks AppProtocol? @return 0: no */
int apppool_app_check_protocol(apr_pool_t *p, const apppool_app_t *app);

/** Do its numbers fit together? @return 0: no */
int apppool_app_check_limits(const apppool_app_t *app);

/** Does the app have what AppPreload On needs? @return 0: no */
int apppool_app_check_preload(const apppool_app_t *app);

/** Warn about directives that have no effect because of another one.
 * @param max MaxPoolSize */
void apppool_app_check_effects(const apppool_app_t *app, apr_int64_t max);

#endif
