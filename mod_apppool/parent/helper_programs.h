/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file helper_programs.h
 * @brief The helper programs, apppool-watchdog and apppool-spawner: are they
 *        there, and of this build?
 *
 * They are opened when an instance starts, and executed by descriptor from then
 * on, so that an upgrade on disk never mixes builds. Their output for --version
 * is compared with that of this build's programs (spawner/shared/contract.h).
 *
 * Lock:  none.
 * Crash: not concerned.
 * Trust: they are the administrator's; but a program that hangs or prints
 *        without end does not hold up httpd for more than 20 seconds.
 */
#ifndef MOD_APPPOOL_PARENT_HELPER_PROGRAMS_H
#define MOD_APPPOOL_PARENT_HELPER_PROGRAMS_H

#include <apr_pools.h>

/** Both programs, open and close-on-exec. */
typedef struct {
    int watchdog, spawner;
} apppool_helper_programs_t;

/**
 * Open and check both programs of a directory.
 * @return NULL; or the sentence that says what is wrong: nothing is open then
 */
const char *apppool_helper_programs_open(apppool_helper_programs_t *programs,
                                         apr_pool_t *p, const char *libexec);

void apppool_helper_programs_close(apppool_helper_programs_t *programs);

#endif
