/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Starts: how many there are, for which app, how long they may take, and what
 * happens when they fail. */

#include <string.h>

#include "shm/verbs/group_start.h"
#include "tests/unit/support/scene.h"

static void a18_a_failed_start_ends_all_waits_for_it(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h1, h2, h3;
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
    /* After the pause: one try, then a pause of twice the time. */
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

static void a_command_that_cannot_run_is_an_error_of_its_own(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    assert_int_equal(
        apl_supervise_failed(&s->pool, scene_take(s), 0, 0xe44, "no", s->now),
        APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h), APL_EREFUSED);
    assert_int_equal(h.error_id, 0xe44);
    assert_int_equal(h.retry_after, SECOND);
    scene_end(s);
}

static void a8_a_new_group_starts_up_to_its_minimum(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h, w;
    int i;

    (void)state;
    a->options.min_instances = 3;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    for (i = 0; i < 3; i++) { /* one after the other */
        assert_int_equal(s->pool.header->spawning, 1);
        scene_ready(s, scene_take(s));
    }
    assert_int_equal(s->pool.header->spawning, 0);
    scene_is(s, 3, 1);
    /* Or as many as the limits allow. */
    b->options.min_instances = 3;
    assert_int_equal(scene_ask(s, &w, b), APL_EWAIT);
    assert_int_equal(scene_spawn(s), 1);
    scene_is(s, 4, 2);
    assert_int_equal(s->pool.header->counters.evicted, 0);
    scene_end(s);
}

static void a20_starts_end_in_any_order(void **state)
{
    scene_t *s = scene_new(4);
    apl_session_ref_t h[3];
    uint64_t ids[3];
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "c"};

        assert_int_equal(scene_ask(s, &h[i], scene_app(s, names[i])),
                         APL_EWAIT);
        ids[i] = scene_take(s);
    }
    for (i = 2; i >= 0; i--) {
        scene_ready(s, ids[i]);
        assert_int_equal(scene_poll(s, &h[i]), APR_SUCCESS);
        assert_true(h[i].id == ids[i]);
    }
    scene_end(s);
}

static void b4_a_failed_start_leaves_the_healthy_in_their_group(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    const apl_group_t *g = &s->pool.groups[1];
    apl_session_ref_t h[2], w;

    (void)state;
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    scene_failed(s, scene_take(s));
    scene_is(s, 2, 2);
    /* A process will become free, so the waiters get no error. */
    assert_int_equal(scene_poll(s, &w), APL_EWAIT);
    assert_int_equal(g->failures, 1);
    assert_int_equal(g->error_id, 0xe44);
    scene_close(s, &h[0]);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &h[0], a), APL_EWAIT);
    scene_close(s, &h[1]);
    assert_int_equal(scene_poll(s, &h[0]), APR_SUCCESS);
    scene_end(s);
}

static void b5_a_slow_start_delays_no_other_app(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *slow = scene_app(s, "slow"), *b = scene_app(s, "b");
    apl_session_ref_t w[5], h;
    uint64_t id;
    int i;

    (void)state;
    scene_waiting(s, slow, w, 5);
    id = scene_take(s);
    for (i = 0; i < 3600; i++) {
        assert_int_equal(scene_get(s, &h, b), APR_SUCCESS);
        assert_int_equal(h.queued, 0);
        scene_close(s, &h);
        scene_tick(s, SECOND);
    }
    assert_int_equal(s->pool.header->counters.spawned, 1);
    /* Five requests wait for one start. */
    assert_int_equal(scene_take(s), 0);
    scene_ready(s, id);
    for (i = 0; i < 5; i++) {
        assert_int_equal(scene_poll(s, &w[i]), APR_SUCCESS);
        scene_close(s, &w[i]);
    }
    scene_end(s);
}

static void b9_starts_in_flight_take_their_place(void **state)
{
    scene_t *s = scene_new(3);
    const apl_header_t *header = s->pool.header;
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2], w;
    char name[2] = "b";

    (void)state;
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    for (; name[0] < 'h'; name[0]++) {
        assert_int_equal(scene_ask(s, &w, scene_app(s, name)), APL_EWAIT);
        assert_int_equal(header->count + header->spawning, 3);
    }
    assert_int_equal(scene_spawn(s), 1);
    scene_is(s, 3, 3);
    scene_end(s);
}

static void b10_a_start_looks_at_the_minimum_of_now(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t boots;

    (void)state;
    a->options.min_instances = 4;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    scene_ready(s, scene_take(s));
    boots = scene_take(s);
    a->options.config = 2;
    a->options.min_instances = 1;
    apl_configure_group(&s->pool, a, 0, s->now);
    scene_ready(s, boots);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 2, 1);
    a->options.config = 3;
    a->options.min_instances = 5;
    apl_configure_group(&s->pool, a, 0, s->now);
    assert_int_equal(scene_spawn(s), 3);
    scene_is(s, 5, 1);
    scene_end(s);
}

static void b11_what_was_detached_while_it_booted_is_ended(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_condition_t is;
    apl_session_ref_t h;
    uint64_t boots;

    (void)state;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    boots = scene_take(s);
    assert_int_equal(
        apl_supervise_detach(&s->pool, boots, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    /* Its result is not dropped silently: the process has to be stopped. */
    assert_int_equal(apl_supervise_ready(&s->pool, boots, s->now), APL_ESTALE);
    is = scene_condition(s, boots);
    assert_int_equal(is.state, APL_PROCESS_LEAVING);
    assert_int_equal(scene_reap(s), 1);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    scene_end(s);
}

static void b27_a_failed_start_frees_its_place_for_others(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t a, b;

    (void)state;
    assert_int_equal(scene_ask(s, &a, scene_app(s, "a")), APL_EWAIT);
    assert_int_equal(scene_ask(s, &b, scene_app(s, "b")), APL_EWAIT);
    /* No process was active, and none is. But there is room now. */
    scene_failed(s, scene_take(s));
    scene_is(s, 0, 0);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &b), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &a), APL_ESTART);
    scene_end(s);
}

static void d2_the_second_process_boots_while_the_first_serves(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w;
    uint64_t boots;
    int i;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    boots = scene_take(s);
    for (i = 0; i < 10; i++) {
        apl_session_ref_t *from = i % 2 ? &w : &h, *to = i % 2 ? &h : &w;

        scene_close(s, from);
        assert_int_equal(scene_poll(s, to), APR_SUCCESS);
        assert_int_equal(scene_ask(s, from, a), APL_EWAIT);
    }
    scene_ready(s, boots);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    assert_true(w.id == boots);
    scene_end(s);
}

static void one_that_dies_at_once_each_time_backs_off(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
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
    /* A process that has served a request is healthy. */
    scene_tick(s, 60 * 1000000);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_ask(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    assert_int_equal(s->pool.groups[1].young, 0);
    scene_end(s);
}

/* Is this start said to be one of which nothing is known yet? */
static void is_unknown(scene_t *s, const apl_app_t *a, uint64_t id)
{
    apl_slow_start_t got;

    memset(&got, 'x', sizeof got);
    assert_int_equal(apl_slow_start_read(&s->pool, a, &got, s->now), 1);
    assert_int_equal(got.id, id);
    assert_int_equal(got.since, s->now);
    assert_string_equal(got.text, "");
}

/* What is known of it counts while it starts, and to a request only while the
 * app has no process. */
static void a_slow_start_is_over_when_it_is(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_slow_start_t slow = {.since = s->now}, got;
    apl_session_ref_t h, other;
    apl_group_t *g;
    uint64_t id;

    (void)state;
    assert_int_equal(apl_slow_start_write(&s->pool, "a", &slow, s->now),
                     APL_ESTALE);
    assert_int_equal(apl_slow_start_read(&s->pool, a, &got, s->now), 0);
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    g = &s->pool.groups[1];
    /* the spawner has not taken it */
    assert_int_equal(apl_slow_start_read(&s->pool, a, &got, s->now), 0);
    slow.id = scene_take(s);
    memset(slow.text, 'x', sizeof slow.text); /* by a hostile child */
    is_unknown(s, a, slow.id);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    id = scene_take(s);
    is_unknown(s, b, id);
    scene_ready(s, id);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    scene_close(s, &other);
    assert_int_equal(apl_slow_start_write(&s->pool, "a", &slow, s->now),
                     APR_SUCCESS);
    assert_int_equal(apl_slow_start_read(&s->pool, a, &got, s->now), 1);
    assert_int_equal(strlen(got.text), sizeof got.text - 1);
    g->slow_start.id += 0x10000; /* another process of that slot */
    is_unknown(s, a, slow.id);
    g->slow_start.id = 0x10000; /* a template */
    is_unknown(s, a, slow.id);
    g->template.state = APL_TEMPLATE_LOADING;
    assert_int_equal(apl_slow_start_read(&s->pool, a, &got, s->now), 1);
    assert_int_equal(got.id, 0x10000);
    g->slow_start.id = slow.id;
    g->size++; /* there is another process */
    assert_int_equal(apl_slow_start_read(&s->pool, a, &got, s->now), 0);
    assert_non_null(apl_slow_start_of(&s->pool, g));
    g->size--;
    scene_ready(s, slow.id);
    assert_null(apl_slow_start_of(&s->pool, g));
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    scene_close(s, &h);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a8_a_new_group_starts_up_to_its_minimum),
        cmocka_unit_test(a18_a_failed_start_ends_all_waits_for_it),
        cmocka_unit_test(a_command_that_cannot_run_is_an_error_of_its_own),
        cmocka_unit_test(a20_starts_end_in_any_order),
        cmocka_unit_test(b4_a_failed_start_leaves_the_healthy_in_their_group),
        cmocka_unit_test(b5_a_slow_start_delays_no_other_app),
        cmocka_unit_test(b9_starts_in_flight_take_their_place),
        cmocka_unit_test(b10_a_start_looks_at_the_minimum_of_now),
        cmocka_unit_test(b11_what_was_detached_while_it_booted_is_ended),
        cmocka_unit_test(b27_a_failed_start_frees_its_place_for_others),
        cmocka_unit_test(one_that_dies_at_once_each_time_backs_off),
        cmocka_unit_test(a_slow_start_is_over_when_it_is),
        cmocka_unit_test(d2_the_second_process_boots_while_the_first_serves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
