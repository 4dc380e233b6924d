/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file watchdogs.h
 * @brief httpd's parent starts and watches apppool-watchdog, which starts
 *        apppool-spawner: the one of its own instance, and those of old
 *        instances that wind down.
 *
 * A watchdog that dies is started again at once, as long as httpd runs. If it
 * dies at once several times in a row, httpd's monitor starts it, every ten
 * seconds. A watchdog that hangs is killed and replaced, also when it has to
 * stop. An old instance of another build that has ended in good order is
 * forgotten.
 *
 * Crash: see lifecycle.h.
 * Trust: exit codes of our own programs. A watchdog gets the descriptors of
 *        base/contract.h and no others of httpd's (exec_program.h).
 */
#ifndef MOD_APPPOOL_PARENT_WATCHDOGS_H
#define MOD_APPPOOL_PARENT_WATCHDOGS_H

#include <httpd.h>

#include "mod_apppool/parent/retained.h"

/** Forget watchdogs that ended between two configurations, when httpd did not
 * report it. */
void apppool_watchdogs_collect(void);

/** Start the watchdogs that do not run, and ask httpd to report the end of
 * each. */
void apppool_watchdogs_watch(apr_pool_t *pconf);

/** Kill the watchdogs that hang. Start those again that died too often in a
 * row. Call it from time to time. */
void apppool_watchdogs_check(apr_pool_t *pconf);

/** Tell the watchdog of an instance that the store's table is new. */
void apppool_watchdogs_tell(const apppool_retained_t *r);

/** End all watchdogs, and wait for their ends. */
void apppool_watchdogs_stop(void);

/** Start one more that ends everything in `runtime`, and then ends itself.
 * @return 0, or errno */
int apppool_watchdogs_end(pid_t *pid, const apppool_retained_t *r,
                          const char *runtime);

/**
 * Wait for the end of one.
 * @param status as of waitpid(); -1: it was no child of ours
 * @return 0: it still runs after `limit` us
 */
int apppool_watchdogs_wait(pid_t pid, apr_interval_time_t limit, int *status);

#endif
