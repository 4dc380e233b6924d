/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_defaults.h
 * @brief The value of a directive that the configuration does not give, written
 *        as the directive would be, for apppoolctl show.
 *
 * Lock:  none; constant once the configuration was read.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_DEFAULTS_H
#define MOD_APPPOOL_CONFIG_CONFIG_DEFAULTS_H

#include "mod_apppool/config/app.h"

/**
 * The value of a directive that the configuration does not give.
 * @param name of the directive
 * @return NULL: it has no default
 */
const char *apppool_config_defaults_of(apr_pool_t *p, const apppool_app_t *app,
                                       const char *name);

#endif
