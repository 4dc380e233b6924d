/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* apppoolctl start: an app starts before its first request. */

#include "tests/unit/support/scene.h"

static void start(scene_t *s, const apl_app_t *a, apr_status_t expected)
{
    assert_int_equal(apl_admin_start(&s->pool, a, s->now), expected);
    scene_ok(s);
}

static void one_process_without_a_minimum(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    start(s, a, APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    scene_is(s, 1, 0);
    start(s, a, APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 0);
    scene_end(s);
}

static void its_minimum_and_it_is_kept(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    a->options.min_instances = 3;
    a->options.idle_time = SECOND;
    start(s, a, APR_SUCCESS);
    while (scene_spawn(s) > 0)
        scene_tick(s, SECOND);
    scene_is(s, 3, 0);
    scene_tick(s, 60 * SECOND);
    scene_is(s, 3, 0);
    scene_end(s);
}

static void an_idle_one_of_another_app_gives_way(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, b), APR_SUCCESS);
    start(s, a, APL_EWAIT);
    assert_int_equal(scene_spawn(s), 0);
    scene_close(s, &h);
    start(s, a, APR_SUCCESS);
    assert_int_equal(scene_reap(s), 1);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_group(s, a)->size, 1);
    assert_int_equal(scene_group(s, b)->size, 0);
    scene_end(s);
}

/* But the pause after a failed start is over. */
static void no_process_makes_room_for_a_failing_app(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h;

    (void)state;
    start(s, a, APR_SUCCESS);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_take(s), 0);
    start(s, a, APR_SUCCESS);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_get(s, &h, b), APR_SUCCESS);
    scene_close(s, &h);
    start(s, a, APL_EWAIT);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void a_drained_app_stays_drained(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    assert_int_equal(apl_admin_drain(&s->pool, a, s->now), APR_SUCCESS);
    start(s, a, APL_EDRAINED);
    assert_int_equal(scene_take(s), 0);
    scene_end(s);
}

static void permits(scene_t *s, apr_status_t expected)
{
    assert_int_equal(apl_admin_permits(&s->pool, "a", s->now), expected);
    scene_ok(s);
}

static void a_user_ends_no_drain_and_not_the_whole_pause(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    permits(s, APR_SUCCESS); /* it had no request yet */
    start(s, a, APR_SUCCESS);
    permits(s, APR_SUCCESS);
    scene_failed(s, scene_take(s));
    permits(s, APL_EBACKOFF);
    s->now += APL_PAUSE_MIN - 1;
    permits(s, APL_EBACKOFF);
    s->now++;
    permits(s, APR_SUCCESS);
    s->pool.groups[1].failed_at = INT64_MAX; /* a hostile byte */
    permits(s, APR_SUCCESS);
    assert_int_equal(apl_admin_drain(&s->pool, a, s->now), APR_SUCCESS);
    permits(s, APL_EDRAINED);
    scene_end(s);
}

static void where_there_is_no_slot_nothing_is_done(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");

    (void)state;
    s->pool.n.groups = 2;
    start(s, a, APR_SUCCESS);
    start(s, b, APL_EFULL);
    scene_end(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_process_without_a_minimum),
        cmocka_unit_test(its_minimum_and_it_is_kept),
        cmocka_unit_test(an_idle_one_of_another_app_gives_way),
        cmocka_unit_test(no_process_makes_room_for_a_failing_app),
        cmocka_unit_test(a_drained_app_stays_drained),
        cmocka_unit_test(a_user_ends_no_drain_and_not_the_whole_pause),
        cmocka_unit_test(where_there_is_no_slot_nothing_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
