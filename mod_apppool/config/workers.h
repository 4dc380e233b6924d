/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file workers.h
 * @brief How many of httpd's workers (MaxRequestWorkers) can an app hold? Each
 *        of its requests holds one, whether it waits, runs or is long-lived. An
 *        app that hangs must leave some for everything else that httpd does.
 *        And does its command start workers of its own?
 *
 * Call these when the MPM has checked its own configuration.
 */
#ifndef MOD_APPPOOL_CONFIG_WORKERS_H
#define MOD_APPPOOL_CONFIG_WORKERS_H

#include "mod_apppool/config/app.h"

/** Set the defaults of AppMaxQueue and AppMaxLongLived so that they leave half
 * of the workers free. The app's other options have to be set before. */
void apppool_workers_share(apppool_app_t *app);

/** Warn if the requests that wait and run can take more than half of them. */
void apppool_workers_warn(const apppool_app_t *app);

/** Warn if the command starts more workers of its own than the app gets requests
 * at a time: the pool gives such a server one request at a time, so its other
 * processes only use memory. */
void apppool_workers_warn_own(apr_pool_t *p, const apppool_app_t *app);

#endif
