/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Limits of the pool and of each app: processes, idle time, requests. What
 * happens when they change. */

#include "tests/unit/support/scene.h"

/* Make n idle processes of an app, a second apart. The first one is idle for
 * longest. */
static void idle(scene_t *s, const apl_app_t *a, apl_session_ref_t *h, int n)
{
    int i;

    for (i = 0; i < n; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    for (i = 0; i < n; i++) {
        s->now += SECOND;
        scene_close(s, &h[i]);
    }
}

static void a14_idle_ones_end_and_0_is_never(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h[3], busy;

    (void)state;
    a->options.idle_time = 10 * SECOND;
    b->options.idle_time = 0;
    idle(s, b, h, 2);
    idle(s, a, h, 3);
    assert_int_equal(scene_ask(s, &busy, a), APR_SUCCESS);
    scene_tick(s, 1000 * SECOND);
    scene_is(s, 3, 1);
    assert_int_equal(s->pool.header->counters.idled, 2);
    scene_end(s);
}

static void a15_a_changed_idle_time_counts_at_once(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    idle(s, a, &h, 1);
    scene_tick(s, 10 * SECOND);
    scene_is(s, 1, 0);
    a->options.config = 2;
    a->options.idle_time = 10 * SECOND;
    apl_configure_group(&s->pool, a, 0, s->now);
    scene_tick(s, 0);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void a16_a_raised_limit_serves_all_that_it_can(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t h, w[3];
    char name[2] = "b";
    int i;

    (void)state;
    assert_int_equal(scene_get(s, &h, scene_app(s, "a")), APR_SUCCESS);
    for (i = 0; i < 3; i++, name[0]++)
        assert_int_equal(scene_ask(s, &w[i], scene_app(s, name)), APL_EWAIT);
    assert_int_equal(apl_configure_limits(&s->pool, 3, 2, s->now), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 2);
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_poll(s, &w[i]), i < 2 ? APR_SUCCESS : APL_EWAIT);
    scene_end(s);
}

static void a21_each_app_has_an_idle_time_of_its_own(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h;
    int64_t next;

    (void)state;
    a->options.idle_time = 5 * SECOND;
    b->options.idle_time = 3 * SECOND;
    idle(s, a, &h, 1);
    idle(s, b, &h, 1); /* a second later */
    scene_is(s, 2, 0);
    next = scene_tick(s, 2 * SECOND);
    assert_int_equal(next, s->now + SECOND);
    scene_tick(s, SECOND); /* b's third, a's fourth */
    assert_int_equal(s->pool.groups[1].size, 1);
    assert_int_equal(s->pool.groups[2].size, 0);
    scene_tick(s, SECOND);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void b18_max_requests_with_others_open(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_condition_t is;
    apl_session_ref_t h[3], next;
    int i;

    (void)state;
    a->options.max_requests = 2;
    a->options.concurrency = 3;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    scene_close(s, &h[0]);
    scene_is(s, 1, 1);
    scene_close(s, &h[1]); /* the second: it leaves, and has one open */
    scene_is(s, 0, 0);
    assert_int_equal(scene_get(s, &next, a), APR_SUCCESS);
    assert_true(next.id != h[2].id);
    is = scene_condition(s, h[2].id);
    assert_int_equal(is.sessions, 1);
    scene_close(s, &h[2]);
    is = scene_condition(s, h[2].id);
    assert_int_equal(is.sessions, 0);
    assert_int_equal(is.processed, 3); /* below 2 + 3 */
    scene_end(s);
}

static void b29_all_that_have_to_end_do_so_at_once(void **state)
{
    scene_t *s = scene_new(9);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[9];
    int i;

    (void)state;
    idle(s, a, h, 9);
    scene_tick(s, 1000 * SECOND);
    scene_is(s, 0, 0);
    assert_int_equal(scene_reap(s), 9);
    /* The same is true for a group that is removed. */
    for (i = 0; i < 9; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    for (i = 0; i < 9; i += 2)
        scene_close(s, &h[i]);
    assert_int_equal(apl_configure_remove(&s->pool, "a", s->now), APR_SUCCESS);
    scene_is(s, 0, 0);
    assert_int_equal(s->pool.header->leaving, 9);
    scene_end(s);
}

static void b30_the_cleaner_comes_when_the_next_expires(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];
    int64_t next;
    int i;

    (void)state;
    a->options.idle_time = 3 * SECOND;
    idle(s, a, h, 3);
    for (i = 3; i > 0; i--) {
        next = scene_tick(s, SECOND / 2);
        assert_int_equal(next, s->now + SECOND / 2);
        scene_is(s, i, 0);
        next = scene_tick(s, SECOND / 2 - 1);
        assert_int_equal(next, s->now + 1);
        scene_is(s, i, 0);
        next = scene_tick(s, 1);
        scene_is(s, i - 1, 0);
        assert_int_equal(next, s->now + SECOND);
    }
    scene_end(s);
}

static void b31_a_lowered_limit_trims_idle_ones(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[4];

    (void)state;
    idle(s, a, h, 4);
    assert_int_equal(apl_configure_limits(&s->pool, 1, 2, s->now), APR_SUCCESS);
    scene_tick(s, 0);
    scene_is(s, 1, 0);
    /* It is the process that was used last. */
    assert_int_equal(scene_ask(s, &h[0], a), APR_SUCCESS);
    assert_true(h[0].id == h[3].id);
    scene_end(s);
}

static void b32_minimum_0_1_2(void **state)
{
    scene_t *s = scene_new(9);
    uint32_t min;

    (void)state;
    for (min = 0; min < 3; min++) {
        char name[] = {(char)('a' + min), 0};
        apl_app_t *a = scene_app(s, name);
        const apl_group_t *g = &s->pool.groups[1 + min];
        apl_session_ref_t h[3];

        a->options.min_instances = min;
        assert_int_equal(scene_ask(s, &h[0], a), APL_EWAIT);
        assert_int_equal(scene_spawn(s), min < 2 ? 1 : 2);
        scene_close(s, &h[0]);
        idle(s, a, h, 3);
        assert_int_equal(g->size, 3);
        scene_tick(s, 1000 * SECOND);
        assert_int_equal(g->size, min);
        scene_tick(s, 1000 * SECOND);
        assert_int_equal(g->size, min);
    }
    scene_end(s);
}

static void b31_the_minimum_is_restored_after_a_death(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
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

static void a13_a_process_retires_when_its_last_request_is_closed(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
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

static void b19_a_waiter_gets_the_replacement(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_session_ref_t h1, h2, h3;

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

static void a17_the_newest_options_count(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *old = scene_app(s, "a");
    apl_app_t new = *old;
    apl_session_ref_t h1, h2;

    (void)state;
    old->options.max_instances = 2;
    new.options.config = 2;
    new.options.max_instances = 1;
    assert_int_equal(scene_get(s, &h1, old), APR_SUCCESS);
    assert_int_equal(apl_configure_group(&s->pool, &new, 0, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, old), APL_EWAIT);
    scene_is(s, 1, 1);
    scene_close(s, &h1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    scene_close(s, &h2);
    scene_end(s);
}

/* Leaving processes keep their slots. So there may be room for a process,
 * but no slot. */
static void out_of_slots_is_out_of_room(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t ha, hb, hc, hd;
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
    /* A new limit is no reason to end the idle process: it would keep its
     * slot. */
    apl_configure_limits(&s->pool, 2, 1, s->now);
    scene_is(s, 1, 0);
    apl_configure_limits(&s->pool, 3, 1, s->now);
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
        cmocka_unit_test(a14_idle_ones_end_and_0_is_never),
        cmocka_unit_test(a15_a_changed_idle_time_counts_at_once),
        cmocka_unit_test(a16_a_raised_limit_serves_all_that_it_can),
        cmocka_unit_test(a21_each_app_has_an_idle_time_of_its_own),
        cmocka_unit_test(b18_max_requests_with_others_open),
        cmocka_unit_test(b29_all_that_have_to_end_do_so_at_once),
        cmocka_unit_test(b30_the_cleaner_comes_when_the_next_expires),
        cmocka_unit_test(b31_a_lowered_limit_trims_idle_ones),
        cmocka_unit_test(b32_minimum_0_1_2),
        cmocka_unit_test(b31_the_minimum_is_restored_after_a_death),
        cmocka_unit_test(a13_a_process_retires_when_its_last_request_is_closed),
        cmocka_unit_test(b19_a_waiter_gets_the_replacement),
        cmocka_unit_test(a17_the_newest_options_count),
        cmocka_unit_test(out_of_slots_is_out_of_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
