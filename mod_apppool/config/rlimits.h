/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file rlimits.h
 * @brief RLimitCPU, RLimitMEM and RLimitNPROC, httpd's own directives, of the
 *        place where an AppRoot stands: they hold for its processes as they
 *        do for those of CGI scripts.
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: the configuration is root's; .htaccess, where these directives are
 *        legal, is not looked at.
 */
#ifndef MOD_APPPOOL_CONFIG_RLIMITS_H
#define MOD_APPPOOL_CONFIG_RLIMITS_H

#include <sys/resource.h>

struct apppool_mount_t;

/** NULL: not set. */
typedef struct {
    const struct rlimit *cpu, *mem, *nproc;
} apppool_rlimits_t;

/** What was set beside the AppRoot, or for its server. */
apppool_rlimits_t apppool_rlimits_of(const struct apppool_mount_t *mount);

/** Are they the same? */
int apppool_rlimits_equal(const apppool_rlimits_t *a,
                          const apppool_rlimits_t *b);

#endif
