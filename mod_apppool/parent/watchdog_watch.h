/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file watchdog_watch.h
 * @brief httpd's parent watches the watchdogs: of its own instance, and of
 *        those of other builds that drain.
 *
 * One that dies is started again, at once, for as long as httpd runs; one
 * that dies at once again and again gets its next chance from httpd's
 * monitor, every ten seconds. One that hangs is ended and replaced, and so is
 * one that does not move when it is to stop. An instance of another build that
 * has ended in good order is forgotten.
 *
 * Lock:  none.
 * Crash: see lifecycle.h.
 * Trust: exit codes of our own programs.
 */
#ifndef MOD_APPPOOL_PARENT_WATCHDOG_WATCH_H
#define MOD_APPPOOL_PARENT_WATCHDOG_WATCH_H

#include <httpd.h>

#include "mod_apppool/parent/retained.h"

/** Forget what has ended while nobody was told: between two configurations. */
void apppool_watchdog_watch_collect(void);

/** Start what does not run, and be told of each one's death. */
void apppool_watchdog_watch_all(apr_pool_t *pconf);

/** End what hangs, and start again what died too often in a row; from time to
 * time. */
void apppool_watchdog_watch_check(apr_pool_t *pconf);

/** End all of them, and wait for that. */
void apppool_watchdog_watch_stop(void);

#endif
