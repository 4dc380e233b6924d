/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file helper.h
 * @brief Start apppool-watchdog, which starts apppool-spawner; tell it to
 *        stop and wait for that.
 *
 * Lock:  none.
 * Crash: see lifecycle.h.
 * Trust: the helper gets the descriptors of spawner/contract.h and nothing
 *        else of httpd's: no other descriptor, no signal setting, and of the
 *        environment only where it speaks of language and time zone.
 */
#ifndef APPPOOL_HELPER_H
#define APPPOOL_HELPER_H

#include <apr_pools.h>
#include <sys/types.h>

/** What the helper gets; all above CONTRACT_LAST_FD. */
typedef struct {
    int life, bell, lock, parent, segment;
} apppool_helper_fds_t;

/**
 * Are both programs there?
 * @return NULL: yes; or the sentence that says which is not
 */
const char *apppool_helper_check(apr_pool_t *p, const char *libexec);

/** Start the watchdog. @return 0, or errno */
int apppool_helper_start(pid_t *pid, const char *libexec, const char *runtime,
                         const apppool_helper_fds_t *fds);

/**
 * Send SIGTERM and wait for the end; after `limit` us SIGKILL.
 * @return exit status as of waitpid(), or -1: it was gone, or had to be killed
 */
int apppool_helper_stop(pid_t pid, apr_interval_time_t limit);

/** Does it run? A dead one is reaped. */
int apppool_helper_runs(pid_t pid);

#endif
