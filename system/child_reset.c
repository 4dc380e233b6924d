/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/child_reset.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This calls the kernel directly. glibc refuses to change two signals that it
 * uses itself, and posix_spawn() may have left them ignored. An action of zeros
 * is the default action. */
void child_reset_signals(void)
{
    static const unsigned long action[8];
    sigset_t none;
    int i;

    for (i = 1; i < NSIG; i++)
        syscall(SYS_rt_sigaction, i, action, NULL, NSIG / 8);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int child_reset_descriptors(int keep)
{
    unsigned first = STDERR_FILENO + 1;

    if (keep > STDERR_FILENO) {
        if ((unsigned)keep > first &&
            close_range(first, (unsigned)keep - 1, 0) != 0)
            return -1;
        first = (unsigned)keep + 1;
    }
    return close_range(first, ~0u, 0);
}
