/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* MaxRequests: first the replacement starts, then the process ends. No process
 * gets more requests than that. */

#include "shm/policy/retire.h"
#include "tests/unit/support/scene.h"

/* One request after the other. @return the process that served all of them */
static uint64_t serve(scene_t *s, const apl_app_t *a, unsigned n)
{
    uint64_t id = 0;
    apl_session_ref_t h;

    while (n-- > 0) {
        assert_int_equal(scene_ask(s, &h, a), APR_SUCCESS);
        assert_true(id == 0 || h.id == id);
        id = h.id;
        scene_close(s, &h);
    }
    return id;
}

/* A pool of at most n processes, and an app whose first process has had one
 * request. */
static apl_app_t *begin(scene_t *s, uint32_t requests, uint32_t jitter,
                        uint32_t concurrency)
{
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    a->options.max_requests = requests;
    a->options.jitter = jitter;
    a->options.concurrency = concurrency;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    return a;
}

static void p30_the_replacement_comes_first(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = begin(s, 20, 0, 1);
    uint64_t old = serve(s, a, 16), new;

    (void)state;
    assert_int_equal(scene_take(s), 0);
    assert_true(serve(s, a, 1) == old);
    new = scene_take(s);
    assert_int_not_equal(new, 0);
    assert_true(serve(s, a, 1) == old);
    assert_int_equal(s->pool.groups[1].outdated, 1);
    scene_ready(s, new);
    assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LEAVING);
    assert_int_equal(scene_condition(s, old).reason, APL_EVENT_RETIRED);
    assert_int_equal(scene_condition(s, old).processed, 19);
    assert_int_equal(s->pool.header->counters.retired, 1);
    scene_reap(s);
    assert_true(serve(s, a, 3) == new);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void p30_at_its_limit_it_goes_all_the_same(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = begin(s, 20, 0, 1);
    uint64_t old = serve(s, a, 17), new = scene_take(s);
    apl_session_ref_t h;

    (void)state;
    assert_true(serve(s, a, 2) == old);
    assert_int_equal(scene_condition(s, old).reason, APL_EVENT_RETIRED);
    assert_int_equal(scene_condition(s, old).processed, 20);
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_ready(s, new);
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    assert_true(h.id == new);
    scene_close(s, &h);
    scene_reap(s);
    assert_int_equal(s->pool.header->counters.retired, 1);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void its_open_requests_count_when_they_are_closed(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = begin(s, 10, 0, 4);
    apl_session_ref_t h[4];
    uint64_t old = serve(s, a, 7);
    int i;

    (void)state;
    for (i = 0; i < 4; i++)
        assert_int_equal(scene_ask(s, &h[i], a), APR_SUCCESS);
    assert_int_equal(scene_take(s), 0);
    scene_close(s, &h[0]);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LEAVING);
    for (i = 1; i < 4; i++)
        scene_close(s, &h[i]);
    /* At most max_requests + concurrency - 1. */
    assert_int_equal(scene_condition(s, old).processed, 12);
    scene_reap(s);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* It has had half of its requests since it was ready. That was a second ago,
 * plus a boot of each other process, because these are replaced one by one as
 * well. */
static void is_early(uint32_t processes, int64_t boot, int expected)
{
    scene_t *s = scene_new(processes + 1);
    apl_app_t *a = scene_app(s, "a");
    uint64_t id, first = 0;
    apl_session_ref_t h;
    uint32_t i;

    a->options.max_requests = 100;
    a->options.min_instances = processes;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    for (i = 0; i < processes; i++) {
        id = scene_take(s);
        first = first ? first : id;
        s->now += boot;
        scene_ready(s, id);
        scene_tick(s, 0);
    }
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    scene_close(s, &h);
    serve(s, a, 48);
    s->now += 1000000;
    assert_int_equal(scene_take(s), 0);
    assert_true(serve(s, a, 1) == first);
    assert_int_equal(scene_take(s) != 0, expected);
    scene_end(s);
}

static void it_is_so_busy_that_a_tenth_would_not_do(void **state)
{
    (void)state;
    is_early(1, 400000, 0); /* 1 s for two boots */
    is_early(1, 600000, 1);
    is_early(3, 400000, 0); /* 1.8 s for four */
    is_early(3, 600000, 1); /* 2.2 s */
}

static void less_than_ten_leave_no_time_for_it(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = begin(s, 9, 0, 1);
    uint64_t old = serve(s, a, 7);

    (void)state;
    assert_int_equal(scene_take(s), 0);
    assert_true(serve(s, a, 1) == old);
    assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LEAVING);
    assert_int_equal(scene_take(s), 0); /* and no request waits */
    scene_end(s);
}

static void a_tenth_of_what_its_jitter_gives(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = begin(s, 10, 990, 1);
    uint64_t old = serve(s, a, 1), limit = 10 + (old >> 16) % 991;

    (void)state;
    assert_true(limit > 20);
    serve(s, a, (unsigned)(limit - limit / 10) - 3);
    assert_int_equal(scene_take(s), 0);
    serve(s, a, 1);
    assert_int_not_equal(scene_take(s), 0);
    scene_end(s);
}

static void the_old_one_serves_while_the_new_fails(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = begin(s, 40, 0, 1);
    uint64_t old = serve(s, a, 35);

    (void)state;
    scene_failed(s, scene_take(s));
    assert_true(serve(s, a, 1) == old);
    assert_int_equal(scene_take(s), 0); /* it backs off */
    scene_tick(s, 1000000);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LEAVING);
    scene_reap(s);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* It would be the last working process. */
static void at_its_limit_it_stays_while_the_new_fails(void **state)
{
    static const uint32_t limits[] = {40, 5};
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        scene_t *s = scene_new(1);
        apl_app_t *a = begin(s, limits[i], 0, 1);
        apl_session_ref_t h;
        uint64_t old = serve(s, a, limits[i] - 3), new;

        apl_supervise_outdate(&s->pool, old, s->now);
        scene_failed(s, scene_take(s));
        assert_true(serve(s, a, 20) == old);
        assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LIVE);
        assert_int_equal(scene_take(s), 0); /* it backs off */
        scene_tick(s, 1000000);
        new = scene_take(s);
        assert_int_equal(scene_ask(s, &h, a), APR_SUCCESS);
        assert_true(h.id == old);
        scene_ready(s, new);
        assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LEAVING);
        scene_close(s, &h);
        scene_reap(s);
        assert_true(serve(s, a, 1) == new);
        scene_is(s, 1, 0);
        scene_end(s);
    }
}

/* The child that closed its last request died before it retired the process. */
static void repair_keeps_a_process_that_is_to_be_replaced(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = begin(s, 5, 0, 1);
    uint64_t old = serve(s, a, 3);

    (void)state;
    apl_supervise_outdate(&s->pool, old, s->now);
    scene_failed(s, scene_take(s));
    scene_process(s, old)->processed = 5;
    apl_housekeeping_repair(&s->pool, s->now);
    assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LIVE);
    assert_int_equal(s->pool.groups[1].outdated, 1);
    scene_drop(s);
}

/* What was to replace it takes its place, and not one above the limit. */
/* Only a process that died can have forgotten one. Each one costs a walk
 * through all starts. */
static void a_repair_ends_few_that_are_full(void **state)
{
    enum { FULL = 3 * APL_RETIRE_MISSED_MAX };
    scene_t *s = scene_new(FULL);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[FULL];
    int i;

    (void)state;
    scene_busy(s, a, h, FULL);
    for (i = 0; i < FULL; i++)
        scene_close(s, &h[i]);
    s->pool.groups[1].options.max_requests = 1;
    for (i = 1; i <= 2; i++) {
        scene_repair(s);
        assert_int_equal(s->pool.header->leaving, i * APL_RETIRE_MISSED_MAX);
    }
    scene_reap(s);
    scene_end(s);
}

static void i11_the_replacement_takes_the_place(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = begin(s, 10, 0, 1), *b = scene_app(s, "b");
    const apl_header_t *h = s->pool.header;
    apl_session_ref_t busy, waiting;
    uint64_t id;

    (void)state;
    assert_int_equal(scene_get(s, &busy, b), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &waiting, b), APL_EWAIT);
    serve(s, a, 8);
    id = scene_take(s);
    assert_int_equal(h->replacing, 1);
    serve(s, a, 1);
    assert_int_equal(h->replacing, 0);
    assert_int_equal(scene_take(s), 0);
    scene_ready(s, id);
    scene_is(s, 2, 1);
    /* It works, and does not leave when another process has closed a
     * request. */
    assert_true(serve(s, a, 1) == id);
    scene_is(s, 2, 1);
    scene_end(s);
}

/* Several processes at the same time: they are replaced one by one, with
 * only one above the limit. */
static void i12_one_by_one(void **state)
{
    scene_t *s = scene_new(8);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];
    int i, k;

    (void)state;
    a->options.max_requests = 20;
    a->options.max_instances = 3;
    for (k = 0; k < 18; k++) {
        for (i = 0; i < 3; i++)
            assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
        for (i = 0; i < 3; i++)
            scene_close(s, &h[i]);
    }
    assert_int_equal(s->pool.groups[1].outdated, 3);
    for (i = 3; i > 0; i--) {
        uint64_t id = scene_take(s);

        assert_int_not_equal(id, 0);
        assert_int_equal(scene_take(s), 0);
        scene_ready(s, id);
        assert_int_equal(s->pool.groups[1].outdated, i - 1);
        assert_int_equal(s->pool.groups[1].size, 3);
    }
    assert_int_equal(s->pool.header->counters.retired, 3);
    scene_reap(s);
    scene_is(s, 3, 0);
    scene_end(s);
}

/* The last process of one app has had its last request, while another request
 * of that app and one of another app wait. @param own_first which came first */
static void two_wait_for_its_place(int own_first)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = begin(s, 2, 0, 1), *b = scene_app(s, "b");
    apl_session_ref_t last, first, second;

    assert_int_equal(scene_ask(s, &last, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &first, own_first ? a : b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &second, own_first ? b : a), APL_EWAIT);
    scene_close(s, &last);
    assert_int_equal(s->pool.header->counters.retired, 1);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &first), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &second), APL_EWAIT);
    assert_int_equal(s->pool.header->counters.evicted, 0);
    scene_end(s);
}

/* Its place goes to the request that waits longest, whatever its app. */
static void another_app_that_waits_longer_has_the_place(void **state)
{
    (void)state;
    two_wait_for_its_place(0);
}

/* This is so also if the app of that request is the same. */
static void an_app_that_waits_shorter_does_not(void **state)
{
    (void)state;
    two_wait_for_its_place(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p30_the_replacement_comes_first),
        cmocka_unit_test(p30_at_its_limit_it_goes_all_the_same),
        cmocka_unit_test(another_app_that_waits_longer_has_the_place),
        cmocka_unit_test(an_app_that_waits_shorter_does_not),
        cmocka_unit_test(its_open_requests_count_when_they_are_closed),
        cmocka_unit_test(it_is_so_busy_that_a_tenth_would_not_do),
        cmocka_unit_test(less_than_ten_leave_no_time_for_it),
        cmocka_unit_test(a_tenth_of_what_its_jitter_gives),
        cmocka_unit_test(the_old_one_serves_while_the_new_fails),
        cmocka_unit_test(at_its_limit_it_stays_while_the_new_fails),
        cmocka_unit_test(repair_keeps_a_process_that_is_to_be_replaced),
        cmocka_unit_test(a_repair_ends_few_that_are_full),
        cmocka_unit_test(i11_the_replacement_takes_the_place),
        cmocka_unit_test(i12_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
