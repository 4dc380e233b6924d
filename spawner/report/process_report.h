/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file process_report.h
 * @brief Says in words what a process is doing, in whatever language it is
 *        written. It does not use ptrace.
 *
 *     shop[4711] report: 1 process, 1 thread, 41.2 MB, CPU 12.31 s in all and
 *         0% now, 3600 s old
 *     shop[4711] report: process 4711 (python3) sleeps in clock_nanosleep
 *         (state S; CPU 0% now; wchan hrtimer_nanosleep; syscall 230 0x0 ...;
 *         kernel stack hrtimer_nanosleep+0x74/0xf0 < ...)
 *     shop[4711] report: command python3 app.py
 *
 * libc only.
 *
 * Trust: names and command lines come from the app; log_line() escapes them.
 *        Only root may read kernel stacks.
 */
#ifndef APPPOOL_SPAWNER_REPORT_PROCESS_REPORT_H
#define APPPOOL_SPAWNER_REPORT_PROCESS_REPORT_H

#include <stdint.h>
#include <sys/types.h>

#define PROCESS_REPORT_TEXT_MAX 128

/** The process of the report, and the place for its lines. */
typedef struct {
    const char *name; /**< for the lines: "shop[4711]" */
    pid_t leader;
    uint64_t start; /**< of the leader, procfs_t */
    uid_t only;     /**< only what this user may read, of processes whose files
                         in /proc are this user's; USERDB_NOBODY: all */
    void (*write_line)(void *ctx, const char *line);
    void *ctx;
} process_report_t;

/**
 * Report on a process and its whole session. This calls `write_line` for each
 * line. It takes a fifth of a second and may block, so only a helper job calls
 * it.
 */
void process_report_write(const process_report_t *asked);

/**
 * "sleeps in read", "waits for a lock (futex)", "is stopped", "runs".
 * @param state   as in /proc/PID/stat
 * @param syscall content of /proc/PID/syscall, or ""
 */
const char *process_report_doing(char state, const char *syscall,
                                 char text[PROCESS_REPORT_TEXT_MAX]);

/** The name of a system call that processes wait in. @return NULL: it is not
 * known */
const char *process_report_syscall(long number);

/** Make one line of the content of /proc/PID/stack, innermost call first. */
void process_report_stack(char *stack);

#endif
