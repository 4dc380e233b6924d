/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file kill_instance.h
 * @brief The end of an instance: nothing of it may be left. libc only.
 *
 * Crash: may be called again at any time.
 * Trust: processes are known by their cgroup, by the mark that each app gets
 *        and by being children of the caller, the subreaper of all apps. One
 *        whose mark cannot be read (environ_scan.h) is left alone, and logged.
 */
#ifndef APPPOOL_SPAWNER_COMMON_KILL_INSTANCE_H
#define APPPOOL_SPAWNER_COMMON_KILL_INSTANCE_H

/**
 * KILL and reap every process that is in the instance's cgroup, bears its
 * mark or is a child of ours, until none is left; for ten seconds, or
 * the time of one more look. Then remove the cgroup.
 * @param instance hex; "": only children of ours
 * @return how many were left
 */
int kill_instance(const char *instance);

#endif
