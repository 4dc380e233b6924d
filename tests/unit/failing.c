/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Apps that do not start, or die as soon as they have started. */

#include "tests/unit/scene.h"

#define SECOND 1000000

static void a_failed_spawn_in_the_background_harms_nobody(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &h2, a), APL_EWAIT);
    scene_failed(s, scene_take(s));
    scene_is(s, 1, 1);
    assert_int_equal(s->pool.header->spawning, 0);
    /* The healthy one serves on; nothing is spawned before its time. */
    assert_int_equal(scene_poll(s, &h2), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, SECOND / 2);
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, SECOND);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_end(s);
}

static void a_failed_first_spawn_is_told_to_all_and_not_repeated(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2, h3;
    int i;

    (void)state;
    assert_int_equal(scene_ask(s, &h1, a), APL_EWAIT);
    assert_int_equal(scene_ask(s, &h2, a), APL_EWAIT);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_poll(s, &h1), APL_ESTART);
    assert_int_equal(h1.error_id, 0xe44);
    assert_int_equal(scene_poll(s, &h2), APL_ESTART);
    /* Backing off: refused at once, and nothing is started. */
    assert_int_equal(scene_ask(s, &h3, a), APL_EBACKOFF);
    assert_int_equal(h3.retry_after, SECOND);
    assert_int_equal(scene_take(s), 0);
    /* Half open: one try, then twice the time. */
    for (i = 1; i <= 7; i++) {
        s->now += h3.retry_after;
        assert_int_equal(scene_ask(s, &h1, a), APL_EWAIT);
        assert_int_equal(scene_ask(s, &h2, a), APL_EWAIT);
        scene_failed(s, scene_take(s));
        assert_int_equal(scene_take(s), 0);
        assert_int_equal(scene_poll(s, &h1), APL_ESTART);
        assert_int_equal(scene_poll(s, &h2), APL_ESTART);
        assert_int_equal(scene_ask(s, &h3, a), APL_EBACKOFF);
        assert_int_equal(h3.retry_after, (i < 6 ? 1 << i : 60) * SECOND);
    }
    s->now += h3.retry_after;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    scene_close(s, &h1);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void an_app_that_backs_off_evicts_nobody(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h;

    (void)state;
    assert_int_equal(scene_ask(s, &h, b), APL_EWAIT);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_poll(s, &h), APL_ESTART);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    assert_int_equal(scene_ask(s, &h, b), APL_EBACKOFF);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->counters.evicted, 0);
    scene_end(s);
}

static void one_that_dies_at_once_each_time_backs_off(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;
    uint64_t id;
    int i, starts = 0;

    (void)state;
    a->options.min_instances = 1;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    scene_close(s, &h);
    for (i = 0; i < 600; i++) {
        id = scene_take(s);
        if (id != 0) {
            starts++;
            scene_ready(s, id);
            apl_supervise_gone(&s->pool, id, s->now);
        }
        scene_tick(s, 100000);
    }
    assert_in_range(starts, 5, 8);
    /* One that has served a request is well. */
    scene_tick(s, 60 * 1000000);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_ask(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    assert_int_equal(s->pool.groups[1].young, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_spawn_in_the_background_harms_nobody),
        cmocka_unit_test(a_failed_first_spawn_is_told_to_all_and_not_repeated),
        cmocka_unit_test(an_app_that_backs_off_evicts_nobody),
        cmocka_unit_test(one_that_dies_at_once_each_time_backs_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
