/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file environment.h
 * @brief The clean environment that an app starts with, and its limits: those
 *        that httpd was started with, or those of RLimitCPU, RLimitMEM and
 *        RLimitNPROC.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_ENVIRONMENT_H
#define APPPOOL_SPAWNER_PROCESS_ENVIRONMENT_H

#include "spawner/process/process_files.h"
#include "spawner/process/app_table.h"
#include "detect/detect_found.h"
#include "detect/detect_path.h"
#include "base/privilege.h"

/** What the forked child has to start, and the descriptors that it gets. */
typedef struct {
    const app_entry_t *app;
    const runtime_dir_t *rt;
    const char *instance;
    const char *helpers; /**< directory of the language helpers, or NULL */
    uint64_t id;
    int is_template; /**< of the app: this process does not serve */
    uint32_t port;
    struct rlimit descriptors; /**< RLIMIT_NOFILE that the app gets */
    int listener;              /**< -1: the app binds its socket itself; of a
                                    template: the socket of its orders */
    int output;                /**< the FIFO, open to write */
    int go;                    /**< read end */
    int report;                /**< write end */
} boot_t;

/**
 * The environment of a command that is not an app, for execve().
 * @param id of the mark
 */
char **environment_of_user(const char *instance, uint64_t id,
                           const privilege_t *account);

/** The value of a variable in a list of NAME=value, NULL at the end; NULL: no
 * list. The last one counts. @return NULL: it is not there */
const char *environment_find(const char *const *list, const char *name);

/** The value of a variable of AppSetEnv or AppEnvFile. @param variables of
 * AppEnvFile, as environment_make() gets them. @return NULL: it is not set */
const char *environment_value(const boot_t *boot, char *const *variables,
                              const char *name);

/**
 * For execve(); allocated, never freed: the caller becomes another program.
 * @param path what the files of the app say of PATH
 * @param variables of AppEnvFile, as NAME=value, NULL at the end; or NULL.
 *                  Variables of AppSetEnv replace them
 * @param found if the app is one of node, what it asks of node (NODE_OPTIONS)
 *              ends with our helper for listen(), with AppListen fd. What one
 *              of ruby asks of ruby (RUBYOPT) ends with our helper for its stop
 */
char **environment_make(const boot_t *boot, const privilege_t *account,
                        const detect_path_t *path, char *const *variables,
                        const detect_found_t *found);

/**
 * Set the limits of this process, which still has root's rights.
 * @param descriptors RLIMIT_NOFILE
 * @return NULL; or the directive whose limit could not be set, and errno
 */
const char *environment_limit(const app_entry_t *app,
                              const struct rlimit *descriptors);

#endif
