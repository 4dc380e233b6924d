/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file php_report.h
 * @brief Says at the start, and at httpd -t, which handlers for scripts do not
 *        count beside an AppRoot, and which handlers and rules of mod_proxy run
 *        the scripts in place of the application.
 *
 * Trust: the configuration is root's. A tenant's files say whether an
 *        application speaks FastCGI.
 */
#ifndef MOD_APPPOOL_CONFIG_PHP_REPORT_H
#define MOD_APPPOOL_CONFIG_PHP_REPORT_H

#include <apr_pools.h>

/** Write the lines, once the mounts have their apps. */
void apppool_php_report(apr_pool_t *p);

#endif
