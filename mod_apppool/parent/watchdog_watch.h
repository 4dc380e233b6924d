/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file watchdog_watch.h
 * @brief httpd's parent watches the watchdogs: the one of its own instance, and
 *        those of old instances that wind down.
 *
 * A watchdog that dies is started again at once, as long as httpd runs. If it
 * dies at once several times in a row, httpd's monitor starts it, every ten
 * seconds. A watchdog that hangs is killed and replaced, also when it has to
 * stop. An old instance of another build that has ended in good order is
 * forgotten.
 *
 * Lock:  none.
 * Crash: see lifecycle.h.
 * Trust: exit codes of our own programs.
 */
#ifndef MOD_APPPOOL_PARENT_WATCHDOG_WATCH_H
#define MOD_APPPOOL_PARENT_WATCHDOG_WATCH_H

#include <httpd.h>

#include "mod_apppool/parent/retained.h"

/** Forget watchdogs that ended between two configurations, when httpd did not
 * report it. */
void apppool_watchdog_watch_collect(void);

/** Start the watchdogs that do not run, and ask httpd to report the end of
 * each. */
void apppool_watchdog_watch_all(apr_pool_t *pconf);

/** Kill the watchdogs that hang. Start those again that died too often in a
 * row. Call it from time to time. */
void apppool_watchdog_watch_check(apr_pool_t *pconf);

/** Tell the watchdog of an instance that the store's table is new. */
void apppool_watchdog_watch_tell(const apppool_retained_t *r);

/** End all watchdogs, and wait for their ends. */
void apppool_watchdog_watch_stop(void);

#endif
