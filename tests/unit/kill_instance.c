/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The sweep at the end of an instance waits for processes that survive SIGKILL,
 * but not for ever. The clock is one of the test: only poll() lets it go on. */

#include "system/kill_instance.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/procfs.h"

#define PATIENCE 2000  /* ms for processes that wait in the kernel */
#define LIMIT    10000 /* ms for others */

static int64_t now; /* ms */
static unsigned signals;

/* The process of the app: it dies at the first time, and is gone at the second
 * one, ms. Before the first time it waits in the kernel. */
static int64_t awake, gone;

int __wrap_clock_gettime(clockid_t which, struct timespec *t);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);
void __wrap_procfs_each(void (*each)(const procfs_t *info, void *ctx),
                        void *ctx);
int __wrap_procfs_signal(pid_t pid, uint64_t start, int sign);
int __wrap_cgroup_sweep(const char *instance);

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
    (void)which;
    t->tv_sec = now / 1000;
    t->tv_nsec = now % 1000 * 1000000;
    return 0;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    (void)fds;
    assert_int_equal(n, 0);
    assert_in_range(ms, 1, 100);
    now += ms;
    return 0;
}

void __wrap_procfs_each(void (*each)(const procfs_t *info, void *ctx),
                        void *ctx)
{
    procfs_t info = {.pid = getpid() + 1, .ppid = getpid(), .name = "app"};

    info.state = now < awake ? 'D' : 'R';
    if (now < gone)
        each(&info, ctx);
}

int __wrap_procfs_signal(pid_t pid, uint64_t start, int sign)
{
    (void)start;
    assert_int_equal(pid, getpid() + 1);
    assert_int_equal(sign, SIGKILL);
    signals++;
    return 0;
}

int __wrap_cgroup_sweep(const char *instance)
{
    (void)instance;
    return 0;
}

/* @return how long it took, ms */
static int64_t sweep(int64_t awake_at, int64_t gone_at, int left)
{
    now = 0;
    signals = 0;
    awake = awake_at;
    gone = gone_at;
    assert_int_equal(kill_instance(""), left);
    assert_true(signals > 0);
    return now;
}

static void it_ends_with_the_last_process(void **state)
{
    (void)state;
    assert_in_range(sweep(0, 50, 0), 50, 100);
    assert_in_range(sweep(1000, 1500, 0), 1500, 1600);
}

static void a_process_that_waits_in_the_kernel(void **state)
{
    (void)state;
    assert_in_range(sweep(INT64_MAX, INT64_MAX, 1), PATIENCE, PATIENCE + 100);
}

static void a_process_that_dies_slowly(void **state)
{
    (void)state;
    assert_in_range(sweep(0, LIMIT - 1000, 0), LIMIT - 1000, LIMIT - 900);
    assert_in_range(sweep(0, INT64_MAX, 1), LIMIT, LIMIT + 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ends_with_the_last_process),
        cmocka_unit_test(a_process_that_waits_in_the_kernel),
        cmocka_unit_test(a_process_that_dies_slowly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
