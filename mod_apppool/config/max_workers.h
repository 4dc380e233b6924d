/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file max_workers.h
 * @brief How many of httpd's workers (MaxRequestWorkers) can an app hold? Each
 *        of its requests has one, whether it waits, runs, or lasts: an app that
 *        hangs must leave some for all that httpd does besides.
 *
 * To be asked when the MPM has checked its own configuration.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_MAX_WORKERS_H
#define MOD_APPPOOL_CONFIG_MAX_WORKERS_H

#include "mod_apppool/config/app.h"

/** Put in the defaults of AppMaxQueue and AppMaxLasting: what half of the
 * workers allows. The app's other options are known. */
void apppool_max_workers_share(apppool_app_t *app);

/** Say so where what waits and what runs take more than half of them. */
void apppool_max_workers_warn(const apppool_app_t *app);

#endif
