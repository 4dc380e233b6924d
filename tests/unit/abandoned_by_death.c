/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Requests of a child of httpd that died. Their processes may still work on
 * them. */

#include "tests/unit/support/slow.h"

/* The process may still compute. An idle process is chosen before it. */
static void its_process_keeps_it(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    uint32_t self = s->pool.self, child = scene_child(s);
    apl_session_ref_t h[3], dead[2];
    apl_child_watch_t watch;
    uint64_t id;
    int i;

    (void)state;
    scene_be(s, self);
    scene_busy(s, a, h, 2);
    scene_be(s, child);
    scene_busy(s, a, dead, 1);
    id = dead[0].id;
    assert_int_equal(scene_ask(s, &dead[1], a), APL_EWAIT);
    s->now += SECOND;
    s->pool.header->counters.served = 0;
    scene_be(s, self);
    assert_int_equal(apl_child_watch_at(&s->pool, child, &watch), APR_SUCCESS);
    assert_int_equal(apl_child_watch_gone(&s->pool, &watch, s->now),
                     APR_SUCCESS);
    scene_is(s, 3, 3);
    assert_int_equal(s->pool.header->waiting, 0);
    assert_int_equal(scene_condition(s, id).abandoned, 1);
    assert_int_equal(s->pool.header->counters.served, 0); /* no response */
    for (i = 0; i < 2; i++)
        scene_close(s, &h[i]);
    for (i = 0; i < 2; i++) {
        assert_int_equal(scene_ask(s, &h[i], a), APR_SUCCESS);
        assert_true(h[i].id != id);
    }
    assert_int_equal(scene_ask(s, &h[2], a), APL_EWAIT);
    scene_hang_up(s);
    assert_int_equal(scene_poll(s, &h[2]), APR_SUCCESS);
    assert_true(h[2].id == id);
    scene_end(s);
}

/* A session that is not to be abandoned ends at once. */
static void a_session_that_is_not_abandoned_ends(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    uint32_t self = s->pool.self, child = scene_child(s);
    apl_session_ref_t h[2];
    apl_child_watch_t watch;

    (void)state;
    scene_busy(s, a, h, 2);
    apl_checkout_set_long_lived(&s->pool, &h[0], APL_LONG_LIVED_RESPONSE);
    apl_supervise_detach(&s->pool, h[1].id, APL_EVENT_DETACHED, s->now);
    scene_be(s, self);
    assert_int_equal(apl_child_watch_at(&s->pool, child, &watch), APR_SUCCESS);
    assert_int_equal(apl_child_watch_gone(&s->pool, &watch, s->now),
                     APR_SUCCESS);
    scene_is(s, 1, 0);
    assert_int_equal(apl_supervise_may_end(&s->pool, h[1].id, s->now),
                     APR_SUCCESS);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_process_keeps_it),
        cmocka_unit_test(a_session_that_is_not_abandoned_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
