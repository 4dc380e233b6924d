/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checks.h
 * @brief What is looked at, and set, once the configuration was read. A part
 *        for each file.
 */
#ifndef MOD_APPPOOL_CONFIG_CHECKS_H
#define MOD_APPPOOL_CONFIG_CHECKS_H

#include <apr_pools.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/config/config.h"

/* workers.c: how many of httpd's workers (MaxRequestWorkers) can an app hold?
 * Each of its requests holds one, whether it waits, runs or is long-lived. An
 * app that hangs must leave some for everything else that httpd does. And does
 * its command start workers of its own?
 *
 * Call these when the MPM has checked its own configuration. */

/** Set the defaults of AppMaxQueue and AppMaxLongLived so that they leave half
 * of the workers free. The app's other options have to be set before. */
void apppool_workers_share(apppool_app_t *app);

/** Warn if the children of httpd have no room for as many connections without a
 * worker as the app that may have most of them. Its warning has the directives
 * to be written. Also warn of HTTP/2, whose event streams hold a worker. */
void apppool_workers_warn_room(const apr_array_header_t *apps);

/** Warn if the requests that wait and run can take more than half of them. */
void apppool_workers_warn(const apppool_app_t *app);

/** Warn if the command starts workers of its own. With AppConcurrency auto they
 * get requests (detect_program.h), but the pool replaces none that hangs. With
 * fewer requests at a time, they only use memory. */
void apppool_workers_warn_own(apr_pool_t *p, const apppool_app_t *app);

/* config_test.c: what only `httpd -t` looks at, because it takes time for
 * thousands of applications: files and rights that the first request will need.
 * These are only warnings, because a site may be configured before it is
 * deployed.
 *
 * Trust: files are not opened. Their names and modes belong to the users of the
 *        applications. */

/** Look at all mounts and apps of this configuration, and whether a reload can
 * write the PidFile. @return 0: it cannot, so apachectl must not reload */
int apppool_config_test(apr_pool_t *p);

/* php_report.c: says at the start, and at httpd -t, which handlers for scripts
 * do not count beside an AppRoot, and which handlers and rules of mod_proxy run
 * the scripts in place of the application.
 *
 * Trust: the configuration is root's. A tenant's files say whether an
 *        application speaks FastCGI. */

/** Write the lines, once the mounts have their apps. */
void apppool_php_report(apr_pool_t *p);

/* denied_root.c: an application whose DocumentRoot is where httpd denies
 * everything.
 *
 * Debian and RHEL deny all access below <Directory />. A URL of the application
 * passes the directory walk of DocumentRoot as a URL of a file does, so it gets
 * 403 until a section for DocumentRoot grants access. That is httpd's rule. It
 * stays, because such a section also protects the application. `httpd -t`, and
 * the log beside the 403, name the missing section.
 *
 * This reads the tree of the configuration. It logs only what is certain: if a
 * pattern or a condition may decide, it logs nothing. */

/** Log a warning about this AppRoot if access to DocumentRoot is denied. */
void apppool_denied_root_warn(apr_pool_t *p, const apppool_mount_t *mount);

/** The hook: log the reason of a 403 for an application's URL that reached no
 * handler. */
int apppool_denied_root_log(request_rec *r);

#endif
