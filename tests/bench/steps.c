/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file steps.c
 * @brief How many instructions and system calls the pool costs a request. They
 *        are counted one by one. So the figures are the same on a busy machine,
 *        and nearly the same on each processor that runs this code.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/admin.h"
#include "tests/bench/pool.h"

#ifdef __x86_64__

#define ROUNDS  3
#define SYSCALL 0x050f /* the instruction, its bytes in reverse */

typedef struct {
    double instructions, calls; /* for each request */
} count_t;

static void request(bench_pool_t *b, int i)
{
    const apl_app_t *app = &b->apps[(i * 331) % b->n_apps];
    apl_session_ref_t hold;

    if (apl_checkout(&b->pool, &hold, app, NULL, NULL, i) != APR_SUCCESS)
        abort();
    apl_checkin(&b->pool, &hold, i);
}

/* Some requests that are not counted, so that everything that is looked up once
 * is known. */
static void be_stepped(bench_pool_t *b, int rounds)
{
    int i;

    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    for (i = 0; i < 2 * b->n_apps; i++)
        request(b, i);
    raise(SIGSTOP);
    for (i = 0; i < rounds; i++)
        request(b, i);
    raise(SIGSTOP);
    _exit(0);
}

/* @return 1: it has run one more instruction; 0: it has stopped itself */
static int step(pid_t pid, count_t *n)
{
    struct user_regs_struct regs;
    int status = 0;

    if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) != 0)
        abort();
    n->calls += (ptrace(PTRACE_PEEKTEXT, pid, (void *)regs.rip, NULL) &
                 0xffff) == SYSCALL;
    n->instructions++;
    if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 ||
        waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        abort();
    return WSTOPSIG(status) == SIGTRAP;
}

/* From one SIGSTOP to the next. */
static count_t count_all(bench_pool_t *b, int rounds)
{
    count_t n = {0, 0};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        be_stepped(b, rounds);
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
        WSTOPSIG(status) != SIGSTOP)
        abort();
    while (step(pid, &n))
        ;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return n;
}

/* The rest between the two signals is subtracted. */
static count_t count(bench_pool_t *b)
{
    count_t none = count_all(b, 0), n = count_all(b, ROUNDS);

    n.instructions = (n.instructions - none.instructions) / ROUNDS;
    n.calls = (n.calls - none.calls) / ROUNDS;
    return n;
}

static count_t of(int processes, int groups)
{
    bench_pool_t b;
    count_t n;

    bench_pool_make(&b, processes, groups);
    n = count(&b);
    bench_pool_free(&b);
    return n;
}

/* Each group has a start under way and wants the place above the limit. */
static count_t of_replaced(int groups)
{
    bench_pool_t b;
    int64_t next;
    count_t n;
    int i;

    bench_pool_make(&b, groups, groups);
    for (i = 0; i < b.n_apps; i++)
        apl_admin_restart(&b.pool, b.apps[i].name, 1, 1);
    apl_housekeeping_tick(&b.pool, 1, &next);
    n = count(&b);
    bench_pool_free(&b);
    return n;
}

int main(void)
{
    count_t one = of(10, 1), processes = of(1000, 1), groups = of(1000, 1000),
            replaced = of_replaced(500);
    int bad;

    /* 1985 here; glibc's memcpy() and strlen() differ between CPUs. */
    bad = bench_verdict("checkout + checkin", one.instructions, "instructions",
                        2500, 1);
    bad += bench_verdict("checkout + checkin",
                         one.calls + processes.calls + groups.calls +
                             replaced.calls,
                         "system calls", 0, 1);
    bad +=
        bench_verdict("1000 processes of one group, against 10",
                      processes.instructions / one.instructions, "x", 1.1, 1);
    bad += bench_verdict("1000 groups, against one",
                         groups.instructions / one.instructions, "x", 1.1, 1);
    bad += bench_verdict("while 500 groups are being replaced",
                         replaced.instructions / one.instructions, "x", 1.1, 1);
    return bad != 0;
}

#else

int main(void)
{
    printf("# instructions are counted on x86-64 only\n");
    return 0;
}

#endif
