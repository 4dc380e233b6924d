/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "system/daemonize.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

int daemonize(const char *name, int more)
{
    static const int signs[] = {SIGINT, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2};
    sigset_t mask;
    size_t i;

    setsid();
    prctl(PR_SET_NAME, name, 0, 0, 0);
    for (i = 0; i < sizeof signs / sizeof *signs; i++)
        signal(signs[i], signs[i] == more ? SIG_DFL : SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGCHLD);
    if (more)
        sigaddset(&mask, more);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
}

void daemonize_oom_score(const char *score)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    if (write(fd, score, strlen(score)) < 0) {
        /* The score stays as it was. */
    }
    close(fd);
}
