/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file app_label.h
 * @brief The short name of each application, for the log and for people: "shop"
 *        of "shop[4711]".
 *
 * It is AppGroupName. Without an AppGroupName it is the last name of AppRoot's
 * path; a `current` at its end, as deployments have it, is left out. If several
 * AppRoots would get the same label, each label gets so many names of the path
 * that all labels differ: "alice/shop". If one AppRoot is several applications,
 * AppEnvironment is added: "shop (staging)". So no two applications have the
 * same label.
 *
 * Lock:  none.
 * Crash: not concerned.
 */
#ifndef MOD_APPPOOL_CONFIG_APP_LABEL_H
#define MOD_APPPOOL_CONFIG_APP_LABEL_H

#include <apr_tables.h>

/** Set the labels of all apps of a configuration, apppool_app_t *. */
void apppool_app_label_all(apr_pool_t *p, const apr_array_header_t *apps);

#endif
