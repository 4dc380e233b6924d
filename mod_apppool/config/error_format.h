/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file error_format.h
 * @brief ErrorLogFormat for lines that httpd does not write itself: those of
 *        applications and of the helper programs. httpd keeps no text of the
 *        directive, so the module reads it as well.
 *
 * Such lines have no request and no client. httpd's rules say what becomes of
 * an item without a value: `%-a` is a hyphen, and the field of any other is
 * left out.
 */
#ifndef MOD_APPPOOL_CONFIG_ERROR_FORMAT_H
#define MOD_APPPOOL_CONFIG_ERROR_FORMAT_H

#include "mod_apppool/config/config.h"

/** The entry in a command_rec table. httpd's core has the same, and checks the
 * value. */
#define APPPOOL_ERROR_FORMAT                                                   \
    AP_INIT_TAKE12("ErrorLogFormat", apppool_error_format_set, NULL,           \
                   RSRC_CONF,                                                  \
                   "the same for the lines of applications and of the "        \
                   "programs of mod_apppool")

const char *apppool_error_format_set(cmd_parms *cmd, void *dir,
                                     const char *format, const char *more);

/**
 * The format of a server's lines, as system/log.h explains it.
 * @return NULL: httpd's own form
 */
const char *apppool_error_format(apr_pool_t *p, const server_rec *s,
                                 const server_rec *main_server);

/** Warn where a format cannot be used. */
void apppool_error_format_check(apr_pool_t *p, const server_rec *main_server);

#endif
