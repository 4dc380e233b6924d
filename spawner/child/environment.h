/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file environment.h
 * @brief The clean environment that an app starts with.
 */
#ifndef APPPOOL_SPAWNER_CHILD_ENVIRONMENT_H
#define APPPOOL_SPAWNER_CHILD_ENVIRONMENT_H

#include "spawner/child/boot_order.h"
#include "spawner/shared/privilege.h"

/**
 * The same as environment_make(), for a command that is not an app.
 * @param id of the mark
 */
char **environment_of_user(const char *instance, uint64_t id,
                           const privilege_t *who);

/**
 * For execve(); allocated, never freed: the caller becomes another program.
 * @param variables of AppEnvFile, as NAME=value, NULL at the end; or NULL.
 *                  Variables of AppSetEnv replace them
 */
char **environment_make(const boot_t *boot, const privilege_t *who,
                        char *const *variables);

#endif
