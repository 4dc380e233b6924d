/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_label.h
 * @brief The short name of each application, for the log and for people:
 *        "shop" of "shop[4711]".
 *
 * It is AppGroupName. Where there is none, it is the last name of AppRoot's
 * path, without a `current` at its end, as deployments have it. Where several
 * AppRoots would be called the same, each gets as many names of its path as
 * tell it from the others, "alice/shop"; and where one AppRoot is several
 * applications, AppEnvironment tells: "shop (staging)". So no two have the
 * same.
 *
 * Lock:  none.
 * Crash: not concerned.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_LABEL_H
#define MOD_APPPOOL_CONFIG_APP_LABEL_H

#include <apr_tables.h>

/** Give all apps of a configuration, apppool_app_t *, their labels. */
void apppool_app_label_all(apr_pool_t *p, const apr_array_header_t *apps);

#endif
