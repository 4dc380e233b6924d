/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The lock holder makes no system call. A file, a child or a sleep could block
 * the whole pool. */

#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "tests/unit/support/steps.h"

#define STEPS 5000

/* A walk through all verbs. */
static void walk(walk_t *w)
{
    int i;

    w->s->pool.doorbell = eventfd(0, EFD_NONBLOCK);
    for (i = 0; i < STEPS; i++) {
        step_t step = {(kind_t)(random() % KINDS), (unsigned)random()};

        /* This step would fork and kill. */
        if (step.kind != TEAR && !steps_do(w, &step))
            _exit(1);
    }
    _exit(0);
}

static void call_the_kernel_inside(walk_t *w)
{
    apl_lock_token_t token;

    apl_enter(&token, &w->s->pool, w->s->now, APL_FOREVER);
    syscall(SYS_getppid);
    apl_leave(&token);
    _exit(0);
}

/* Do this in another process. @return how many system calls it made while it
 * had the lock */
static int calls_inside(walk_t *w, void (*run)(walk_t *w))
{
    pid_t pid = fork();
    int status, n = 0;

    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        run(w);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    while (!WIFEXITED(status)) {
        uint32_t lock = w->s->pool.header->lock;

        n += (lock & FUTEX_TID_MASK) == (uint32_t)pid;
        /* Continue until the next call begins, or this one ends. */
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_false(WIFSIGNALED(status));
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return n;
}

static void b14_no_verb_calls_the_kernel_with_the_lock_held(void **state)
{
    walk_t w;

    (void)state;
    steps_begin(&w);
    assert_int_equal(calls_inside(&w, walk), 0);
    steps_end(&w);
}

static void a_call_is_noticed(void **state)
{
    walk_t w;

    (void)state;
    steps_begin(&w);
    assert_int_equal(calls_inside(&w, call_the_kernel_inside), 2);
    steps_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b14_no_verb_calls_the_kernel_with_the_lock_held),
        cmocka_unit_test(a_call_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
