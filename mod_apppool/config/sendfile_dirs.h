/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file sendfile_dirs.h
 * @brief AppSendFile: may the application name files that httpd sends, and in
 *        which directories?
 *
 * Trust: the configuration is root's. Links are followed when it is read,
 *        because an app may be able to change them later.
 */
#ifndef MOD_APPPOOL_CONFIG_SENDFILE_DIRS_H
#define MOD_APPPOOL_CONFIG_SENDFILE_DIRS_H

#include <apr_tables.h>

#include "mod_apppool/config/config.h"

/** A directory that is configured. */
typedef struct {
    const char *name;
    const char *real; /**< links followed, when the configuration was read;
                           NULL: it was not there */
} apppool_sendfile_dir_t;

struct apppool_sendfile_t {
    int on;
    apr_array_header_t *dirs; /**< of apppool_sendfile_dir_t: beside AppRoot */
};

/** The directive: AppSendFile On|Off [DIRECTORY]... */
const char *apppool_sendfile_dirs_set(cmd_parms *cmd, void *dir, int argc,
                                      char *const argv[]);

/** Where is a directory, with links followed? @return NULL: it is not there */
const char *apppool_sendfile_dirs_real(apr_pool_t *p, const char *dir);

#endif
