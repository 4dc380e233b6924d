/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file programs.h
 * @brief Checks the helper programs, apppool-watchdog, apppool-spawner and
 *        apppool-store: are they there, and do they belong to this build?
 *
 * They are opened when an instance starts, and executed by descriptor from then
 * on, so that an upgrade on disk never mixes builds. Their output for --version
 * is compared with that of this build's programs (base/contract.h).
 * httpd remembers which files were right, so each is executed only once for
 * this.
 *
 * Trust: they belong to the administrator. But a program that hangs, or prints
 *        without end, delays httpd by at most 20 seconds.
 */
#ifndef MOD_APPPOOL_PARENT_PROGRAMS_H
#define MOD_APPPOOL_PARENT_PROGRAMS_H

#include <apr_pools.h>

/** The programs, open and close-on-exec. */
typedef struct {
    int watchdog, spawner;
    int store; /**< -1: there is none */
} apppool_programs_t;

/**
 * Open and check the programs of a directory.
 * @param store 1: apppool-store is needed; 0: it may be missing, and is not
 *              checked
 * @return NULL; or the sentence that says what is wrong: nothing is open then
 */
const char *apppool_programs_open(apppool_programs_t *programs, apr_pool_t *p,
                                  const char *libexec, int store);

/** Check apppool-store, which was opened when it was not needed.
 * @return NULL, or the sentence that says what is wrong */
const char *apppool_programs_check_store(int fd, apr_pool_t *p,
                                         const char *libexec);

void apppool_programs_close(apppool_programs_t *programs);

#endif
