/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file removed.h
 * @brief Directives that exist no more. Each one is an error that says what to
 *        do.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's.
 */
#ifndef MOD_APPPOOL_CONFIG_REMOVED_H
#define MOD_APPPOOL_CONFIG_REMOVED_H

#include <http_core.h>

/** The entries of these directives in a command_rec table. */
#define APPPOOL_REMOVED                                                        \
    APPPOOL_REMOVE("AppStoreLarge", APPPOOL_NO_FILES),                         \
        APPPOOL_REMOVE("AppStoreTempDir", APPPOOL_NO_FILES),                   \
        APPPOOL_REMOVE("AppStoreDisk", APPPOOL_NO_FILES)

#define APPPOOL_NO_FILES "values in files are gone: remove this line"

#define APPPOOL_REMOVE(name, what)                                             \
    AP_INIT_RAW_ARGS(name, apppool_removed, (void *)(what), OR_ALL, what)

/** Refuse a directive that is gone. Its cmd_data says why, and what to do.
 * @return the sentence */
const char *apppool_removed(cmd_parms *cmd, void *dir, const char *args);

#endif
