/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file set.h
 * @brief Directives that have rules of their own, beside those of value.h. An
 *        error is one sentence with the directive, the value and what is
 *        allowed.
 *
 * Each function is a row of the table in directives.c.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: values are root's, but may be any bytes.
 */
#ifndef MOD_APPPOOL_CONFIG_SET_H
#define MOD_APPPOOL_CONFIG_SET_H

#include <httpd.h>
#include <http_config.h>

/** AppRoot: a directory, or Off. */
const char *apppool_set_root(cmd_parms *cmd, void *dir, const char *arg);

/** AppUser. @param group NULL: the primary group of the user */
const char *apppool_set_user(cmd_parms *cmd, void *dir, const char *user,
                             const char *group);

/** AppSetEnv: the name and the value of an environment variable. */
const char *apppool_set_env(cmd_parms *cmd, void *dir, const char *name,
                            const char *value);

/** AppReady: notify, accept, or a path. */
const char *apppool_set_ready(cmd_parms *cmd, void *dir, const char *arg);

/** AppNotify: a command, with or without the | of a pipe. */
const char *apppool_set_notify(cmd_parms *cmd, void *dir, const char *arg);

/** MaxRequests. @param jitter NULL: 0; it is not inherited. */
const char *apppool_set_requests(cmd_parms *cmd, void *dir, const char *arg,
                                 const char *jitter);

/** AppConcurrency: a number, or auto. */
const char *apppool_set_concurrency(cmd_parms *cmd, void *dir, const char *arg);

/** AppMemoryLimit: a size. A number without a unit is refused if it can only be
 * meant as megabytes. */
const char *apppool_set_memory_limit(cmd_parms *cmd, void *dir,
                                     const char *arg);

/** AppLog: a file, or | and a command. */
const char *apppool_set_log(cmd_parms *cmd, void *dir, const char *arg);

/** AppStatusDetail: basic or full. */
const char *apppool_set_detail(cmd_parms *cmd, void *dir, const char *arg);

#endif
