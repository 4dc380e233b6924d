/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file config_defaults.h
 * @brief What holds for an app where the configuration says nothing, in the
 *        words of the directive, for apppoolctl show.
 *
 * Lock:  none; constant once the configuration was read.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_CONFIG_DEFAULTS_H
#define MOD_APPPOOL_CONFIG_CONFIG_DEFAULTS_H

#include "mod_apppool/config/app.h"

/**
 * The value in force of a directive that nobody has given.
 * @param name of the directive
 * @return NULL: its default is none
 */
const char *apppool_config_defaults_of(apr_pool_t *p, const apppool_app_t *app,
                                       const char *name);

#endif
