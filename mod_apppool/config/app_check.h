/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_check.h
 * @brief Is an application as its configuration says possible, and will it do
 *        what the administrator expects? What is wrong is in the log.
 *
 * What the configuration itself says, and what can never work, is an error: the
 * functions that return int find it. The state of an app's files is only a
 * warning: httpd must neither fail to start nor end at a reload because of what
 * the owner of a directory or link can do. The spawner checks the directory
 * again when it starts a process (approot_owner.h).
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: looks at directories with the rights of the user who starts httpd.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_CHECK_H
#define MOD_APPPOOL_CONFIG_APP_CHECK_H

#include "mod_apppool/config/app.h"

/** AppRoot and its user, as far as they can be known now. Sets app->real_root,
 * uid and owner. */
void apppool_app_check_root(apr_pool_t *p, apppool_app_t *app);

/** Would httpd send the application's own files to clients? */
void apppool_app_check_document_root(const apppool_mount_t *mount);

/** Is the module there that speaks AppProtocol? @return 0: no */
int apppool_app_check_protocol(apr_pool_t *p, const apppool_app_t *app);

/** Do its numbers agree with each other? @return 0: no */
int apppool_app_check_limits(const apppool_app_t *app);

/** Has AppPreload On what it needs? @return 0: no */
int apppool_app_check_preload(const apppool_app_t *app);

/** Directives that have no effect, because of another one.
 * @param max MaxPoolSize */
void apppool_app_check_effects(const apppool_app_t *app, apr_int64_t max);

#endif
