/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/aside.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static _Noreturn void work(int64_t (*find)(void *ctx), void *ctx,
                           unsigned seconds, int answer)
{
    int64_t number;
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (dup2(answer, 0) != 0 || close_range(1, ~0u, 0) != 0)
        _exit(1);
    /* A signal without handler kills, as SIGKILL does. */
    signal(SIGALRM, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(seconds);
    number = find(ctx);
    _exit(write(0, &number, sizeof number) != sizeof number);
}

int aside_start(int64_t (*find)(void *ctx), void *ctx, unsigned seconds)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    pid = fork();
    if (pid == 0)
        work(find, ctx, seconds, ends[1]);
    close(ends[1]);
    if (pid > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}

int aside_read(int fd, int64_t *number)
{
    return read(fd, number, sizeof *number) == sizeof *number ? 0 : -1;
}
