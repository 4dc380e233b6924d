/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file procfs.h
 * @brief What /proc tells of processes: who is it, whose is it, does it bear
 *        an app's mark? And signals that cannot hit a stranger.
 *
 * libc only: the watchdog uses it too. Nothing allocates.
 *
 * Errors: 0 or a number on success, -1 when there is no such process.
 * Crash:  no state.
 * Trust:  /proc is the kernel's word, but environ is the process's own.
 */
#ifndef APPPOOL_SPAWNER_COMMON_PROCFS_H
#define APPPOOL_SPAWNER_COMMON_PROCFS_H

#include <stdint.h>
#include <sys/types.h>

/** A process as /proc/PID/stat describes it. */
typedef struct {
    pid_t pid, ppid, pgrp, session;
    char state;     /**< 'Z': a zombie */
    uint64_t start; /**< clock ticks since boot; with pid an identity */
    uint64_t cpu;   /**< clock ticks that it has used */
    int64_t memory; /**< resident bytes, shared ones as well */
    char name[16];  /**< what it calls itself: any bytes */
} procfs_t;

/** Who is process `pid`? Zombies count. @return 0, or -1: there is none */
int procfs_read(pid_t pid, procfs_t *who);

/** The same of one thread of it; `pid` is then the thread's. */
int procfs_thread(pid_t pid, pid_t thread, procfs_t *who);

/** A file of /proc/PID, as far as it fits; NUL-terminated.
 * @return its length, or -1 */
ssize_t procfs_text(pid_t pid, const char *name, char *text, size_t size);

/** Is it known that it does not run any more? What cannot be found out, for
 * want of descriptors or memory, is not known. */
int procfs_dead(pid_t pid, uint64_t start);

/** Was it sent SIGKILL, and has not died of it yet? It waits in the kernel, and
 * never runs again outside of it. */
int procfs_is_killed(pid_t pid);

/** The clock that start times are of. */
uint64_t procfs_now(void);

/** Real user of process `pid`. @return 0, or -1 */
int procfs_uid(pid_t pid, uid_t *uid);

/** Resident bytes of process `pid`, shared ones by the part that is its.
 * @return -1: not known */
int64_t procfs_own_memory(pid_t pid);

/** Whose pidfd is this? @return 0: it is dead and reaped, or not known */
pid_t procfs_of_pidfd(int fd);

/** Call `each` for every process of the system. */
void procfs_each(void (*each)(const procfs_t *who, void *ctx), void *ctx);

/**
 * Read the mark APPPOOL_ID that the process bears in its environment; one
 * that overwrote its environment bears none. It may make us wait for as long
 * as it likes: see environ_scan.h. @return 0, or -1
 */
int procfs_mark(pid_t pid, char *mark, size_t size);

/** A pidfd of exactly this process. @return -1: it is gone (or a zombie) */
int procfs_pidfd(pid_t pid, uint64_t start);

/** Send a signal to exactly this process. @return 0, or -1 */
int procfs_signal(pid_t pid, uint64_t start, int sign);

#endif
