/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file env_name.h
 * @brief Names of environment variables that AppSetEnv and AppEnvFile may set
 *        for an app. libc only.
 *
 * Trust: takes any bytes.
 */
#ifndef APPPOOL_BASE_ENV_NAME_H
#define APPPOOL_BASE_ENV_NAME_H

#include <stddef.h>

/**
 * @return NULL: it may be set; or the reason why not, which follows the name:
 *         "is set by mod_apppool itself"
 */
const char *env_name_refused(const char *name, size_t length);

#endif
