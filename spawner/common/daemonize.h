/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file daemonize.h
 * @brief Separates watchdog and spawner from httpd, which has started them.
 *        child_reset.h undoes this in their children. libc only.
 */
#ifndef APPPOOL_SPAWNER_COMMON_DAEMONIZE_H
#define APPPOOL_SPAWNER_COMMON_DAEMONIZE_H

/**
 * A session of its own, as httpd signals its process group, and a name. TERM
 * and CHLD are read from a descriptor, what else httpd or a terminal may send
 * is ignored. Orphans of applications become its children.
 * @return the descriptor, non-blocking and close-on-exec
 */
int daemonize(const char *name);

/** What the out-of-memory killer makes of this process, as
 * /proc/PID/oom_score_adj has it: "-1000" never, "0" as of any other. Only root
 * may ask for less, so it is a wish. */
void daemonize_oom_score(const char *score);

#endif
