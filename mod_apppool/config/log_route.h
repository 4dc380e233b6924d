/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file log_route.h
 * @brief Where an app's output goes, in the form of the app table
 *        (spawner/output/log_program.h): AppLog, or the ErrorLog of its virtual
 *        host.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_LOG_ROUTE_H
#define MOD_APPPOOL_CONFIG_LOG_ROUTE_H

#include "mod_apppool/config/app.h"

/**
 * Call it in post_config, when the error logs are open. The route of a virtual
 * host's log is the descriptor that this process, httpd's parent, has open. So
 * the lines go to the same file or pipe that httpd writes to, until the next
 * graceful restart.
 * @return NULL: to the error log of the main server
 */
const char *apppool_log_route(apr_pool_t *p, const apppool_app_t *app,
                              const server_rec *main_server);

#endif
