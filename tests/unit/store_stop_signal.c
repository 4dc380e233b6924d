/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The time of SIGTERM. The clock goes on only by a test. */

#include "store/server/stop_signal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* The order of these matters. */
#include <cmocka.h>

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static int signals;
static time_t now; /* s */

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    t->tv_sec = now;
    t->tv_nsec = 0;
    return 0;
}

static int setup(void **state)
{
    sigset_t mask;

    (void)state;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    signals = signalfd(-1, &mask, SFD_NONBLOCK);
    now = 1000;
    return signals < 0;
}

static int teardown(void **state)
{
    (void)state;
    return close(signals);
}

static void one_that_came_before_the_begin(void **state)
{
    (void)state;
    raise(SIGTERM);
    store_stop_signal_begin(signals);
    now += 7;
    assert_int_equal(store_stop_signal_at(), 1000000);
    assert_true(store_stop_signal_came());
}

static void the_first_one_counts(void **state)
{
    (void)state;
    store_stop_signal_begin(signals);
    assert_false(store_stop_signal_came());
    raise(SIGTERM);
    assert_int_equal(store_stop_signal_at(), 1000000);
    now += 7;
    raise(SIGTERM);
    assert_int_equal(store_stop_signal_at(), 1000000);
}

/* A start that takes long has looked for it. */
static void one_that_came_in_a_long_start(void **state)
{
    (void)state;
    store_stop_signal_begin(signals);
    raise(SIGTERM);
    store_stop_signal_progress();
    now += 7;
    assert_int_equal(store_stop_signal_at(), 1000000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_that_came_before_the_begin),
        TEST(the_first_one_counts),
        TEST(one_that_came_in_a_long_start),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
