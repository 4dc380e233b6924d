/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file reap.h
 * @brief Reaps dead children, a bounded number at a time; kills some and waits
 *        for their end; says in words how one ended. libc only.
 *
 * Watchdog and spawner are subreapers: each orphan of an app becomes their
 * child. An app may leave thousands of children that sleep, and each waitid()
 * walks through them. It may also leave thousands that die each second. So one
 * call has a limit of children and a limit of time.
 *
 * A process that got SIGKILL dies when it runs the next time. On a busy machine
 * it may outlive its parent, and a stop of httpd would leave it behind.
 *
 * Lock:  one thread.
 * Trust: an app chooses how many children there are.
 */
#ifndef APPPOOL_SYSTEM_REAP_H
#define APPPOOL_SYSTEM_REAP_H

#include <signal.h>
#include <sys/types.h>

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

/**
 * Send SIGKILL to these children, and reap them. A child that waits in the
 * kernel may never run again: it is left alone after 100 ms, and any other one
 * after a second. The caller's heart beats meanwhile.
 * @param children pids, none of them reaped yet; the array is changed
 */
void reap_by_kill(pid_t *children, int n);

#define REAP_CAUSE_MAX 64

/**
 * "exit code 3", "signal 9 (SIGKILL)".
 * @param info as waitid() fills it in; si_pid 0: the cause is not known
 * @return text, which is buf
 */
const char *reap_cause(const siginfo_t *info, char buf[REAP_CAUSE_MAX]);

#endif
