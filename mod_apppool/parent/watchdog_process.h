/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file watchdog_process.h
 * @brief Start apppool-watchdog, which starts apppool-spawner, and wait for its
 *        end.
 *
 * Lock:  none.
 * Crash: see lifecycle.h.
 * Trust: the watchdog gets the descriptors of base/contract.h and no
 *        others of httpd's (exec_program.h).
 */
#ifndef MOD_APPPOOL_PARENT_WATCHDOG_PROCESS_H
#define MOD_APPPOOL_PARENT_WATCHDOG_PROCESS_H

#include <apr_time.h>
#include <sys/types.h>

#include "mod_apppool/parent/retained.h"
#include "base/heartbeat.h"
#include "base/stderr_file.h"

/** Start the watchdog of an instance; r->watchdog is its pid then.
 * @return 0, or errno */
int apppool_watchdog_process_start(apppool_retained_t *r);

/** Start a watchdog that ends everything in `runtime`, and then ends itself.
 * @return 0, or errno */
int apppool_watchdog_process_end(pid_t *pid, const apppool_retained_t *r,
                                 const char *runtime);

/**
 * Wait for its end.
 * @param status as of waitpid(); -1: it was no child of ours
 * @return 0: it still runs after `limit` us
 */
int apppool_watchdog_process_wait(pid_t pid, apr_interval_time_t limit,
                                  int *status);

/** What the watchdog wrote to stderr before it died: ": ...", or "". */
const char *apppool_watchdog_process_last_words(const apppool_retained_t *r,
                                                char buf[STDERR_FILE_MAX]);

/** Does the watchdog run? A dead one is reaped. @param status of a dead one */
int apppool_watchdog_process_runs(pid_t pid, int *status);

/** Checks in a row that found no heartbeat of the watchdog. 0 if that is not
 * known: the watchdog of an older build has no heartbeat. */
int apppool_watchdog_process_silent(const apppool_retained_t *r,
                                    heartbeat_t *pulse);

#endif
