/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_compare.h
 * @brief Two AppRoots with one group name: are they one app?
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_COMPARE_H
#define MOD_APPPOOL_CONFIG_APP_COMPARE_H

#include "mod_apppool/config/app.h"

/** @return NULL: they are the same app; or the directive that differs */
const char *apppool_app_compare_identity(apr_pool_t *p, const apppool_app_t *a,
                                         const apppool_app_t *b);

/** Are all other directives of the app the same? @return 0: no */
int apppool_app_compare_options(const apppool_app_t *a, const apppool_app_t *b);

#endif
