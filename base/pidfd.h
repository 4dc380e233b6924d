/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file pidfd.h
 * @brief The system calls for pidfds. glibc has them since 2.36, but the
 *        programs have to run with 2.34. libc only.
 *
 * Errors: -1 with errno. A pidfd is always close-on-exec.
 */
#ifndef APPPOOL_BASE_PIDFD_H
#define APPPOOL_BASE_PIDFD_H

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int pidfd_open(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int pidfd_send_signal(int fd, int sign, siginfo_t *info,
                                    unsigned flags)
{
    return (int)syscall(SYS_pidfd_send_signal, fd, sign, info, flags);
}

#endif
