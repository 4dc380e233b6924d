/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Is it known that a process does not run any more? */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/procfs.h"

static pid_t child;
static uint64_t start;

/* ---- its parent may reap it at any moment ---- */

static int is_reaped_then; /* after kill() has found it */

int __real_kill(pid_t pid, int sign);
int __wrap_kill(pid_t pid, int sign);

int __wrap_kill(pid_t pid, int sign)
{
    int rv = __real_kill(pid, sign);

    if (is_reaped_then && pid == child)
        assert_int_equal(waitpid(child, NULL, 0), child);
    return rv;
}

/* ---- a process ---- */

static int begin(void **state)
{
    procfs_t info;

    (void)state;
    is_reaped_then = 0;
    child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    if (procfs_read(child, &info) != 0)
        return -1;
    start = info.start;
    return 0;
}

static int end(void **state)
{
    (void)state;
    if (child == 0)
        return 0;
    __real_kill(child, SIGKILL);
    return waitpid(child, NULL, 0) != child;
}

static void make_zombie(void)
{
    siginfo_t info;

    __real_kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
}

/* ---- the tests ---- */

static void one_that_runs_is_not(void **state)
{
    (void)state;
    assert_false(procfs_dead(child, start));
}

static void one_with_its_number_is_another(void **state)
{
    (void)state;
    assert_true(procfs_dead(child, start + 1));
}

static void a_zombie_is(void **state)
{
    (void)state;
    make_zombie();
    assert_true(procfs_dead(child, start));
}

static void one_that_was_reaped_is(void **state)
{
    pid_t was = child;

    (void)state;
    make_zombie();
    assert_int_equal(waitpid(child, NULL, 0), child);
    child = 0;
    assert_true(procfs_dead(was, start));
}

static void one_that_is_reaped_meanwhile_is(void **state)
{
    (void)state;
    make_zombie();
    is_reaped_then = 1;
    assert_true(procfs_dead(child, start));
    if (waitpid(child, NULL, WNOHANG) != 0)
        child = 0;
}

static void without_descriptors_it_is_not_known(void **state)
{
    struct rlimit old, none;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_false(procfs_dead(child, start));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_that_runs_is_not),
        TEST(one_with_its_number_is_another),
        TEST(a_zombie_is),
        TEST(one_that_was_reaped_is),
        TEST(one_that_is_reaped_meanwhile_is),
        TEST(without_descriptors_it_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
