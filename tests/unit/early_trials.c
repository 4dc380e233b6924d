/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A group whose process has ended early (shm/policy/backoff.h) tries again
 * above the limit, and no process of another group leaves until a start is a
 * success. */

#include "tests/unit/support/early.h"

/* The pool has one place, and another app uses it. */
static void no_process_makes_room(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t ha, hb;
    uint64_t of_b, try;

    (void)state;
    early_end(s, a);
    of_b = early_start(s, b, &hb);
    scene_close(s, &hb);
    /* The try stands above the limit, also when it is live. */
    assert_int_equal(scene_ask(s, &ha, a), APL_EWAIT);
    try = scene_take(s);
    scene_ready(s, try);
    assert_int_equal(scene_poll(s, &ha), APR_SUCCESS);
    assert_int_equal(scene_process(s, try)->trial, 1);
    assert_int_equal(s->pool.header->replacing, 1);
    scene_tick(s, 1000);
    assert_int_equal(scene_ask(s, &hb, b), APR_SUCCESS);
    assert_true(hb.id == of_b);
    scene_close(s, &hb);
    scene_is(s, 2, 1);
    early_refuses(s, &ha);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->replacing, 0);
    /* The next one is a success. Then the other app makes room. */
    s->now = scene_group(s, a)->retry_at;
    assert_int_equal(scene_ask(s, &ha, a), APL_EWAIT);
    try = scene_take(s);
    scene_ready(s, try);
    assert_int_equal(scene_poll(s, &ha), APR_SUCCESS);
    scene_is(s, 2, 1);
    scene_close(s, &ha);
    assert_int_equal(scene_condition(s, of_b).state, APL_PROCESS_LEAVING);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->replacing, 0);
    scene_end(s);
}

/* Its first request lasts: after a second, the try is a success, too. */
static void a_trial_ends_after_a_second(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t ha, hb;
    uint64_t of_b;

    (void)state;
    early_end(s, a);
    of_b = early_start(s, b, &hb);
    scene_close(s, &hb);
    early_start(s, a, &ha);
    scene_tick(s, SECOND - 1);
    scene_is(s, 2, 1);
    scene_tick(s, 1);
    assert_int_equal(scene_condition(s, of_b).state, APL_PROCESS_LEAVING);
    scene_is(s, 1, 1);
    scene_close(s, &ha);
    scene_end(s);
}

/* It ends by itself then, before the tick: nobody leaves for it any more. */
static void one_that_stayed_and_ends(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t ha, hb;
    uint64_t of_b;

    (void)state;
    early_end(s, a);
    of_b = early_start(s, b, &hb);
    scene_close(s, &hb);
    early_start(s, a, &ha);
    s->now += SECOND;
    early_refuses(s, &ha);
    assert_int_equal(scene_group(s, a)->young, 0);
    assert_int_equal(scene_condition(s, of_b).state, APL_PROCESS_LIVE);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* A child of httpd may write any time. One that is still to come would leave the
 * process young for ever. */
static void a_wild_time_ends_the_trial(void **state)
{
    static const int64_t wild[] = {INT64_MIN, -1, 0, INT64_MAX};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wild / sizeof *wild; i++) {
        scene_t *s = scene_new(1);
        apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
        apl_session_ref_t ha, hb;

        early_end(s, a);
        early_start(s, b, &hb);
        scene_close(s, &hb);
        early_start(s, a, &ha);
        assert_int_equal(s->pool.header->replacing, 1);
        s->pool.processes[ha.id & 0xffff].ready_at = wild[i];
        scene_tick(s, SECOND);
        assert_int_equal(s->pool.header->replacing, 0);
        assert_int_equal(scene_group(s, a)->young, 0);
        scene_close(s, &ha);
        scene_end(s);
    }
}

/* A restart ends the row, so a response finds none. It ends the trial. */
static void a_trial_survives_a_rolling_restart(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t ha, hb;

    (void)state;
    early_end(s, a);
    early_start(s, b, &hb);
    scene_close(s, &hb);
    early_start(s, a, &ha);
    apl_admin_restart(&s->pool, "a", 1, s->now);
    assert_int_equal(scene_group(s, a)->young, 0);
    assert_int_equal(s->pool.header->replacing, 1);
    scene_repair(s);
    assert_int_equal(s->pool.header->replacing, 1);
    scene_close(s, &ha);
    assert_int_equal(scene_process(s, ha.id)->trial, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_process_makes_room),
        cmocka_unit_test(a_trial_ends_after_a_second),
        cmocka_unit_test(one_that_stayed_and_ends),
        cmocka_unit_test(a_wild_time_ends_the_trial),
        cmocka_unit_test(a_trial_survives_a_rolling_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
