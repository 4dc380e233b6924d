/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/fresh.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By the kernel's own interface: glibc keeps two signals to itself, which
 * posix_spawn() has left ignored in us. All zero is the default action. */
void fresh_signals(void)
{
    static const unsigned long action[8];
    sigset_t none;
    int i;

    for (i = 1; i < NSIG; i++)
        syscall(SYS_rt_sigaction, i, action, NULL, NSIG / 8);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void fresh_memory(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, "0", 1) < 0) {
        /* It stays as httpd's is. */
    }
    close(fd);
}

void fresh_descriptors(int keep)
{
    unsigned first = STDERR_FILENO + 1;

    if (keep > STDERR_FILENO) {
        if ((unsigned)keep > first)
            close_range(first, (unsigned)keep - 1, 0);
        first = (unsigned)keep + 1;
    }
    close_range(first, ~0u, 0);
}
