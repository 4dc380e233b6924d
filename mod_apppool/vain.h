/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file vain.h
 * @brief Directives that are in vain, as another one stands in the way. They
 *        are warned of: whoever gives one expects something of it.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef APPPOOL_VAIN_H
#define APPPOOL_VAIN_H

#include "mod_apppool/app.h"

/** @param max MaxPoolSize */
void apppool_vain_warn(const apppool_app_t *app, apr_int64_t max);

#endif
