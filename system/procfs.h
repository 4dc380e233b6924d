/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file procfs.h
 * @brief Reads identity, user and mark of processes from /proc. Sends signals
 *        that cannot reach another process with the same pid.
 *
 * libc only: the watchdog uses it too. Nothing allocates.
 *
 * Errors: 0 or a number on success, -1 when there is no such process.
 * Trust:  the kernel writes /proc. But a process can write its own environ.
 */
#ifndef APPPOOL_SYSTEM_PROCFS_H
#define APPPOOL_SYSTEM_PROCFS_H

#include <stdint.h>
#include <sys/types.h>

/** A process as /proc/PID/stat describes it. */
typedef struct {
    pid_t pid, ppid, pgrp, session;
    char state;          /**< 'Z': a zombie */
    uint64_t start;      /**< clock ticks since boot; with pid an identity */
    uint64_t cpu;        /**< clock ticks that it has used */
    uint64_t family_cpu; /**< with those of children that it has waited for */
    int64_t memory;      /**< resident bytes, shared ones as well */
    char name[16];       /**< the name it gave itself: any bytes */
} procfs_t;

/** Read about process `pid`, which may be a zombie. @return 0, or -1: there is
 * none */
int procfs_read(pid_t pid, procfs_t *info);

/** Read about one thread of it. info->pid is then the number of the thread. */
int procfs_thread(pid_t pid, pid_t thread, procfs_t *info);

/** A file of /proc/PID, as far as it fits; NUL-terminated.
 * @return its length, or -1 */
ssize_t procfs_text(pid_t pid, const char *name, char *text, size_t size);

/** Is it known that the process does not run any more? @return 1; 0: it runs,
 * or that is not known, for example because there are no descriptors or no
 * memory */
int procfs_dead(pid_t pid, uint64_t start);

/** Was it sent SIGKILL without being dead yet? Then it waits in the kernel, and
 * never runs its own code again. @return 1 or 0 */
int procfs_is_killed(pid_t pid);

/** The present time of the clock that start times use. */
uint64_t procfs_now(void);

/** Real user of process `pid`. @return 0, or -1 */
int procfs_uid(pid_t pid, uid_t *uid);

/** Resident bytes of process `pid`. A page that several processes share counts
 * in part. @return -1: not known */
int64_t procfs_own_memory(pid_t pid);

/** @return the pid of the process of this pidfd; 0: it is dead and reaped, or
 * not known */
pid_t procfs_of_pidfd(int fd);

/** Call `each` for every process of the system. */
void procfs_each(void (*each)(const procfs_t *info, void *ctx), void *ctx);

/**
 * Read the mark APPPOOL_ID in the environment of the process. A process that
 * has overwritten its environment has none. A process may make us wait for as
 * long as it likes: see environ_scan.h. @return 0, or -1
 */
int procfs_mark(pid_t pid, char *mark, size_t size);

/** A pidfd of exactly this process. @return -1: it is gone (or a zombie) */
int procfs_pidfd(pid_t pid, uint64_t start);

/** A pidfd of the process that has signed this file: "PID START". The file is
 * in a directory of root's. @param pid gets its pid @return -1: it is gone */
int procfs_pidfd_of(int dirfd, const char *file, pid_t *pid);

/** Send a signal to exactly this process. @return 0, or -1 */
int procfs_signal(pid_t pid, uint64_t start, int sign);

#endif
