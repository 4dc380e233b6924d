/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reap.h
 * @brief Dead children are reaped, a bounded number at a time. libc only.
 *
 * Watchdog and spawner are subreapers: each orphan of an app becomes a child
 * of theirs. An app may leave thousands of children that sleep, over which
 * each waitid() walks, and thousands that die each second. So the number of
 * children reaped at a time has a bound, and so has the time.
 *
 * Lock:  none; one thread.
 * Trust: none in the children: an app chooses how many there are.
 */
#ifndef APPPOOL_SPAWNER_COMMON_REAP_H
#define APPPOOL_SPAWNER_COMMON_REAP_H

#include <signal.h>

/** Children that one call reaps at most. */
#define REAP_MAX 256

/** A child is dead. The function reaps it, by its pid.
 * @return 0; 1: it was not reaped, so reap_children() ends */
typedef int reap_one_t(const siginfo_t *info, void *ctx);

/**
 * Call `one` for dead children: for at most REAP_MAX of them, and for about
 * 50 ms at most.
 * @return 1: there may be more, of which no signal tells: call again soon
 */
int reap_children(reap_one_t *one, void *ctx);

#endif
