/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_report.h
 * @brief All directives of an application, with their values and places, for
 *        apppoolctl show.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_REPORT_H
#define MOD_APPPOOL_CONFIG_CONFIG_REPORT_H

#include "mod_apppool/config/app.h"

/** A line for each directive that an application may have: its name, a tab, the
 * value that the configuration gives or else the default, a tab, the place in
 * the configuration or nothing. */
const char *apppool_config_report(apr_pool_t *p, const apppool_app_t *app);

#endif
