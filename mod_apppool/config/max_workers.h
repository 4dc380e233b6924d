/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file max_workers.h
 * @brief How many of httpd's workers (MaxRequestWorkers) can an app hold? Each
 *        of its requests holds one, whether it waits, runs or is long-lived. An
 *        app that hangs must leave some for everything else that httpd does.
 *
 * Call these when the MPM has checked its own configuration.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_MAX_WORKERS_H
#define MOD_APPPOOL_CONFIG_MAX_WORKERS_H

#include "mod_apppool/config/app.h"

/** Set the defaults of AppMaxQueue and AppMaxLongLived so that they leave half
 * of the workers free. The app's other options have to be set before. */
void apppool_max_workers_share(apppool_app_t *app);

/** Warn if the requests that wait and run can take more than half of them. */
void apppool_max_workers_warn(const apppool_app_t *app);

#endif
