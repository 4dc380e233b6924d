/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Requests that last, or ask to: how many others are there? */

#include "shm/verbs/checkin.h"
#include "tests/unit/support/slow.h"

static apr_status_t ask(scene_t *s, apl_session_ref_t *h, const apl_app_t *a,
                        int lasting)
{
    apl_request_t request = {.method = "GET", .uri = "/", .lasting = lasting};

    return apl_checkout(&s->pool, h, a, &request, NULL, s->now);
}

static uint32_t others(scene_t *s, const apl_session_ref_t *h)
{
    return apl_checkout_lasting(&s->pool, h);
}

static void those_that_came_first_are_counted(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[3];

    (void)state;
    scene_busy(s, a, h, 1); /* does not last */
    assert_int_equal(ask(s, &h[1], a, 1), APL_EWAIT);
    assert_int_equal(ask(s, &h[2], a, 1), APL_EWAIT);
    assert_int_equal(others(s, &h[1]), 0);
    assert_int_equal(others(s, &h[2]), 1);
    /* One that is refused makes room at once. */
    apl_checkin_unused(&s->pool, &h[1], s->now);
    assert_int_equal(others(s, &h[2]), 0);
    scene_close(s, &h[0]);
    scene_end(s);
}

static void those_that_last_are_counted_whenever_they_came(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(others(s, &h[0]), 0);
    assert_int_equal(others(s, &h[1]), 1);
    assert_int_equal(others(s, &h[0]), 0);
    apl_checkout_endless(&s->pool, &h[1], APL_LASTING_RESPONSE);
    assert_int_equal(others(s, &h[0]), 0);
    apl_checkout_endless(&s->pool, &h[1], APL_LASTING_CONNECTION);
    assert_int_equal(others(s, &h[0]), 1);
    /* The next one in its slot is like any other. */
    scene_close(s, &h[1]);
    assert_int_equal(others(s, &h[0]), 0);
    scene_busy(s, a, &h[1], 1);
    assert_int_equal(others(s, &h[0]), 0);
    scene_end(s);
}

/* It has no worker of httpd any more. */
static void one_that_was_abandoned_is_not(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(others(s, &h[0]), 0);
    assert_int_equal(others(s, &h[1]), 1);
    apl_checkin_abandon(&s->pool, &h[0], s->now);
    assert_int_equal(others(s, &h[1]), 0);
    scene_end(s);
}

static void those_of_another_app_are_not(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = slow_app(s, "b", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    scene_busy(s, a, &h[0], 1);
    scene_busy(s, b, &h[1], 1);
    apl_checkout_endless(&s->pool, &h[0], APL_LASTING_CONNECTION);
    assert_int_equal(others(s, &h[1]), 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_that_came_first_are_counted),
        cmocka_unit_test(those_that_last_are_counted_whenever_they_came),
        cmocka_unit_test(one_that_was_abandoned_is_not),
        cmocka_unit_test(those_of_another_app_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
