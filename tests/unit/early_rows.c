/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What ends a row of processes that end early (shm/policy/backoff.h). */

#include "tests/unit/support/early.h"

static void a_response_ends_the_row(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, late;

    (void)state;
    early_end(s, a);
    early_start(s, a, &h);
    scene_close(s, &h);
    early_fails(s, a, 0, 0);
    /* It has responded, so its own end is not early. */
    early_gone(s, h.id);
    early_fails(s, a, 0, 0);
    /* The process ends with its response. Or the spawner notices its end
     * before the response is counted. */
    early_end(s, a);
    early_start(s, a, &h);
    apl_checkin_last(&s->pool, &h, s->now);
    early_gone(s, h.id);
    early_fails(s, a, 0, 0);
    early_start(s, a, &late);
    early_gone(s, late.id);
    early_fails(s, a, 1, 0);
    scene_close(s, &late);
    early_fails(s, a, 0, 0);
    scene_end(s);
}

static void the_end_of_a_wait_is_no_response(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, waits;

    (void)state;
    early_end(s, a);
    assert_int_equal(scene_ask(s, &waits, a), APL_EWAIT);
    scene_close(s, &waits);
    early_fails(s, a, 1, 0);
    early_start(s, a, &h);
    apl_checkin_unused(&s->pool, &h, s->now);
    early_fails(s, a, 1, 0);
    scene_end(s);
}

/* Another process serves while new ones end. Its response ends the pause. */
static void a_response_ends_the_pause(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t old, h[2], waits;

    (void)state;
    early_start(s, a, &old);
    s->now += 2 * SECOND;
    early_start(s, a, &h[0]);
    early_refuses(s, &h[0]);
    s->now += 1000;
    early_start(s, a, &h[1]);
    early_refuses(s, &h[1]);
    early_fails(s, a, 2, 1);
    /* The one that lives goes on: a request waits for it. */
    assert_int_equal(scene_ask(s, &waits, a), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_close(s, &old);
    assert_int_equal(scene_poll(s, &waits), APR_SUCCESS);
    early_fails(s, a, 0, 0);
    assert_string_equal(scene_group(s, a)->error, "");
    scene_close(s, &waits);
    scene_end(s);
}

/* One request may end two processes in a row, and more of them may come before
 * another request is served. */
static void no_failure_while_others_are_served(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    int64_t until;
    int i;

    (void)state;
    early_start(s, a, &h);
    scene_close(s, &h);
    until = s->now + 3 * SECOND;
    early_gone(s, h.id);
    for (i = 0; i < 9; i++) {
        early_end(s, a);
        early_fails(s, a, 1, 0); /* tries stay above the limit */
    }
    early_start(s, a, &h);
    s->now = until - 1;
    scene_process(s, h.id)->ready_at = s->now;
    early_refuses(s, &h);
    early_fails(s, a, 1, 0);
    s->now = until;
    early_end(s, a);
    early_fails(s, a, 2, 1);
    scene_end(s);
}

/* A child of httpd may write any time: no pause would ever come. */
static void a_wild_time_of_a_response(void **state)
{
    static const int64_t wild[] = {INT64_MIN, -1, 0, INT64_MAX};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wild / sizeof *wild; i++) {
        scene_t *s = scene_new(3);
        apl_app_t *a = scene_app(s, "a");

        early_end(s, a);
        s->pool.groups[1].responded_at = wild[i];
        early_end(s, a);
        early_fails(s, a, 2, 1);
        scene_end(s);
    }
}

/* The old code's responses do not excuse the new code: neither those before
 * the restart, nor those of processes that it leaves or replaces. */
static void a_restart_ends_the_excuse(void **state)
{
    int rolling;

    (void)state;
    for (rolling = 0; rolling < 2; rolling++) {
        scene_t *s = scene_new(3);
        apl_app_t *a = scene_app(s, "a");
        apl_session_ref_t old[2];

        scene_busy(s, a, old, 2);
        scene_close(s, &old[0]);
        apl_admin_restart(&s->pool, "a", rolling, s->now);
        assert_true(scene_group(s, a)->responded_at == 0);
        scene_close(s, &old[1]);
        assert_true(scene_group(s, a)->responded_at == 0);
        scene_end(s);
    }
}

/* It says nothing about the code that does not start. */
static void a_response_ends_no_pause_after_a_failed_start(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t old, waits;

    (void)state;
    early_start(s, a, &old);
    early_end(s, a);
    assert_int_equal(scene_ask(s, &waits, a), APL_EWAIT);
    scene_failed(s, scene_take(s));
    early_fails(s, a, 1, 1);
    scene_close(s, &old);
    early_fails(s, a, 0, 1);
    assert_int_equal(scene_poll(s, &waits), APR_SUCCESS);
    scene_close(s, &waits);
    scene_end(s);
}

static void a_second_ends_the_row(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t old, h;

    (void)state;
    early_start(s, a, &old);
    s->now += 1000;
    early_end(s, a);
    /* This one was there before. */
    scene_tick(s, 2 * SECOND);
    early_fails(s, a, 1, 0);
    early_start(s, a, &h);
    scene_tick(s, SECOND - 1);
    early_fails(s, a, 1, 0);
    scene_tick(s, 1);
    early_fails(s, a, 0, 0);
    scene_end(s);
}

/* Nobody has looked at the group since then. */
static void a_second_counts_without_a_tick(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    early_end(s, a);
    early_start(s, a, &h);
    s->now += SECOND;
    early_refuses(s, &h);
    early_fails(s, a, 0, 0);
    early_end(s, a);
    early_fails(s, a, 1, 0);
    scene_end(s);
}

static void a_restart_ends_the_row(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    early_end(s, a);
    apl_admin_restart(&s->pool, "a", 0, s->now);
    early_fails(s, a, 0, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_ends_the_row),
        cmocka_unit_test(the_end_of_a_wait_is_no_response),
        cmocka_unit_test(a_response_ends_the_pause),
        cmocka_unit_test(no_failure_while_others_are_served),
        cmocka_unit_test(a_wild_time_of_a_response),
        cmocka_unit_test(a_restart_ends_the_excuse),
        cmocka_unit_test(a_response_ends_no_pause_after_a_failed_start),
        cmocka_unit_test(a_second_ends_the_row),
        cmocka_unit_test(a_second_counts_without_a_tick),
        cmocka_unit_test(a_restart_ends_the_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
