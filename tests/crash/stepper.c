/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/crash/stepper.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Each step wakes both processes in turn. On one processor that takes a third
 * less time than on two, which have to wake each other. */
static cpu_set_t processors; /* before */

static void stay_here(void)
{
    cpu_set_t here;

    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    if (sched_getaffinity(0, sizeof processors, &processors) != 0 ||
        sched_setaffinity(0, sizeof here, &here) != 0)
        die("affinity");
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
    if (sched_setaffinity(0, sizeof processors, &processors) != 0)
        die("affinity");
}

void stepper_free(stepper_path_t *path)
{
    free(path->at);
    free(path->firsts);
    *path = (stepper_path_t){0};
}

/* Fork a process that waits to be stepped. */
static pid_t start(stepper_work_t *work, void *arg, volatile int *done)
{
    int status = 0;
    pid_t pid;

    stay_here();
    pid = fork();
    if (pid == 0)
        be_stepped(work, arg, done);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        die("the process to be stepped");
    return pid;
}

/* PTRACE_SINGLESTEP or PTRACE_CONT, up to the next stop. */
static void go_on(enum __ptrace_request how, pid_t pid)
{
    int status = 0;

    if (ptrace(how, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid)
        die("ptrace");
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
        fprintf(stderr, "it ended by itself: status %x\n", (unsigned)status);
        exit(1);
    }
}

/* ---- breakpoints; everything else is stepped through ---- */

#ifdef __x86_64__

#define PC ((void *)offsetof(struct user, regs.rip))

static uintptr_t next_of(pid_t pid)
{
    return (uintptr_t)ptrace(PTRACE_PEEKUSER, pid, PC, NULL);
}

static void run_up_to(pid_t pid, uintptr_t address)
{
    long code = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
    long trap = (code & ~0xffl) | 0xcc;

    ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)trap);
    go_on(PTRACE_CONT, pid);
    ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)code);
    ptrace(PTRACE_POKEUSER, pid, PC, (void *)address);
}

#else

static uintptr_t next_of(pid_t pid)
{
    (void)pid;
    return 0; /* nothing is new after the beginning */
}

static void run_up_to(pid_t pid, uintptr_t address)
{
    (void)pid;
    (void)address;
}

#endif

static void note(stepper_path_t *path, uintptr_t address)
{
    unsigned i = path->n_firsts;

    if (path->n == path->size) {
        path->size = 2 * path->size + 1024;
        path->at = realloc(path->at, path->size * sizeof *path->at);
        path->firsts = realloc(path->firsts, path->size * sizeof *path->firsts);
        if (!path->at || !path->firsts)
            die("realloc");
    }
    while (i > 0 && path->at[path->firsts[i - 1]] != address)
        i--;
    if (i == 0)
        path->firsts[path->n_firsts++] = path->n;
    path->at[path->n++] = address;
}

unsigned stepper_run(stepper_work_t *work, void *arg, const void *memory,
                     size_t size, stepper_look_t *look, void *ctx,
                     stepper_path_t *path, pid_t *pid)
{
    volatile int *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *last = malloc(size);
    unsigned step = 0;

    memcpy(last, memory, size);
    *pid = start(work, arg, done);
    note(path, next_of(*pid));
    while (!*done) {
        go_on(PTRACE_SINGLESTEP, *pid);
        note(path, next_of(*pid));
        step++;
        if (memcmp(last, memory, size) == 0)
            continue;
        memcpy(last, memory, size);
        if (look(ctx, *pid, step))
            break;
    }
    free(last);
    munmap((void *)done, sizeof *done);
    return step;
}

pid_t stepper_run_to(stepper_work_t *work, void *arg,
                     const stepper_path_t *path, unsigned stop)
{
    volatile int done = 0; /* not used */
    pid_t pid = start(work, arg, &done);
    unsigned i = path->n_firsts, step;

    while (path->firsts[i - 1] > stop)
        i--;
    step = path->firsts[i - 1];
    if (step > 0)
        run_up_to(pid, path->at[step]);
    for (; step < stop; step++)
        go_on(PTRACE_SINGLESTEP, pid);
    if (next_of(pid) != path->at[stop]) {
        fprintf(stderr, "it went another way than before\n");
        exit(1);
    }
    return pid;
}
