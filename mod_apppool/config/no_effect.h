/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file no_effect.h
 * @brief Directives that are in vain, as another one stands in the way. They
 *        are warned of: whoever gives one expects something of it.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_NO_EFFECT_H
#define MOD_APPPOOL_CONFIG_NO_EFFECT_H

#include "mod_apppool/config/app.h"

/** @param max MaxPoolSize */
void apppool_no_effect_warn(const apppool_app_t *app, apr_int64_t max);

#endif
