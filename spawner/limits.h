/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file limits.h
 * @brief What a process of an app's user may use: as httpd was started, or as
 *        RLimitCPU, RLimitMEM and RLimitNPROC say.
 */
#ifndef APPPOOL_LIMITS_H
#define APPPOOL_LIMITS_H

#include "spawner/table.h"

/**
 * Set this process's, which is root's yet.
 * @param descriptors RLIMIT_NOFILE
 * @return NULL; or the directive that could not be followed, and errno
 */
const char *limits_take(const table_app_t *app,
                        const struct rlimit *descriptors);

#endif
