/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file exit_cause.h
 * @brief How a process ended, in words. libc only.
 */
#ifndef APPPOOL_SYSTEM_EXIT_CAUSE_H
#define APPPOOL_SYSTEM_EXIT_CAUSE_H

#include <signal.h>

#define EXIT_CAUSE_MAX 64

/**
 * "exit code 3", "signal 9 (SIGKILL)".
 * @param info as waitid() fills it in; si_pid 0: the cause is not known
 * @return text, which is buf
 */
const char *exit_cause_text(const siginfo_t *info, char buf[EXIT_CAUSE_MAX]);

#endif
