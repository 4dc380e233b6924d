/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file kill_instance.h
 * @brief The end of an instance: kills all its processes. libc only.
 *
 * Crash: may be called again at any time.
 * Trust: a process belongs to the instance if it is in its cgroup, has its
 *        mark, or is a child of the caller, which is the subreaper of all apps.
 *        A process whose mark cannot be read (environ_scan.h) is left alone,
 *        and the log names it.
 */
#ifndef APPPOOL_SYSTEM_KILL_INSTANCE_H
#define APPPOOL_SYSTEM_KILL_INSTANCE_H

/**
 * Send KILL to each process that is in the instance's cgroup, has its mark or
 * is a child of ours, and reap it. Repeat this until none is left, for at most
 * ten seconds. A scan that has begun by then is finished. Then remove the
 * cgroup.
 * @param instance hex; "": only children of ours
 * @return how many were left
 */
int kill_instance(const char *instance);

#endif
