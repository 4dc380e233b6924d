/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* An app that has left the configuration: its processes end after their
 * requests. */

#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

static void remove_app(scene_t *s, const apl_app_t *a)
{
    assert_int_equal(apl_configure_remove(&s->pool, a->name, s->now),
                     APR_SUCCESS);
    scene_ok(s);
}

static void i6_a_removed_group_takes_its_processes_along(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t busy, idle, waits;
    uint64_t boots;

    (void)state;
    assert_int_equal(scene_get(s, &busy, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &idle, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &waits, a), APL_EWAIT);
    boots = scene_take(s);
    scene_close(s, &waits);
    scene_close(s, &idle);
    remove_app(s, a);
    scene_is(s, 0, 0);
    assert_int_equal(s->pool.header->leaving, 3);
    assert_int_equal(apl_supervise_ready(&s->pool, boots, s->now), APL_ESTALE);
    /* The group exists while one of its processes or sessions exists. */
    scene_reap(s);
    scene_tick(s, 1000000);
    assert_int_equal(s->pool.groups[1].state, APL_GROUP_USED);
    scene_close(s, &busy);
    scene_reap(s);
    scene_tick(s, 1000000);
    assert_int_equal(apl_configure_remove(&s->pool, "a", s->now), APL_ESTALE);
    /* Configured again, it works again. */
    assert_int_equal(scene_get(s, &idle, a), APR_SUCCESS);
    scene_close(s, &idle);
    scene_end(s);
}

static void waiters_are_served_first(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w1, w2;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w1, a), APL_EWAIT);
    assert_int_equal(scene_ask(s, &w2, a), APL_EWAIT);
    remove_app(s, a);
    scene_close(s, &h);
    assert_int_equal(scene_poll(s, &w1), APR_SUCCESS);
    scene_tick(s, 1000000);
    scene_close(s, &w1);
    assert_int_equal(scene_poll(s, &w2), APR_SUCCESS);
    scene_tick(s, 1000000);
    scene_is(s, 0, 0);
    scene_close(s, &w2);
    scene_reap(s);
    scene_tick(s, 1000000);
    assert_int_equal(s->pool.groups[1].state, APL_GROUP_FREE);
    scene_end(s);
}

static void waiters_that_cannot_be_served_get_an_error(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[80];
    int i;

    (void)state;
    a->options.max_queue = 0;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, a, w, 80);
    remove_app(s, a);
    s->now += 5000000;
    assert_int_equal(apl_supervise_gone(&s->pool, h.id, s->now), APR_SUCCESS);
    for (i = 0; i < 3; i++)
        scene_tick(s, 1000000);
    scene_polls(s, w, 80, APL_ESTOPPING);
    /* A child of the last generation has one more request. */
    assert_int_equal(scene_ask(s, &w[0], a), APL_ESTOPPING);
    scene_close(s, &h);
    scene_end(s);
}

static void an_order_that_is_not_taken_yet_is_dropped(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t w;

    (void)state;
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    scene_close(s, &w);
    remove_app(s, a);
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, 1000000);
    assert_int_equal(s->pool.groups[1].state, APL_GROUP_FREE);
    scene_end(s);
}

/* The spawner died after it had marked the app, before the processes. */
static void half_a_removal_is_finished(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    a->options.min_instances = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    s->pool.groups[1].retired = 1;
    scene_tick(s, 1000000);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void a_removed_app_may_come_back(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    remove_app(s, a);
    apl_configure_group(&s->pool, a, 0, s->now);
    scene_ok(s);
    scene_close(s, &h);
    scene_reap(s);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i6_a_removed_group_takes_its_processes_along),
        cmocka_unit_test(waiters_are_served_first),
        cmocka_unit_test(waiters_that_cannot_be_served_get_an_error),
        cmocka_unit_test(an_order_that_is_not_taken_yet_is_dropped),
        cmocka_unit_test(half_a_removal_is_finished),
        cmocka_unit_test(a_removed_app_may_come_back),
    };

    test_clock_slow(100); /* a verb waits for 1 s at most */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
