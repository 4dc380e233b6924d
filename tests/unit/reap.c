/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* However many children die at once, the process that reaps them continues its
 * other work. */

#include "system/reap.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

static int n_reaped;

/* A child that is dead, and not reaped. */
static void make_dead(void)
{
    siginfo_t info;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    assert_true(pid > 0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static int reap(const siginfo_t *info, void *ctx)
{
    (void)ctx;
    assert_int_equal(waitpid(info->si_pid, NULL, WNOHANG), info->si_pid);
    n_reaped++;
    return 0;
}

static int reap_while_another_dies(const siginfo_t *info, void *ctx)
{
    make_dead();
    return reap(info, ctx);
}

static int leave(const siginfo_t *info, void *ctx)
{
    pid_t *left = ctx;

    *left = info->si_pid;
    return 1;
}

static void a_storm_has_no_end_but_a_turn_has(void **state)
{
    (void)state;
    n_reaped = 0;
    make_dead();
    assert_int_equal(reap_children(reap_while_another_dies, NULL), 1);
    assert_in_range(n_reaped, 1, REAP_MAX);
    assert_int_equal(reap_children(reap, NULL), 0);
}

static void all_are_reaped_in_some_turns(void **state)
{
    int i, turns = 1;

    (void)state;
    n_reaped = 0;
    for (i = 0; i < REAP_MAX + 10; i++)
        make_dead();
    while (reap_children(reap, NULL))
        turns++;
    assert_true(turns > 1);
    assert_int_equal(n_reaped, REAP_MAX + 10);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static int reap_slowly(const siginfo_t *info, void *ctx)
{
    test_clock_later(1000);
    return reap(info, ctx);
}

static void a_turn_that_takes_long_is_over(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        make_dead();
    n_reaped = 0;
    assert_int_equal(reap_children(reap_slowly, NULL), 1);
    assert_int_equal(n_reaped, 1);
    assert_int_equal(reap_children(reap, NULL), 0);
    assert_int_equal(n_reaped, 3);
}

static void one_is_left(void **state)
{
    pid_t left = 0;

    (void)state;
    make_dead();
    assert_int_equal(reap_children(leave, &left), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_storm_has_no_end_but_a_turn_has),
        cmocka_unit_test(all_are_reaped_in_some_turns),
        cmocka_unit_test(a_turn_that_takes_long_is_over),
        cmocka_unit_test(one_is_left),
    };

    test_clock_slow(1000); /* a turn takes 50 ms at most */
    alarm(300);            /* if a turn has no end */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
