/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file cgroup.h
 * @brief Makes a cgroup for each process of an app, and for each command of
 *        AppNotify, if cgroup v2 may be written to. Processes that such a
 *        process starts cannot leave its cgroup. So a kill of the cgroup
 *        reaches all of them. libc only: the watchdog uses it too.
 *
 *     OURS/apppool-INSTANCE/ID    OURS: the cgroup that httpd runs in
 *
 * Cgroups are optional. Without them, processes are known by session and mark.
 *
 * Errors: -1: there is no such cgroup.
 * Crash:  the next spawner finds each cgroup by its name. A cgroup that exists
 *         contains its process, because a child that cannot enter its cgroup
 *         removes it.
 * Trust:  the kernel writes what is read here. Apps may not write there.
 */
#ifndef APPPOOL_SYSTEM_CGROUP_H
#define APPPOOL_SYSTEM_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * Use cgroups from now on, if that is possible. Make the cgroup of the
 * instance.
 * @param instance 16 hex digits
 * @param text     for the log: where it is, or why there is none
 * @return 0, or -1
 */
int cgroup_open(const char *instance, char *text, size_t size);

/**
 * In the forked child: make the cgroup of process `id` and enter it.
 * @return 0: the child is in it, or cgroups are not used here; -1 with errno:
 *         it could not be made or entered, and does not exist
 */
int cgroup_enter(uint64_t id);

/**
 * Make the cgroup of process `id` and move a child of the caller into it. The
 * child was not reaped, so no other process has its pid.
 * @return as cgroup_enter(); -1 with ESRCH: the child is dead
 */
int cgroup_move(uint64_t id, pid_t pid);

/** Send SIGKILL to all processes in it. @return 0, or -1 */
int cgroup_kill(uint64_t id);

/** Does anything run in it? @return 1, 0, or -1 */
int cgroup_populated(uint64_t id);

/** Call `each` for the pid of each process in it. The process may be gone by
 * then. The time depends on the number of processes. @return 0, or -1 */
int cgroup_members(uint64_t id, void (*each)(pid_t pid, void *ctx), void *ctx);

/** Is process `pid` in it? Only the file of that process is read. */
int cgroup_has(uint64_t id, pid_t pid);

/** A child that calls cgroup_members() must keep this descriptor open.
 * @return -1: there is none */
int cgroup_descriptor(void);

/** Remove it. @return 0: there is none (any more); -1: it is not empty */
int cgroup_remove(uint64_t id);

/** Call `each` for every cgroup that there is. */
void cgroup_each(void (*each)(uint64_t id, void *ctx), void *ctx);

/**
 * The end of an instance, no matter which program made its cgroup: send SIGKILL
 * to all processes in it, and remove it when it is empty.
 * @return 1: it is not empty yet; 0: there is none (any more)
 */
int cgroup_sweep(const char *instance);

#endif
