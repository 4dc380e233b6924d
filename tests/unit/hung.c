/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* When a process is hung, and which requests it gets then. */

#include "tests/unit/support/slow.h"

static void p4_hung_from_the_limit_on(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;

    (void)state;
    scene_busy(s, a, &h, 1);
    slow_look(s, LIMIT - 1);
    assert_int_equal(s->pool.header->hung, 0);
    slow_look(s, 1);
    assert_int_equal(s->pool.header->hung, 1);
    slow_look(s, SECOND); /* it is the same */
    assert_int_equal(s->pool.header->counters.hung, 1);
    scene_end(s);
}

static void p4_unhung_with_its_request_at_once_and_counted(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;

    (void)state;
    scene_busy(s, a, &h, 1);
    slow_look(s, LIMIT);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->hung, 0);
    assert_int_equal(s->pool.header->counters.unhung, 1);
    scene_end(s);
}

/* What closed its last session has died behind that. */
static void a_repair_ends_it_without_a_request(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;

    (void)state;
    scene_busy(s, a, &h, 1);
    slow_look(s, LIMIT);
    apl_session_ref_find(&s->pool, &h)->state = APL_SESSION_FREE;
    scene_repair(s);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->hung, 0);
    assert_int_equal(scene_process(s, h.id)->hung, 0);
    scene_end(s);
}

static void p4_the_oldest_request_counts(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t old, young;

    (void)state;
    a->options.concurrency = 2;
    scene_busy(s, a, &old, 1);
    s->now += LIMIT - SECOND;
    scene_busy(s, a, &young, 1);
    slow_look(s, SECOND);
    assert_int_equal(s->pool.header->hung, 1);
    scene_close(s, &old); /* the clock sees that the other is younger */
    slow_look(s, SECOND);
    assert_int_equal(s->pool.header->hung, 0);
    assert_int_equal(s->pool.header->counters.unhung, 1);
    scene_end(s);
}

/* Time in the queue does not count for the process. */
static void p4_waiting_is_not_working(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t first, second;

    (void)state;
    scene_busy(s, a, &first, 1);
    assert_int_equal(scene_ask(s, &second, a), APL_EWAIT);
    s->now += LIMIT - SECOND;
    scene_close(s, &first);
    slow_look(s, LIMIT - SECOND);
    assert_int_equal(s->pool.header->hung, 0);
    slow_look(s, SECOND);
    assert_int_equal(s->pool.header->hung, 1);
    scene_end(s);
}

static void long_lived_requests_make_no_process_hung(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    a->options.kill_after = LIMIT;
    scene_busy(s, a, h, 2);
    apl_checkout_set_long_lived(&s->pool, &h[0], APL_LONG_LIVED_RESPONSE);
    assert_int_equal(slow_look(s, LIMIT), 1);
    assert_int_equal(s->pool.header->hung, 1);
    /* The next request in its slot is like any other. */
    scene_close(s, &h[0]);
    scene_busy(s, a, h, 1);
    assert_int_equal(slow_look(s, LIMIT), 2);
    scene_end(s);
}

static void without_a_limit_nothing_hangs(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;

    (void)state;
    a->options.hung_after = 0;
    scene_busy(s, a, &h, 1);
    assert_int_equal(slow_look(s, 1000000 * SECOND), 0);
    assert_int_equal(s->pool.header->hung, 0);
    scene_end(s);
}

static void requests_go_to_hung_ones_last(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[6];

    (void)state;
    a->options.concurrency = 3;
    scene_busy(s, a, h, 1);
    slow_look(s, LIMIT);
    /* There is no other process, so the request gets it, and another process
     * is started. */
    assert_int_equal(scene_ask(s, &h[1], a), APR_SUCCESS);
    assert_true(h[1].id == h[0].id);
    assert_int_equal(scene_spawn(s), 1);
    scene_busy(s, a, h + 2, 3);
    assert_true(h[2].id != h[0].id);
    assert_true(h[3].id == h[2].id && h[4].id == h[2].id);
    scene_is(s, 2, 2);
    scene_busy(s, a, h + 5, 1);
    assert_true(h[5].id == h[0].id);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p4_hung_from_the_limit_on),
        cmocka_unit_test(p4_unhung_with_its_request_at_once_and_counted),
        cmocka_unit_test(a_repair_ends_it_without_a_request),
        cmocka_unit_test(p4_the_oldest_request_counts),
        cmocka_unit_test(p4_waiting_is_not_working),
        cmocka_unit_test(long_lived_requests_make_no_process_hung),
        cmocka_unit_test(without_a_limit_nothing_hangs),
        cmocka_unit_test(requests_go_to_hung_ones_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
