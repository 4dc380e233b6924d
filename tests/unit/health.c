/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a load balancer learns: would the next request be refused? */

#include "shm/verbs/health.h"

#include "tests/unit/support/scene.h"

/* The result, which changes nothing: no process is ordered for it. */
static void is(scene_t *s, const apl_app_t *a, apr_status_t expected)
{
    apl_counters_t before = s->pool.header->counters;
    uint32_t spawning = s->pool.header->spawning;

    assert_int_equal(apl_health_app(&s->pool, a, 0, s->now), expected);
    assert_memory_equal(&before, &s->pool.header->counters, sizeof before);
    assert_int_equal(s->pool.header->spawning, spawning);
    scene_ok(s);
}

/* The same, and the next request gets the same. */
static void refuses(scene_t *s, const apl_app_t *a, apr_status_t expected)
{
    apl_session_ref_t refused;

    is(s, a, expected);
    assert_int_equal(scene_ask(s, &refused, a), expected);
}

/* A start for a request fails. */
static void start_fails(scene_t *s, const apl_app_t *a)
{
    apl_session_ref_t w;

    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_poll(s, &w), APL_ESTART);
}

static void an_app_that_nobody_has_asked_for(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    is(s, a, APR_SUCCESS);
    assert_int_equal(s->pool.header->top_group, 0);
    scene_end(s);
}

static void busy_processes_and_waiters_do_no_harm(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h, w[3];

    (void)state;
    a->options.max_queue = 4;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    is(s, a, APR_SUCCESS);
    scene_waiting(s, a, w, 3);
    is(s, a, APR_SUCCESS);
    is(s, b, APR_SUCCESS);
    scene_end(s);
}

static void a_full_queue(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h, w[2];

    (void)state;
    a->options.max_queue = 2;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, a, w, 2);
    refuses(s, a, APL_EQUEUEFULL);
    is(s, b, APR_SUCCESS);
    scene_close(s, &h);
    is(s, a, APR_SUCCESS);
    scene_end(s);
}

static void a_drain(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");

    (void)state;
    assert_int_equal(apl_admin_drain(&s->pool, a, s->now), APR_SUCCESS);
    refuses(s, a, APL_EDRAINED);
    is(s, b, APR_SUCCESS);
    assert_int_equal(apl_admin_restart(&s->pool, "a", -1, s->now),
                     APL_EDRAINED);
    is(s, a, APR_SUCCESS);
    scene_end(s);
}

/* Without a minimum, only a request can cause the next try. So the balancer has
 * to send one when the pause is over. */
static void failing_for_the_pause(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t w;

    (void)state;
    start_fails(s, a);
    refuses(s, a, APL_EBACKOFF);
    scene_tick(s, 2 * SECOND);
    is(s, a, APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    is(s, a, APL_EBACKOFF); /* that request tries it */
    scene_ready(s, scene_take(s));
    is(s, a, APR_SUCCESS);
    scene_end(s);
}

static void failing_until_the_minimum_starts(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint64_t id;

    (void)state;
    a->options.min_instances = 1;
    start_fails(s, a);
    refuses(s, a, APL_EBACKOFF);
    s->now += 2 * SECOND;
    is(s, a, APL_EBACKOFF); /* the pause is over; the tick is due */
    scene_tick(s, 0);
    id = scene_take(s);
    is(s, a, APL_EBACKOFF);
    scene_ready(s, id);
    is(s, a, APR_SUCCESS);
    scene_end(s);
}

static void old_code_that_serves_is_well(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    a->options.min_instances = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    assert_int_equal(apl_admin_restart(&s->pool, "a", 1, s->now), APR_SUCCESS);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_group(s, a)->failures, 1);
    is(s, a, APR_SUCCESS);
    scene_end(s);
}

/* A balancer may ask for more than a place in the queue. */
static void ready_with_a_process(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t w;

    (void)state;
    assert_int_equal(apl_health_app(&s->pool, a, 1, s->now), APL_EWAIT);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    assert_int_equal(apl_health_app(&s->pool, a, 1, s->now), APL_EWAIT);
    is(s, a, APR_SUCCESS);
    scene_ready(s, scene_take(s));
    assert_int_equal(apl_health_app(&s->pool, a, 1, s->now), APR_SUCCESS);
    assert_int_equal(apl_admin_drain(&s->pool, a, s->now), APR_SUCCESS);
    assert_int_equal(apl_health_app(&s->pool, a, 1, s->now), APL_EDRAINED);
    scene_end(s);
}

/* Only the marks of use say so here; no slot is in a list of free ones. */
static void no_slot_for_a_child_a_session_or_a_group(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_header_t *h = s->pool.header;
    uint32_t self = s->pool.self;

    (void)state;
    /* The next request of this child takes a slot, if there is one. */
    s->pool.self = 0;
    is(s, a, APR_SUCCESS);
    h->top_child = s->pool.n.children - 1;
    assert_int_equal(apl_health_app(&s->pool, a, 0, s->now), APL_ECHILDREN);
    h->top_child = 1;
    s->pool.self = self;
    h->top_session = s->pool.n.sessions - 1;
    assert_int_equal(apl_health_app(&s->pool, a, 0, s->now), APL_EFULL);
    h->top_session = 0;
    h->top_group = s->pool.n.groups - 1;
    assert_int_equal(apl_health_app(&s->pool, a, 0, s->now), APL_EFULL);
    h->top_group = 0;
    is(s, a, APR_SUCCESS);
    scene_end(s);
}

static void the_host_is_out_until_it_is_in(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(apl_health_is_out(&s->pool), 0);
    assert_int_equal(apl_health_set_out(&s->pool, 0), 0);
    assert_int_equal(apl_health_set_out(&s->pool, 1), 1);
    assert_int_equal(apl_health_set_out(&s->pool, 1), 0);
    assert_int_equal(apl_health_is_out(&s->pool), 1);
    scene_repair(s);
    assert_int_equal(apl_health_is_out(&s->pool), 1);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS); /* it still serves */
    assert_int_equal(apl_health_set_out(&s->pool, 0), 1);
    assert_int_equal(apl_health_is_out(&s->pool), 0);
    s->pool.header->out = 7; /* damage */
    assert_int_equal(apl_health_is_out(&s->pool), 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_app_that_nobody_has_asked_for),
        cmocka_unit_test(busy_processes_and_waiters_do_no_harm),
        cmocka_unit_test(a_full_queue),
        cmocka_unit_test(a_drain),
        cmocka_unit_test(failing_for_the_pause),
        cmocka_unit_test(failing_until_the_minimum_starts),
        cmocka_unit_test(old_code_that_serves_is_well),
        cmocka_unit_test(ready_with_a_process),
        cmocka_unit_test(no_slot_for_a_child_a_session_or_a_group),
        cmocka_unit_test(the_host_is_out_until_it_is_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
