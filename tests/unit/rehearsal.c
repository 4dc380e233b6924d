/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which steps of httpd are missed, and when it is said. */

#include "mod_apppool/pump/rehearsal.h"

#include <apr_general.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#define MOST 4

static const char first, second;
static apr_pool_t *pool;
static int64_t now = 1;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    t->tv_sec = now;
    t->tv_nsec = 0;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    assert_int_equal(apr_initialize(), APR_SUCCESS);
    assert_int_equal(apr_pool_create(&pool, NULL), APR_SUCCESS);
    assert_int_equal(apppool_rehearsal_begin(pool, MOST), APR_SUCCESS);
    return 0;
}

static int end(void **state)
{
    (void)state;
    apr_pool_destroy(pool);
    apr_terminate();
    return 0;
}

/* Up to this step; this one is due. */
static void go(const char *who, apppool_rehearsal_step_t until)
{
    apppool_rehearsal_step_t step;

    apppool_rehearsal_take(who);
    for (step = 0; step < until; step++)
        assert_true(apppool_rehearsal_done(who, step));
}

static void nobody_is_watched(void)
{
    go(&second, 0);
    assert_false(apppool_rehearsal_done(&second, APPPOOL_REHEARSAL_RETURNED));
}

static void all_steps(void **state)
{
    (void)state;
    go(&first, APPPOOL_REHEARSAL_STEPS);
    assert_null(apppool_rehearsal_leave(&first));
    nobody_is_watched();
}

static void one_that_is_left_out(void **state)
{
    (void)state;
    go(&first, APPPOOL_REHEARSAL_WAITS_ON);
    assert_false(apppool_rehearsal_done(&first, APPPOOL_REHEARSAL_CLOSED));
    assert_string_equal(apppool_rehearsal_leave(&first),
                        "a connection that goes on waiting");
    nobody_is_watched();
}

static void a_wake(void **state)
{
    (void)state;
    go(&first, APPPOOL_REHEARSAL_WOKEN);
    assert_null(apppool_rehearsal_leave(&first));
    go(&second, APPPOOL_REHEARSAL_WOKEN);
    assert_string_equal(apppool_rehearsal_leave(&second), "a wake");
    nobody_is_watched();
}

static void a_late_wake(void **state)
{
    (void)state;
    go(&first, APPPOOL_REHEARSAL_WOKEN);
    assert_null(apppool_rehearsal_leave(&first));
    go(&second, APPPOOL_REHEARSAL_WAITS_ON);
    apppool_rehearsal_ending(&second);
    assert_true(apppool_rehearsal_done(&second, APPPOOL_REHEARSAL_CLOSED));
    assert_null(apppool_rehearsal_leave(&second));
    go(&first, APPPOOL_REHEARSAL_WOKEN);
    assert_null(apppool_rehearsal_leave(&first));
}

/* Its life may be long. Then its end is due. */
static void the_end(void **state)
{
    int i;

    (void)state;
    go(&first, APPPOOL_REHEARSAL_CLOSED);
    now += 1000;
    for (i = 0; i < 2 * MOST; i++)
        assert_null(apppool_rehearsal_other());
    apppool_rehearsal_ending(&first);
    assert_string_equal(apppool_rehearsal_leave(&first),
                        "the end of a connection");
    nobody_is_watched();
}

/* httpd closes it because of Timeout, and is as known. */
static void another_end(void **state)
{
    (void)state;
    go(&first, APPPOOL_REHEARSAL_CLOSED);
    assert_null(apppool_rehearsal_leave(&first));
    nobody_is_watched();
}

/* The next one is watched. */
static void a_short_life(void **state)
{
    (void)state;
    go(&first, APPPOOL_REHEARSAL_WOKEN);
    apppool_rehearsal_take(&second);
    assert_false(apppool_rehearsal_done(&second, APPPOOL_REHEARSAL_RETURNED));
    apppool_rehearsal_ending(&first);
    assert_true(apppool_rehearsal_done(&first, APPPOOL_REHEARSAL_CLOSED));
    assert_null(apppool_rehearsal_leave(&second));
    assert_null(apppool_rehearsal_leave(&first));
    go(&second, APPPOOL_REHEARSAL_STEPS);
}

/* MOST connections may be served before the step. */
static void a_step_that_does_not_come(void **state)
{
    int i;

    (void)state;
    go(&first, APPPOOL_REHEARSAL_WOKEN);
    for (i = 0; i < 2 * MOST; i++)
        assert_null(apppool_rehearsal_other());
    now += 6;
    for (i = 0; i < MOST; i++)
        assert_null(apppool_rehearsal_other());
    assert_string_equal(apppool_rehearsal_other(), "a wake");
    assert_null(apppool_rehearsal_other());
    assert_null(apppool_rehearsal_leave(&first));
    nobody_is_watched();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_steps, begin, end),
        cmocka_unit_test_setup_teardown(one_that_is_left_out, begin, end),
        cmocka_unit_test_setup_teardown(a_wake, begin, end),
        cmocka_unit_test_setup_teardown(a_late_wake, begin, end),
        cmocka_unit_test_setup_teardown(the_end, begin, end),
        cmocka_unit_test_setup_teardown(another_end, begin, end),
        cmocka_unit_test_setup_teardown(a_short_life, begin, end),
        cmocka_unit_test_setup_teardown(a_step_that_does_not_come, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
