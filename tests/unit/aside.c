/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What takes long is found out by a child. */

#include "spawner/aside.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/scene.h"

static int64_t find_seven(void *ctx)
{
    return *(int64_t *)ctx + 1;
}

static int64_t find_nothing(void *ctx)
{
    (void)ctx;
    while (pause() < 0)
        ;
    return 0;
}

static int64_t find_descriptors(void *ctx)
{
    DIR *dir = opendir("/proc/self/fd");
    int64_t n = 0;

    (void)ctx;
    while (dir && readdir(dir))
        n++;
    return n;
}

/* Until it is over. @return how its child ended */
static siginfo_t wait_for(int fd, int64_t *number, int good)
{
    struct pollfd poller = {fd, POLLIN, 0};
    siginfo_t info;

    assert_true(fd >= 0);
    assert_int_equal(poll(&poller, 1, 60000), 1);
    assert_int_equal(aside_read(fd, number), good ? 0 : -1);
    close(fd);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED), 0);
    return info;
}

static void a_number(void **state)
{
    int64_t six = 6, number = 0;

    (void)state;
    wait_for(aside_start(find_seven, &six, 60), &number, 1);
    assert_int_equal(number, 7);
    assert_int_equal(six, 6); /* the child's own memory */
}

static void its_time_is_up(void **state)
{
    int64_t number;
    siginfo_t end;
    sigset_t set;

    (void)state;
    signal(SIGALRM, SIG_IGN);
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    end = wait_for(aside_start(find_nothing, NULL, 1), &number, 0);
    assert_int_equal(end.si_code, CLD_KILLED);
    assert_int_equal(end.si_status, SIGALRM);
}

static void no_descriptor_of_ours(void **state)
{
    int64_t number = 0;

    (void)state;
    wait_for(aside_start(find_descriptors, NULL, 60), &number, 1);
    assert_int_equal(number, 4); /* "." and "..", the pipe, the directory */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number),
        cmocka_unit_test(its_time_is_up),
        cmocka_unit_test(no_descriptor_of_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
