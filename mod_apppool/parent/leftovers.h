/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file leftovers.h
 * @brief What an httpd left behind that was killed with its watchdog: ended
 *        before a new instance starts in the same directory.
 *
 * Lock:  the caller has that of the directory.
 * Crash: the next start does it again.
 * Trust: the directory is root's.
 */
#ifndef MOD_APPPOOL_PARENT_LEFTOVERS_H
#define MOD_APPPOOL_PARENT_LEFTOVERS_H

#include <apr_pools.h>

#include "mod_apppool/parent/retained.h"

/**
 * For each runtime directory of `base` that was not left in good order, have
 * a watchdog end the processes that still run, and empty it. Waits for that,
 * for a minute at the most; says so in the log.
 * @param r program, descriptors and `base` are used
 * @return NULL, or the sentence that says what is wrong
 */
const char *apppool_leftovers_end(apppool_retained_t *r, apr_pool_t *p);

#endif
