/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rlimits.h
 * @brief What a process of an app's user may use: as httpd was started, or as
 *        RLimitCPU, RLimitMEM and RLimitNPROC say.
 */
#ifndef APPPOOL_SPAWNER_CHILD_RLIMITS_H
#define APPPOOL_SPAWNER_CHILD_RLIMITS_H

#include "spawner/state/app_table.h"

/**
 * Set this process's, which is root's yet.
 * @param descriptors RLIMIT_NOFILE
 * @return NULL; or the directive that could not be followed, and errno
 */
const char *rlimits_apply(const app_entry_t *app,
                          const struct rlimit *descriptors);

#endif
