/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Hung processes do not count, up to AppHungExtra. Their places are given away
 * like any others. */

#include "tests/unit/support/slow.h"

/* An app that may have `extra` processes above the limits, and starts them
 * while fewer than `under` are not hung. */
static apl_app_t *app(scene_t *s, const char *name, uint32_t under,
                      uint32_t extra)
{
    apl_app_t *a = slow_app(s, name, 0, under);

    a->options.hung_extra = extra;
    return a;
}

static uint32_t size(scene_t *s, const apl_app_t *a)
{
    return scene_group(s, a)->size;
}

/* The app that has waited longest gets it. The app with hung processes is not
 * locked out. */
static void the_place_of_a_hung_process_is_for_all_apps(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = app(s, "a", 1, 2), *b = app(s, "b", 1, 2);
    apl_session_ref_t h[2], other, more;

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(s->pool.header->credit, 2);
    assert_int_equal(scene_spawn(s), 2);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &more), APR_SUCCESS);
    scene_is(s, 4, 4);
    /* The place of a hung process that ends was given away before. */
    assert_int_equal(slow_kill(s, &h[0]), APR_SUCCESS);
    assert_int_equal(s->pool.header->credit, 1);
    assert_int_equal(scene_ask(s, &h[0], a), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 3, 3);
    scene_end(s);
}

/* Of three hung processes, one does not count: the pool has one more. */
static void the_pool_grows_by_the_credit_alone(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = app(s, "a", 4, 1), *b = app(s, "b", 4, 4);
    apl_session_ref_t h[6], other;
    int i;

    (void)state;
    scene_busy(s, a, h, 3);
    for (i = 3; i < 6; i++)
        assert_int_equal(scene_ask(s, &h[i], a), APL_EWAIT);
    for (i = 0; i < 3; i++) {
        slow_look(s, LIMIT);
        scene_spawn(s);
        assert_int_equal(s->pool.header->credit, 1);
        scene_is(s, 4, 4);
    }
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_end(s);
}

/* Without AppSpawnIfUnder all hung processes count, for all apps. */
static void without_demand_the_limit_holds(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 0, 2), *b = app(s, "b", 1, 2);
    apl_session_ref_t h, other;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(s->pool.header->credit, 0);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(slow_kill(s, &h), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    scene_end(s);
}

/* While a place is left, no process has to make room. */
static void an_idle_one_stays_while_a_place_is_left(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = app(s, "a", 1, 1), *b = app(s, "b", 0, 0);
    apl_app_t *c = app(s, "c", 0, 0);
    apl_session_ref_t ha[2], hb, hc;

    (void)state;
    scene_busy(s, a, ha, 1);
    scene_busy(s, b, &hb, 1);
    scene_close(s, &hb);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &hc, c), APR_SUCCESS);
    assert_int_equal(size(s, b), 1);
    scene_is(s, 3, 2);
    /* Then a process makes room for an app that has only hung processes. */
    assert_int_equal(scene_get(s, &ha[1], a), APR_SUCCESS);
    assert_int_equal(size(s, b), 0);
    scene_is(s, 3, 3);
    scene_end(s);
}

/* An app that has enough processes that are not hung waits for a place without
 * its own credit. Meanwhile it delays no other app. */
static void an_app_with_enough_processes_blocks_no_other(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = app(s, "a", 2, 1), *b = app(s, "b", 2, 2);
    apl_app_t *c = app(s, "c", 2, 2);
    apl_session_ref_t ha[4], hb[2], hc;

    (void)state;
    scene_busy(s, a, ha, 1);
    s->now += LIMIT;
    scene_busy(s, a, ha + 1, 2);
    assert_int_equal(scene_ask(s, &ha[3], a), APL_EWAIT);
    slow_look(s, 0);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_get(s, hb, b), APR_SUCCESS);
    scene_is(s, 4, 4);
    assert_int_equal(scene_ask(s, &hb[1], b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &hc, c), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_end(s);
}

/* Also when that app is the first in `growing`. */
static void the_first_of_its_list_blocks_no_other(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = app(s, "a", 1, 1), *b = app(s, "b", 1, 1);
    apl_session_ref_t ha[3], hb[2];

    (void)state;
    scene_busy(s, a, ha, 1);
    s->now += LIMIT;
    scene_busy(s, a, ha + 1, 1);
    scene_busy(s, b, hb, 1);
    assert_int_equal(scene_ask(s, &ha[2], a), APL_EWAIT);
    assert_int_equal(scene_ask(s, &hb[1], b), APL_EWAIT);
    slow_look(s, 0);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &hb[1]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &ha[2]), APL_EWAIT);
    scene_is(s, 4, 4);
    scene_end(s);
}

/* An idle process above the limit makes room for another app. A process of that
 * app makes room for the app whose process hangs. So the pool does not grow. */
static void one_above_the_limit_gives_way(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 1, 1), *b = scene_app(s, "b");
    apl_session_ref_t h, more, other;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(scene_spawn(s), 1);
    scene_close(s, &more);
    scene_is(s, 2, 1);
    assert_int_equal(scene_get(s, &other, b), APR_SUCCESS);
    scene_is(s, 2, 2);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_close(s, &other);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &more), APR_SUCCESS);
    assert_int_equal(size(s, b), 0);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* The app that could not start has used no credit. */
static void a_start_that_fails_gives_the_place_back(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 1, 1);
    apl_session_ref_t h, more;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    slow_look(s, LIMIT);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, 2 * SECOND);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &more), APR_SUCCESS);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* The hung process is killed. The process that was started instead has its
 * place. */
static void the_process_started_instead_keeps_the_place(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 1, 1), *b = scene_app(s, "b");
    apl_session_ref_t h, more, other;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &more, a), APR_SUCCESS);
    id = more.id;
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(slow_kill(s, &h), APR_SUCCESS);
    assert_int_equal(s->pool.header->credit, 0);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 1, 1);
    scene_close(s, &more);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    assert_int_equal(scene_condition(s, id).reason, APL_EVENT_EVICTED);
    scene_end(s);
}

/* A hung process, and an idle one above the limit. */
static apl_app_t *with_one_above(scene_t *s, apl_session_ref_t *h,
                                 uint32_t requests)
{
    apl_app_t *a = app(s, "a", 1, 1);

    a->options.max_requests = requests;
    scene_busy(s, a, &h[0], 1);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    scene_close(s, &h[1]);
    return a;
}

static void one_above_the_limit_is_replaced(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t h[2], more;
    apl_app_t *a = with_one_above(s, h, 0);

    (void)state;
    apl_supervise_outdate(&s->pool, h[1].id, s->now);
    assert_int_equal(scene_spawn(s), 1);
    scene_reap(s);
    scene_is(s, 2, 1);
    assert_int_equal(scene_get(s, &more, a), APR_SUCCESS);
    assert_true(more.id != h[1].id);
    scene_close(s, &more);
    scene_tick(s, SECOND);
    scene_is(s, 2, 1); /* it is no surplus */
    scene_end(s);
}

static void one_above_the_limit_is_replaced_at_max_requests(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t h[2], more;
    apl_app_t *a = with_one_above(s, h, 10);
    uint64_t id;
    int i;

    (void)state;
    for (i = 0; i < 9; i++) {
        assert_int_equal(scene_ask(s, &more, a), APR_SUCCESS);
        scene_close(s, &more);
    }
    id = scene_take(s);
    assert_int_not_equal(id, 0);
    assert_int_equal(s->pool.header->counters.retired, 1);
    scene_ready(s, id);
    scene_tick(s, 0);
    scene_is(s, 2, 1);
    scene_end(s);
}

/* With a lower AppHungExtra, one more process counts, and the surplus
 * leaves. */
static void less_credit_by_configuration(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 2);
    apl_session_ref_t h[4];

    (void)state;
    scene_busy(s, a, h, 2);
    slow_look(s, LIMIT);
    scene_busy(s, a, h + 2, 2);
    scene_is(s, 4, 4);
    a->options.hung_extra = 1;
    apl_configure_group(&s->pool, a, 0, s->now);
    scene_ok(s);
    scene_close(s, &h[2]);
    scene_is(s, 3, 3);
    scene_close(s, &h[3]);
    scene_is(s, 3, 2);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_of_a_hung_process_is_for_all_apps),
        cmocka_unit_test(the_pool_grows_by_the_credit_alone),
        cmocka_unit_test(without_demand_the_limit_holds),
        cmocka_unit_test(an_idle_one_stays_while_a_place_is_left),
        cmocka_unit_test(an_app_with_enough_processes_blocks_no_other),
        cmocka_unit_test(the_first_of_its_list_blocks_no_other),
        cmocka_unit_test(one_above_the_limit_gives_way),
        cmocka_unit_test(a_start_that_fails_gives_the_place_back),
        cmocka_unit_test(the_process_started_instead_keeps_the_place),
        cmocka_unit_test(one_above_the_limit_is_replaced),
        cmocka_unit_test(one_above_the_limit_is_replaced_at_max_requests),
        cmocka_unit_test(less_credit_by_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
