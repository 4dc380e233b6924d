/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reap.h
 * @brief Reaps dead children, a bounded number at a time. libc only.
 *
 * Watchdog and spawner are subreapers: each orphan of an app becomes their
 * child. An app may leave thousands of children that sleep, and each waitid()
 * walks through them. It may also leave thousands that die each second. So one
 * call has a limit of children and a limit of time.
 *
 * Lock:  one thread.
 * Trust: an app chooses how many children there are.
 */
#ifndef APPPOOL_SYSTEM_REAP_H
#define APPPOOL_SYSTEM_REAP_H

#include <signal.h>

/** The maximum number of children that one call reaps. */
#define REAP_MAX 256

/** A child is dead. The function reaps it, by its pid.
 * @return 0; 1: it was not reaped, so reap_children() ends */
typedef int reap_one_t(const siginfo_t *info, void *ctx);

/**
 * Call `one` for dead children: for at most REAP_MAX of them, and for at most
 * about 50 ms.
 * @return 1: there may be more, and no signal will say so: call again soon
 */
int reap_children(reap_one_t *one, void *ctx);

#endif
