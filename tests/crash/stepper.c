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
#include <ucontext.h>
#include <unistd.h>

#define MOST (1u << 20) /* instructions of a run */

/* What the process that is stepped writes. */
typedef struct {
    volatile int done;
    unsigned n;         /* instructions that it has run */
    uintptr_t at[MOST]; /* [n]: the instruction after n of them */
} trail_t;

static struct {
    trail_t *trail;
    uintptr_t first; /* what comes before it is not counted */
    const void *memory;
    size_t size;
    char *last; /* the memory after the last instruction */
} own;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* The two processes run in turn. On one processor that takes a third less time
 * than on two, which have to wake each other. */
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

static void remember(void)
{
    if (!own.last)
        own.last = malloc(own.size);
    if (!own.last)
        die("malloc");
    memcpy(own.last, own.memory, own.size);
}

static int has_changed(void)
{
    return memcmp(own.last, own.memory, own.size) != 0;
}

/* @return the signal that has stopped it */
static int next_stop(pid_t pid)
{
    int status = 0;

    if (waitpid(pid, &status, WUNTRACED) != pid)
        die("waitpid");
    if (WIFSTOPPED(status))
        return WSTOPSIG(status);
    fprintf(stderr, "it ended by itself: status %x\n", (unsigned)status);
    exit(1);
}

static void await_stop(pid_t pid, int sign)
{
    int got = next_stop(pid);

    if (got == sign)
        return;
    fprintf(stderr, "it was stopped by signal %d\n", got);
    exit(1);
}

/* Fork a process that waits to be traced. */
static pid_t start_traced(stepper_work_t *work, void *arg)
{
    pid_t pid;

    stay_here();
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        work(arg);
        if (own.trail)
            own.trail->done = 1;
        for (;;)
            raise(SIGSTOP);
    }
    if (pid < 0)
        die("fork");
    await_stop(pid, SIGSTOP);
    return pid;
}

/* PTRACE_SINGLESTEP or PTRACE_CONT, up to the next stop.
 * @return 0, or -1: its work is done */
static int go_on(enum __ptrace_request how, pid_t pid)
{
    if (ptrace(how, pid, NULL, NULL) != 0)
        die("ptrace");
    return next_stop(pid) == SIGTRAP ? 0 : -1;
}

#ifdef __x86_64__

/* ---- breakpoints ---- */

#define PC ((void *)offsetof(struct user, regs.rip))

static uintptr_t next_of(pid_t pid)
{
    return (uintptr_t)ptrace(PTRACE_PEEKUSER, pid, PC, NULL);
}

/* @return 0, or -1: it did not come there */
static int run_up_to(pid_t pid, uintptr_t address)
{
    long code = ptrace(PTRACE_PEEKTEXT, pid, (void *)address, NULL);
    long trap = (code & ~0xffl) | 0xcc;

    ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)trap);
    if (go_on(PTRACE_CONT, pid) != 0)
        return -1;
    ptrace(PTRACE_POKETEXT, pid, (void *)address, (void *)code);
    ptrace(PTRACE_POKEUSER, pid, PC, (void *)address);
    return 0;
}

/* ---- a process that steps itself: ten times as fast as one that is traced,
 * because the other process runs only when the memory has changed ---- */

#define TRAP    0x100  /* the flag that ends each instruction with SIGTRAP */
#define SYSCALL 0x050f /* the two bytes of the instruction */

static int is_syscall(uintptr_t address)
{
    uint16_t code;

    memcpy(&code, (const void *)address, sizeof code);
    return code == SYSCALL;
}

static void add(uintptr_t next)
{
    if (own.trail->n == MOST)
        abort();
    own.trail->at[own.trail->n++] = next;
}

static void on_trap(int sign, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    trail_t *trail = own.trail;
    uintptr_t next = (uintptr_t)registers[REG_RIP];

    (void)sign;
    (void)info;
    if (trail->done)
        registers[REG_EFL] &= ~TRAP;
    if (trail->n == 0 && next != own.first)
        return;
    /* A trap comes one instruction late after it, but not if it is traced. */
    if (trail->n > 0 && is_syscall(trail->at[trail->n - 1]) &&
        next != trail->at[trail->n - 1] + 2)
        add(trail->at[trail->n - 1] + 2);
    add(next);
    if (trail->done || !has_changed())
        return;
    remember();
    raise(SIGSTOP);
}

static void step_itself(stepper_work_t *work, void *arg)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

    own.first = (uintptr_t)work;
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        die("sigaction");
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
                     "pushfq\n\t"
                     "orq %0, (%%rsp)\n\t"
                     "popfq\n\t"
                     "lea 128(%%rsp), %%rsp"
                     :
                     : "i"(TRAP)
                     : "memory", "cc");
    work(arg);
    own.trail->done = 1;
    raise(SIGSTOP);
    _exit(0); /* nobody comes here */
}

/* @return the process, which has stopped */
static pid_t step(stepper_work_t *work, void *arg, trail_t *trail,
                  stepper_look_t *look, void *ctx)
{
    pid_t pid;

    stay_here();
    pid = fork();
    if (pid == 0)
        step_itself(work, arg);
    if (pid < 0)
        die("fork");
    for (;;) {
        await_stop(pid, SIGSTOP);
        if (trail->done || look(ctx, pid, trail->n - 1))
            return pid;
        kill(pid, SIGCONT);
    }
}

#else

static uintptr_t next_of(pid_t pid)
{
    (void)pid;
    return 0; /* nothing is new after the beginning */
}

static int run_up_to(pid_t pid, uintptr_t address)
{
    (void)pid;
    (void)address;
    return 0;
}

static pid_t step(stepper_work_t *work, void *arg, trail_t *trail,
                  stepper_look_t *look, void *ctx)
{
    pid_t pid = start_traced(work, arg);

    for (trail->n = 1; !trail->done; trail->n++) {
        if (go_on(PTRACE_SINGLESTEP, pid) != 0 || !has_changed())
            continue;
        remember();
        if (look(ctx, pid, trail->n))
            break;
    }
    return pid;
}

#endif

/* ---- a run, and its way ---- */

static void note(stepper_path_t *path, uintptr_t address)
{
    unsigned i = path->n_firsts;

    while (i > 0 && path->at[path->firsts[i - 1]] != address)
        i--;
    if (i == 0)
        path->firsts[path->n_firsts++] = path->n;
    path->at[path->n++] = address;
}

static void note_all(stepper_path_t *path, const trail_t *trail)
{
    unsigned i;

    path->at = malloc(trail->n * sizeof *path->at);
    path->firsts = malloc(trail->n * sizeof *path->firsts);
    if (!path->at || !path->firsts)
        die("malloc");
    for (i = 0; i < trail->n; i++)
        note(path, trail->at[i]);
}

unsigned stepper_run(stepper_work_t *work, void *arg, const void *memory,
                     size_t size, stepper_look_t *look, void *ctx,
                     stepper_path_t *path, pid_t *pid)
{
    trail_t *trail = mmap(NULL, sizeof *trail, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    unsigned n;

    if (trail == MAP_FAILED)
        die("mmap");
    own.trail = trail;
    own.memory = memory;
    own.size = size;
    remember();
    *pid = step(work, arg, trail, look, ctx);
    n = trail->n - 1;
    if (path)
        note_all(path, trail);
    munmap(trail, sizeof *trail);
    own.trail = NULL;
    free(own.last);
    own.last = NULL;
    return n;
}

/* @return 0, or -1: the way differs */
static int follow(pid_t pid, const stepper_path_t *path, unsigned stop)
{
    unsigned i = path->n_firsts, at;

    while (path->firsts[i - 1] > stop)
        i--;
    at = path->firsts[i - 1];
    if (run_up_to(pid, path->at[0]) != 0 ||
        (at > 0 && run_up_to(pid, path->at[at]) != 0))
        return -1;
    for (; at < stop; at++)
        if (go_on(PTRACE_SINGLESTEP, pid) != 0)
            return -1;
    return next_of(pid) == path->at[stop] ? 0 : -1;
}

pid_t stepper_run_to(stepper_work_t *work, void *arg,
                     const stepper_path_t *path, unsigned stop)
{
    pid_t pid = start_traced(work, arg);

    if (follow(pid, path, stop) == 0)
        return pid;
    stepper_kill(pid);
    return 0;
}
