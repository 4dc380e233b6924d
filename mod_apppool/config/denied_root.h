/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file denied_root.h
 * @brief An application whose DocumentRoot lies where httpd denies everything.
 *
 * Debian and RHEL deny all below <Directory />. A URL of the application goes
 * through the directory walk of DocumentRoot as one of a file does, so it is
 * 403, until a section for DocumentRoot grants it. That is httpd's rule, and it
 * stays, as such a section goes on protecting the application. What is missing
 * is said, by `httpd -t` and beside the 403.
 *
 * The configuration's own tree is read for that, and only what is certain is
 * said: where a pattern or a condition may decide, nothing is.
 *
 * Lock:  none; the tree is constant.
 * Crash: not concerned.
 */
#ifndef MOD_APPPOOL_CONFIG_DENIED_ROOT_H
#define MOD_APPPOOL_CONFIG_DENIED_ROOT_H

#include "mod_apppool/config/config.h"

/** Warn of this AppRoot, if what is in DocumentRoot is denied. */
void apppool_denied_root_warn(apr_pool_t *p, const apppool_mount_t *mount);

/** The hook: a 403 of an application's URL that reached no handler. */
int apppool_denied_root_log(request_rec *r);

#endif
