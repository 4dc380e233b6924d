/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file daemonize.h
 * @brief Separates watchdog and spawner from httpd, which has started them.
 *        child_reset.h undoes this in their children. libc only.
 */
#ifndef APPPOOL_SYSTEM_DAEMONIZE_H
#define APPPOOL_SYSTEM_DAEMONIZE_H

/**
 * Begin a new session, because httpd signals its process group. Also set the
 * name of the process. TERM and CHLD are read from a descriptor. Other signals
 * of httpd or a terminal are ignored. Orphans of applications become children
 * of this process.
 * @param more one more signal that is read from the descriptor; 0: none
 * @return the descriptor, non-blocking and close-on-exec
 */
int daemonize(const char *name, int more);

/** Set /proc/PID/oom_score_adj of this process: "-1000": the out-of-memory
 * killer never takes it; "0": it is like any other process. Only root may lower
 * the value, so this may have no effect. */
void daemonize_oom_score(const char *score);

#endif
