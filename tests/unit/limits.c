/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Limits of the pool and of each app: processes, idleness, requests; and
 * what becomes of them when they change. */

#include "tests/unit/scene.h"

#define SECOND 1000000ll

static void idle_processes_end_in_time(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;
    int64_t since, next;

    (void)state;
    a->options.idle_time = SECOND;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    since = s->now;
    next = scene_tick(s, SECOND / 4);
    assert_int_equal(next, since + SECOND);
    scene_is(s, 1, 0);
    scene_tick(s, next - s->now);
    scene_is(s, 0, 0);
    assert_int_equal(scene_reap(s), 1);
    scene_end(s);
}

static void the_minimum_stays(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2, h3;

    (void)state;
    a->options.idle_time = SECOND;
    a->options.min_instances = 2;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h3, a), APR_SUCCESS);
    scene_is(s, 3, 3);
    scene_close(s, &h3);
    scene_tick(s, SECOND);
    scene_is(s, 2, 2);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_tick(s, 10 * SECOND);
    scene_is(s, 2, 0);
    scene_end(s);
}

static void the_minimum_is_restored_after_a_death(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;
    uint64_t id;

    (void)state;
    a->options.min_instances = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    id = h.id;
    scene_close(s, &h);
    s->now += 5 * SECOND;
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void an_app_keeps_to_its_own_limit(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h1, h2, h3;

    (void)state;
    a->options.max_instances = 1;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APL_EWAIT);
    assert_int_equal(scene_get(s, &h3, b), APR_SUCCESS);
    scene_is(s, 2, 2);
    scene_close(s, &h1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    scene_close(s, &h2);
    scene_close(s, &h3);
    scene_end(s);
}

static void a_process_retires_after_its_requests(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;
    uint64_t ids[9];
    int i, changes = 0;

    (void)state;
    a->options.max_requests = 4;
    for (i = 0; i < 9; i++) {
        assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
        ids[i] = h.id;
        scene_close(s, &h);
        changes += i > 0 && ids[i] != ids[i - 1];
    }
    assert_int_equal(changes, 2);
    assert_true(ids[3] != ids[4] && ids[7] != ids[8]);
    scene_end(s);
}

static void a_waiter_gets_the_replacement(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h1, h2, h3;

    (void)state;
    a->options.max_requests = 1;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APL_EWAIT);
    assert_int_equal(scene_get(s, &h3, b), APL_EWAIT);
    scene_close(s, &h1);
    assert_int_equal(scene_reap(s), 1);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h3), APL_EWAIT);
    scene_close(s, &h2);
    scene_reap(s);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &h3), APR_SUCCESS);
    scene_close(s, &h3);
    scene_end(s);
}

static void the_first_request_does_not_wait_for_the_minimum(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;

    (void)state;
    a->options.min_instances = 3;
    assert_int_equal(scene_ask(s, &h1, a), APL_EWAIT);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_poll(s, &h1), APR_SUCCESS);
    scene_is(s, 1, 1);
    assert_int_equal(s->pool.header->spawning, 1);
    /* Another get is served by whichever is there first. */
    assert_int_equal(scene_ask(s, &h2, a), APL_EWAIT);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    scene_spawn(s);
    scene_is(s, 3, 2);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_end(s);
}

static void a_raised_limit_serves_one_more(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h[3], w1, w2;
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &w1, a), APL_EWAIT);
    assert_int_equal(scene_get(s, &w2, a), APL_EWAIT);
    assert_int_equal(apl_supervise_limits(&s->pool, 4, 2, s->now), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &w1), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &w2), APL_EWAIT);
    scene_is(s, 4, 4);
    scene_close(s, &h[0]);
    assert_int_equal(scene_poll(s, &w2), APR_SUCCESS);
    scene_close(s, &h[1]);
    scene_close(s, &h[2]);
    scene_close(s, &w1);
    scene_close(s, &w2);
    /* A lowered one trims what is idle. */
    assert_int_equal(apl_supervise_limits(&s->pool, 1, 3, s->now), APR_SUCCESS);
    scene_tick(s, SECOND);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void a_removed_app_leaves_and_its_slot_comes_back(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(apl_supervise_remove(&s->pool, "a", s->now), APR_SUCCESS);
    scene_is(s, 0, 0);
    scene_close(s, &h);
    scene_reap(s);
    scene_tick(s, SECOND);
    assert_int_equal(apl_supervise_remove(&s->pool, "a", s->now), APL_ESTALE);
    /* Configured again, it works again. */
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_end(s);
}

static void an_old_child_does_not_undo_new_options(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *old = scene_app(s, "a");
    apl_app_t new = *old;
    apl_hold_t h1, h2;

    (void)state;
    old->options.max_instances = 2;
    new.options.config = 2;
    new.options.max_instances = 1;
    assert_int_equal(scene_get(s, &h1, old), APR_SUCCESS);
    assert_int_equal(apl_supervise_configure(&s->pool, &new, 0, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, old), APL_EWAIT);
    scene_is(s, 1, 1);
    scene_close(s, &h1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    scene_close(s, &h2);
    scene_end(s);
}

/* Under load no process is ever idle, so it leaves with its request. */
static void a_lowered_limit_holds_under_load(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h[3], waiting[4];
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    for (i = 0; i < 4; i++)
        assert_int_equal(scene_ask(s, &waiting[i], a), APL_EWAIT);
    a->options.max_instances = 2;
    a->options.config = 2;
    apl_supervise_configure(&s->pool, a, 0, s->now);
    scene_close(s, &h[0]);
    scene_is(s, 2, 2);
    assert_int_equal(scene_poll(s, &waiting[0]), APL_EWAIT);
    apl_supervise_limits(&s->pool, 1, 2, s->now);
    scene_close(s, &h[1]);
    scene_is(s, 1, 1);
    scene_close(s, &h[2]);
    assert_int_equal(scene_poll(s, &waiting[0]), APR_SUCCESS);
    for (i = 0; i < 4; i++)
        scene_close(s, &waiting[i]);
    scene_reap(s);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* Those that leave keep their slots: there may be room for a process and no
 * slot. */
static void out_of_slots_is_out_of_room(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t ha, hb, hc, hd;
    uint64_t first, second;

    (void)state;
    s->pool.n.processes = 1 + 4;
    a->options.concurrency = 2;
    assert_int_equal(scene_get(s, &ha, a), APR_SUCCESS);
    first = ha.id;
    assert_int_equal(scene_get(s, &hb, scene_app(s, "b")), APR_SUCCESS);
    second = hb.id;
    apl_supervise_detach(&s->pool, first, APL_EVENT_DETACHED, s->now);
    apl_supervise_detach(&s->pool, second, APL_EVENT_DETACHED, s->now);
    assert_int_equal(scene_get(s, &hc, scene_app(s, "c")), APR_SUCCESS);
    scene_close(s, &hc);
    assert_int_equal(scene_ask(s, &hc, scene_app(s, "d")), APL_EWAIT);
    /* Four slots are taken, by one idle process and one that is wanted. */
    assert_int_equal(scene_ask(s, &hd, scene_app(s, "e")), APL_EWAIT);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->spawning, 1);
    /* Another limit is no reason to end the idle one: it keeps its slot. */
    apl_supervise_limits(&s->pool, 2, 1, s->now);
    scene_is(s, 1, 0);
    apl_supervise_limits(&s->pool, 3, 1, s->now);
    scene_close(s, &ha);
    assert_int_equal(scene_reap(s), 1);
    assert_int_equal(s->pool.header->spawning, 2);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &hc), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &hd), APR_SUCCESS);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_processes_end_in_time),
        cmocka_unit_test(the_minimum_stays),
        cmocka_unit_test(the_minimum_is_restored_after_a_death),
        cmocka_unit_test(an_app_keeps_to_its_own_limit),
        cmocka_unit_test(a_process_retires_after_its_requests),
        cmocka_unit_test(a_waiter_gets_the_replacement),
        cmocka_unit_test(the_first_request_does_not_wait_for_the_minimum),
        cmocka_unit_test(a_raised_limit_serves_one_more),
        cmocka_unit_test(a_removed_app_leaves_and_its_slot_comes_back),
        cmocka_unit_test(an_old_child_does_not_undo_new_options),
        cmocka_unit_test(a_lowered_limit_holds_under_load),
        cmocka_unit_test(out_of_slots_is_out_of_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
