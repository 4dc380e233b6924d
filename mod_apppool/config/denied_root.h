/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file denied_root.h
 * @brief An application whose DocumentRoot is where httpd denies everything.
 *
 * Debian and RHEL deny all access below <Directory />. A URL of the application
 * passes the directory walk of DocumentRoot as a URL of a file does, so it gets
 * 403 until a section for DocumentRoot grants access. That is httpd's rule. It
 * stays, because such a section also protects the application. `httpd -t`, and
 * the log beside the 403, name the missing section.
 *
 * This reads the tree of the configuration. It logs only what is certain: if a
 * pattern or a condition may decide, it logs nothing.
 */
#ifndef MOD_APPPOOL_CONFIG_DENIED_ROOT_H
#define MOD_APPPOOL_CONFIG_DENIED_ROOT_H

#include "mod_apppool/config/config.h"

/** Log a warning about this AppRoot if access to DocumentRoot is denied. */
void apppool_denied_root_warn(apr_pool_t *p, const apppool_mount_t *mount);

/** The hook: log the reason of a 403 for an application's URL that reached no
 * handler. */
int apppool_denied_root_log(request_rec *r);

#endif
