/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The scenarios of the pool's algorithm, with a scripted spawner. */

#include "tests/unit/scene.h"

#define SECOND 1000000ll

static void one_request_after_another_uses_one_process(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;
    int32_t pid;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_is(s, 1, 1);
    pid = h.pid;
    scene_close(s, &h);
    scene_is(s, 1, 0);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(h.pid, pid);
    scene_is(s, 1, 1);
    scene_close(s, &h);
    scene_end(s);
}

static void two_requests_at_once_use_two_processes(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h1, h2, h3;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_true(h1.id != h2.id);
    scene_is(s, 2, 2);
    assert_int_equal(scene_get(s, &h3, b), APR_SUCCESS);
    scene_is(s, 3, 3);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_close(s, &h3);
    scene_is(s, 3, 0);
    scene_end(s);
}

static void
at_the_limit_a_request_waits_for_the_first_that_is_free(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;
    uint64_t id;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    id = h1.id;
    assert_int_equal(scene_get(s, &h2, a), APL_EWAIT);
    scene_is(s, 1, 1);
    assert_int_equal(s->pool.header->waiting, 1);
    scene_close(s, &h1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_true(h2.id == id);
    scene_is(s, 1, 1);
    scene_close(s, &h2);
    scene_end(s);
}

static void a_dead_idle_process_is_replaced(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h;
    uint64_t id;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    id = h.id;
    scene_close(s, &h);
    /* It refuses before the spawner has heard of its death. */
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_refused(s, &h);
    scene_is(s, 0, 0);
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    assert_int_equal(s->pool.header->counters.died, 1);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_true(h.id != id);
    scene_is(s, 1, 1);
    /* The other way round: the spawner hears of it first. */
    id = h.id;
    s->now += 2 * SECOND;
    scene_close(s, &h);
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    assert_int_equal(s->pool.header->counters.died, 2);
    scene_is(s, 0, 0);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_end(s);
}

static void a_full_busy_pool_makes_a_new_app_wait_its_turn(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h1, h2, h3, h4;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h3, b), APL_EWAIT);
    /* A's own waiter came later than B's. */
    assert_int_equal(scene_get(s, &h4, a), APL_EWAIT);
    scene_is(s, 2, 2);
    scene_close(s, &h1);
    scene_reap(s);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &h3), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h4), APL_EWAIT);
    scene_is(s, 2, 2);
    scene_close(s, &h2);
    assert_int_equal(scene_poll(s, &h4), APR_SUCCESS);
    scene_close(s, &h3);
    scene_close(s, &h4);
    scene_end(s);
}

static void who_waited_before_the_new_app_is_served_before_it(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h1, h2, h3;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APL_EWAIT);
    assert_int_equal(scene_get(s, &h3, b), APL_EWAIT);
    scene_close(s, &h1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h3), APL_EWAIT);
    scene_close(s, &h2);
    scene_reap(s);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &h3), APR_SUCCESS);
    scene_close(s, &h3);
    scene_end(s);
}

static void who_gave_way_while_it_had_waiters_gets_its_turn(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h, w1, w2, w3;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &w1, a), APL_EWAIT);
    assert_int_equal(scene_get(s, &w2, b), APL_EWAIT);
    assert_int_equal(scene_get(s, &w3, a), APL_EWAIT);
    scene_close(s, &h);
    scene_close(s, &w1);
    scene_reap(s);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &w2), APR_SUCCESS);
    /* A wanted more when it had one; now it has none. */
    scene_close(s, &w2);
    scene_reap(s);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &w3), APR_SUCCESS);
    scene_close(s, &w3);
    scene_end(s);
}

/* Two apps that are busy and want more than they have. */
static void hungry(scene_t *s, apl_hold_t h[4])
{
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");

    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h[1], b), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h[2], b), APL_EWAIT);
    assert_int_equal(scene_get(s, &h[3], a), APL_EWAIT);
}

static void a_new_place_goes_to_who_waits_longest(void **state)
{
    scene_t *s = scene_new(2);
    apl_hold_t h[4];

    (void)state;
    hungry(s, h);
    assert_int_equal(apl_supervise_limits(&s->pool, 3, 2, s->now), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h[2]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h[3]), APL_EWAIT);
    scene_close(s, &h[0]);
    assert_int_equal(scene_poll(s, &h[3]), APR_SUCCESS);
    scene_end(s);
}

static void the_place_of_a_dead_process_does_too(void **state)
{
    scene_t *s = scene_new(2);
    apl_hold_t h[4];

    (void)state;
    hungry(s, h);
    assert_int_equal(apl_supervise_gone(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h[2]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h[3]), APL_EWAIT);
    scene_close(s, &h[1]);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h[3]), APR_SUCCESS);
    scene_end(s);
}

static void a_full_idle_pool_gives_way_to_a_new_app(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h1, h2, h3;
    uint64_t oldest;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    oldest = h2.id;
    scene_close(s, &h2);
    s->now += SECOND;
    scene_close(s, &h1);
    assert_int_equal(scene_get(s, &h3, b), APR_SUCCESS);
    scene_is(s, 2, 1);
    assert_int_equal(apl_supervise_gone(&s->pool, oldest, s->now), APL_ESTALE);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    scene_close(s, &h3);
    scene_end(s);
}

static void who_is_above_its_minimum_gives_way_first(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_app_t *c = scene_app(s, "c");
    apl_hold_t ha, hb, hc;

    (void)state;
    a->options.min_instances = 1;
    assert_int_equal(scene_get(s, &ha, a), APR_SUCCESS);
    scene_close(s, &ha);
    s->now += SECOND;
    assert_int_equal(scene_get(s, &hb, b), APR_SUCCESS);
    scene_close(s, &hb);
    /* A's is idle for longer, but B's is the one to go. */
    assert_int_equal(scene_get(s, &hc, c), APR_SUCCESS);
    assert_int_equal(scene_get(s, &ha, a), APR_SUCCESS);
    assert_int_equal(s->pool.header->counters.spawned, 3);
    scene_close(s, &ha);
    /* A minimum locks nobody out. */
    assert_int_equal(scene_get(s, &hb, b), APR_SUCCESS);
    scene_close(s, &hb);
    scene_close(s, &hc);
    scene_end(s);
}

static void detach_is_by_identifier_and_once(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;
    uint64_t busy, idle;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    busy = h1.id;
    idle = h2.id;
    scene_close(s, &h2);
    assert_int_equal(
        apl_supervise_detach(&s->pool, busy, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    scene_is(s, 1, 0);
    assert_int_equal(
        apl_supervise_detach(&s->pool, busy, APL_EVENT_DETACHED, s->now),
        APL_ESTALE);
    assert_int_equal(
        apl_supervise_detach(&s->pool, idle, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    scene_is(s, 0, 0);
    /* The busy one lives until its session is closed. */
    assert_int_equal(scene_reap(s), 1);
    scene_close(s, &h1);
    assert_int_equal(scene_reap(s), 1);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            at_the_limit_a_request_waits_for_the_first_that_is_free),
        cmocka_unit_test(one_request_after_another_uses_one_process),
        cmocka_unit_test(two_requests_at_once_use_two_processes),
        cmocka_unit_test(a_dead_idle_process_is_replaced),
        cmocka_unit_test(a_full_busy_pool_makes_a_new_app_wait_its_turn),
        cmocka_unit_test(who_waited_before_the_new_app_is_served_before_it),
        cmocka_unit_test(who_gave_way_while_it_had_waiters_gets_its_turn),
        cmocka_unit_test(a_new_place_goes_to_who_waits_longest),
        cmocka_unit_test(the_place_of_a_dead_process_does_too),
        cmocka_unit_test(a_full_idle_pool_gives_way_to_a_new_app),
        cmocka_unit_test(who_is_above_its_minimum_gives_way_first),
        cmocka_unit_test(detach_is_by_identifier_and_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
