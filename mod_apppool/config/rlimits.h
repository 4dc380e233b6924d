/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rlimits.h
 * @brief The resource limits of an app: RLimitCPU, RLimitMEM and RLimitNPROC,
 *        httpd's own directives, at the place of its AppRoot. They hold for its
 *        processes as they do for CGI scripts.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's; .htaccess, where these directives are
 *        legal, is not read.
 */
#ifndef MOD_APPPOOL_CONFIG_RLIMITS_H
#define MOD_APPPOOL_CONFIG_RLIMITS_H

#include <sys/resource.h>

struct apppool_mount_t;

/** NULL: not set. */
typedef struct {
    const struct rlimit *cpu, *mem, *nproc;
} apppool_rlimits_t;

/** Find the limits beside the AppRoot, or else those of its server. */
apppool_rlimits_t apppool_rlimits_of(const struct apppool_mount_t *mount);

/** Are they the same? */
int apppool_rlimits_equal(const apppool_rlimits_t *a,
                          const apppool_rlimits_t *b);

#endif
