/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How many other long-lived connections an app has. */

#include "shm/verbs/checkin.h"
#include "tests/unit/support/slow.h"

static apr_status_t ask(scene_t *s, apl_session_ref_t *h, const apl_app_t *a,
                        int wants_upgrade)
{
    apl_request_t request = {
        .method = "GET", .uri = "/", .wants_upgrade = wants_upgrade};

    return apl_checkout(&s->pool, h, a, &request, NULL, s->now);
}

static uint32_t others(scene_t *s, const apl_session_ref_t *h)
{
    return apl_checkout_count_long_lived(&s->pool, h, 0).held;
}

static void requests_that_asked_before_are_counted(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[3];

    (void)state;
    scene_busy(s, a, h, 1); /* not long-lived */
    assert_int_equal(ask(s, &h[1], a, 1), APL_EWAIT);
    assert_int_equal(ask(s, &h[2], a, 1), APL_EWAIT);
    assert_int_equal(others(s, &h[1]), 0);
    assert_int_equal(others(s, &h[2]), 1);
    /* A refused request makes room at once. */
    apl_checkin_unused(&s->pool, &h[1], s->now);
    assert_int_equal(others(s, &h[2]), 0);
    scene_close(s, &h[0]);
    scene_end(s);
}

static void
long_lived_connections_are_counted_whatever_their_order(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(others(s, &h[0]), 0);
    assert_int_equal(others(s, &h[1]), 1);
    assert_int_equal(others(s, &h[0]), 0);
    apl_checkout_set_long_lived(&s->pool, &h[1], APL_LONG_LIVED_RESPONSE);
    assert_int_equal(others(s, &h[0]), 0);
    apl_checkout_set_long_lived(&s->pool, &h[1], APL_LONG_LIVED_CONNECTION);
    assert_int_equal(others(s, &h[0]), 1);
    /* The next request in its slot is like any other. */
    scene_close(s, &h[1]);
    assert_int_equal(others(s, &h[0]), 0);
    scene_busy(s, a, &h[1], 1);
    assert_int_equal(others(s, &h[0]), 0);
    scene_end(s);
}

/* An abandoned request occupies no worker of httpd. */
static void an_abandoned_one_is_not_counted(void **state)
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

static void those_of_another_app_are_not_counted(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = slow_app(s, "b", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    scene_busy(s, a, &h[0], 1);
    scene_busy(s, b, &h[1], 1);
    apl_checkout_set_long_lived(&s->pool, &h[0], APL_LONG_LIVED_CONNECTION);
    assert_int_equal(others(s, &h[1]), 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_asked_before_are_counted),
        cmocka_unit_test(
            long_lived_connections_are_counted_whatever_their_order),
        cmocka_unit_test(an_abandoned_one_is_not_counted),
        cmocka_unit_test(those_of_another_app_are_not_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
