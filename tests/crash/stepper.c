/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/stepper.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void be_stepped(stepper_work_t *work, void *arg, volatile int *done)
{
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    work(arg);
    *done = 1;
    for (;;)
        pause();
}

void stepper_kill(pid_t pid)
{
    int status;

    kill(pid, SIGKILL);
    do {
        if (waitpid(pid, &status, 0) < 0)
            die("waitpid");
    } while (!WIFSIGNALED(status) && !WIFEXITED(status));
}

unsigned stepper_run(stepper_work_t *work, void *arg, const void *memory,
                     size_t size, stepper_look_t *look, void *ctx,
                     unsigned stop, pid_t *pid)
{
    volatile int *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *last = malloc(size);
    unsigned step = 0;
    int status;

    memcpy(last, memory, size);
    *pid = fork();
    if (*pid == 0)
        be_stepped(work, arg, done);
    if (*pid < 0 || waitpid(*pid, &status, 0) != *pid || !WIFSTOPPED(status))
        die("the process to be stepped");
    while (!*done && (stop == 0 || step < stop)) {
        if (ptrace(PTRACE_SINGLESTEP, *pid, NULL, NULL) != 0 ||
            waitpid(*pid, &status, 0) != *pid)
            die("ptrace");
        if (!WIFSTOPPED(status)) {
            fprintf(stderr, "it ended by itself: status %x\n",
                    (unsigned)status);
            exit(1);
        }
        step++;
        if (!look || memcmp(last, memory, size) == 0)
            continue;
        memcpy(last, memory, size);
        if (look(ctx, *pid, step))
            break;
    }
    free(last);
    munmap((void *)done, sizeof *done);
    return step;
}
