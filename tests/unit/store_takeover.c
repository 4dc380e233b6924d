/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which process has the memory. Each store is a process here. Which one was
 * killed without an end, as on a disk that does not respond, is played. */

#include "store/server/takeover.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

#define LOOKS 20 /* of a store that gets no lock */

static int items;
static int hurries; /* the next store() */
static pid_t killed[2];
static int looks; /* that are left */

int __wrap_procfs_is_killed(pid_t pid);
int __wrap_procfs_is_killed(pid_t pid)
{
    return pid == killed[0] || pid == killed[1];
}

static int is_wanted(void)
{
    return looks-- > 0;
}

static int is_hurried(void)
{
    return hurries;
}

/* @param has the answer of store_takeover_wait()
 * @return the process, which keeps what it has */
static pid_t store(int *has)
{
    int ends[2];
    char answer;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test fails */
        looks = LOOKS;
        answer = (char)store_takeover_wait(items, is_wanted, is_hurried);
        if (write(ends[1], &answer, 1) == 1)
            poll(NULL, 0, -1);
        _exit(1);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &answer, 1), 1);
    close(ends[0]);
    *has = answer;
    return pid;
}

static void end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int setup(void **state)
{
    (void)state;
    killed[0] = killed[1] = 0;
    hurries = 0;
    items = memfd_create("items", MFD_CLOEXEC);
    return items < 0;
}

static int teardown(void **state)
{
    (void)state;
    return close(items);
}

static void the_next_one_waits_for_the_end(void **state)
{
    int has;
    pid_t first, second;

    (void)state;
    first = store(&has);
    assert_int_equal(has, 1);
    second = store(&has);
    assert_int_equal(has, 0);
    end(second);
    end(first);
    second = store(&has);
    assert_int_equal(has, 1);
    end(second);
}

/* Each of them keeps the lock that it has. */
static void one_that_never_runs_again_does_not_count(void **state)
{
    int has;
    pid_t second, other;

    (void)state;
    killed[0] = store(&has);
    assert_int_equal(has, 1);
    killed[1] = store(&has);
    assert_int_equal(has, 1);
    second = store(&has);
    assert_int_equal(has, 1);
    /* It runs, so nobody else gets the memory. */
    other = store(&has);
    assert_int_equal(has, 0);
    end(other);
    /* Nor when the lock of a killed one is free at last. */
    end(killed[0]);
    other = store(&has);
    assert_int_equal(has, 0);
    end(other);
    end(second);
    other = store(&has);
    assert_int_equal(has, 1);
    end(other);
    end(killed[1]);
}

static int yes(void)
{
    return 1;
}

/* As a store of an older build looks. */
static int is_to_hurry(void)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 64, .l_len = 1};

    assert_int_equal(fcntl(items, F_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
}

/* httpd stops while one store waits for the other. */
static void one_that_is_to_stop_has_the_other_hurry(void **state)
{
    int has;
    pid_t next;

    (void)state;
    assert_int_equal(store_takeover_wait(items, yes, is_hurried), 1);
    next = store(&has);
    assert_int_equal(has, 0);
    assert_false(is_to_hurry());
    end(next);
    hurries = 1;
    next = store(&has);
    assert_int_equal(has, 0);
    assert_true(is_to_hurry());
    end(next);
    assert_false(is_to_hurry());
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_next_one_waits_for_the_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            one_that_never_runs_again_does_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_to_stop_has_the_other_hurry,
                                        setup, teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
