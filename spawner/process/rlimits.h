/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rlimits.h
 * @brief The limits of a process of an app's user: those that httpd was started
 *        with, or those of RLimitCPU, RLimitMEM and RLimitNPROC.
 */
#ifndef APPPOOL_SPAWNER_PROCESS_RLIMITS_H
#define APPPOOL_SPAWNER_PROCESS_RLIMITS_H

#include "spawner/process/app_table.h"

/**
 * Set the limits of this process, which still has root's rights.
 * @param descriptors RLIMIT_NOFILE
 * @return NULL; or the directive whose limit could not be set, and errno
 */
const char *rlimits_apply(const app_entry_t *app,
                          const struct rlimit *descriptors);

#endif
