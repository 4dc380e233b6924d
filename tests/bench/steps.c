/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file steps.c
 * @brief How many instructions and system calls the pool costs a request, and
 *        the count of its response. They are counted one by one. So the figures
 *        are the same on a busy machine, and nearly the same on each processor
 *        that runs this code.
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
#include "shm/verbs/response.h"
#include "tests/bench/pool.h"

#ifdef __x86_64__

#define ROUNDS  3
#define SYSCALL 0x050f /* the instruction, its bytes in reverse */

typedef struct {
    double instructions, calls; /* for each request */
} count_t;

typedef void work_t(bench_pool_t *b, int i);

static void respond(bench_pool_t *b, int i)
{
    const apl_response_t response = {200, 0, 5000, 1000 * i};

    if (apl_response_count(&b->pool, &b->apps[(i * 331) % b->n_apps], &response,
                           i, 1) != APR_SUCCESS)
        abort();
}

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
static void be_stepped(bench_pool_t *b, work_t *work, int rounds)
{
    int i;

    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    for (i = 0; i < 2 * b->n_apps; i++)
        work(b, i);
    raise(SIGSTOP);
    for (i = 0; i < rounds; i++)
        work(b, i);
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
static count_t count_all(bench_pool_t *b, work_t *work, int rounds)
{
    count_t n = {0, 0};
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        be_stepped(b, work, rounds);
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
static count_t count(bench_pool_t *b, work_t *work)
{
    count_t none = count_all(b, work, 0), n = count_all(b, work, ROUNDS);

    n.instructions = (n.instructions - none.instructions) / ROUNDS;
    n.calls = (n.calls - none.calls) / ROUNDS;
    return n;
}

static count_t of(int processes, int groups, work_t *work)
{
    bench_pool_t b;
    count_t n;

    bench_pool_make(&b, processes, groups);
    n = count(&b, work);
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
    n = count(&b, request);
    bench_pool_free(&b);
    return n;
}

int main(void)
{
    count_t one = of(10, 1, request), processes = of(1000, 1, request),
            groups = of(1000, 1000, request), replaced = of_replaced(500),
            response = of(10, 10, respond);
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
    /* 258 here. */
    bad += bench_verdict("to count a response", response.instructions,
                         "instructions", 400, 1);
    bad += bench_verdict("to count a response", response.calls, "system calls",
                         0, 1);
    return bad != 0;
}

#else

int main(void)
{
    printf("# instructions are counted on x86-64 only\n");
    return 0;
}

#endif
