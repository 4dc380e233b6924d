/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cgroup.h
 * @brief Where cgroup v2 may be written to, a cgroup for each process of an
 *        app, and for each command of AppNotify: nothing that it starts can
 *        leave it, so nothing is missed when it is killed. libc only: the
 *        watchdog uses it too.
 *
 *     OURS/apppool-INSTANCE/ID    OURS: the cgroup that httpd runs in
 *
 * All of it is optional: without, processes are known by session and mark.
 *
 * Errors: -1: there is no such cgroup.
 * Crash:  what a dead spawner made is found by its name. A cgroup that exists
 *         has its process in it: who cannot enter removes it.
 * Trust:  the kernel's word. Apps may not write there.
 */
#ifndef APPPOOL_SPAWNER_COMMON_CGROUP_H
#define APPPOOL_SPAWNER_COMMON_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Use cgroups from now on, if that is possible; make the instance's.
 * @param instance 16 hex digits
 * @param text     where it is, or why there is none; for people
 * @return 0, or -1
 */
int cgroup_open(const char *instance, char *text, size_t size);

/** Make the cgroup of process `id` and enter it; by the forked child.
 * @return 0: it is in, or cgroups are not used here; -1 with errno: it could
 * not
 * be made or entered, and is not there */
int cgroup_enter(uint64_t id);

/** SIGKILL for all that are in it. @return 0, or -1 */
int cgroup_kill(uint64_t id);

/** Does anything run in it? @return 1, 0, or -1 */
int cgroup_populated(uint64_t id);

/** Call `each` for the pid of every process that is in it; it may be gone by
 * then. It takes as long as there are many. @return 0, or -1 */
int cgroup_members(uint64_t id, void (*each)(pid_t pid, void *ctx), void *ctx);

/** Is process `pid` in it? The kernel is asked for that process alone. */
int cgroup_has(uint64_t id, pid_t pid);

/** What cgroup_members() needs: not to be closed by a child that calls it.
 * @return a descriptor, or -1 */
int cgroup_descriptor(void);

/** Remove it. @return 0: there is none (any more); -1: it is not empty */
int cgroup_remove(uint64_t id);

/** Call `each` for every cgroup that there is. */
void cgroup_each(void (*each)(uint64_t id, void *ctx), void *ctx);

/**
 * The end of an instance, whoever made its cgroup: SIGKILL for all that are
 * in it, and away with it when it is empty.
 * @return 1: it is not empty yet; 0: there is none (any more)
 */
int cgroup_sweep(const char *instance);

#endif
