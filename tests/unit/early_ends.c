/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Processes that end by themselves before their start is a success
 * (shm/policy/backoff.h). */

#include <string.h>

#include "tests/unit/support/early.h"

static void pause_is_over(scene_t *s, const apl_app_t *a)
{
    s->now = scene_group(s, a)->retry_at;
}

/* ---- the ways to end ---- */

static void dies_with_its_request(scene_t *s, apl_session_ref_t *h)
{
    early_gone(s, h->id);
    scene_refused(s, h);
}

static void dies_while_idle(scene_t *s, apl_session_ref_t *h)
{
    apl_checkin_unused(&s->pool, h, s->now);
    early_gone(s, h->id);
}

static void says_that_it_stops(scene_t *s, apl_session_ref_t *h)
{
    assert_int_equal(
        apl_supervise_detach(&s->pool, h->id, APL_EVENT_EXITED, s->now),
        APR_SUCCESS);
    dies_with_its_request(s, h);
}

static void closes_the_connection(scene_t *s, apl_session_ref_t *h)
{
    apl_checkin_unanswered(&s->pool, h, s->now);
    early_gone(s, h->id);
}

typedef void way_t(scene_t *s, apl_session_ref_t *h);

static way_t *const ways[] = {early_refuses, dies_with_its_request,
                              dies_while_idle, says_that_it_stops,
                              closes_the_connection};

static void the_second_in_a_row_backs_off(void **state)
{
    size_t i;
    int n;

    (void)state;
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        scene_t *s = scene_new(2);
        apl_app_t *a = scene_app(s, "a");
        apl_session_ref_t h;
        uint64_t id = early_start(s, a, &h);

        ways[i](s, &h);
        early_fails(s, a, 1, 0);
        assert_int_equal(scene_group(s, a)->n_failed, 0);
        for (n = 0; n < 3; n++) {
            s->now += 1000;
            id = early_start(s, a, &h); /* at once */
            ways[i](s, &h);
            early_fails(s, a, (uint32_t)n + 2, (uint32_t)n + 1);
            assert_true(scene_group(s, a)->error_id == id);
            assert_string_equal(scene_group(s, a)->error,
                                "it ended as soon as it was ready");
            assert_true(scene_group(s, a)->retry_at == s->now + (SECOND << n));
            assert_int_equal(scene_ask(s, &h, a), APL_EBACKOFF);
            pause_is_over(s, a);
        }
        scene_end(s);
    }
}

static void what_was_asked_to_end_is_not_counted(void **state)
{
    static const uint32_t reasons[] = {APL_EVENT_DETACHED, APL_EVENT_REMOVED,
                                       APL_EVENT_EVICTED,  APL_EVENT_KILLED,
                                       APL_EVENT_RESTART,  APL_EVENT_IDLE,
                                       APL_EVENT_TRIMMED,  APL_EVENT_RETIRED};
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        early_start(s, a, &h);
        apl_supervise_detach(&s->pool, h.id, reasons[i], s->now);
        early_refuses(s, &h);
        early_fails(s, a, 0, 0);
    }
    scene_end(s);
}

static void one_that_is_a_second_old_is_not_counted(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    early_start(s, a, &h);
    s->now += SECOND;
    early_refuses(s, &h);
    early_fails(s, a, 0, 0);
    early_start(s, a, &h);
    s->now += SECOND - 1;
    early_refuses(s, &h);
    early_fails(s, a, 1, 0);
    scene_end(s);
}

/* ---- starts and requests ---- */

static void starts_under_way_end_for_the_same_reason(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];

    (void)state;
    scene_busy(s, a, h, 3);
    s->now += 1000;
    early_refuses(s, &h[0]);
    early_refuses(s, &h[1]);
    early_refuses(s, &h[2]);
    early_fails(s, a, 1, 0);
    scene_end(s);
}

/* The pause goes on although one more process is live. Requests that wait get
 * no other one before it is a success. */
static void one_process_probes(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, waits[3];
    uint64_t id;

    (void)state;
    early_end(s, a);
    early_end(s, a);
    early_fails(s, a, 2, 1);
    pause_is_over(s, a);
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    scene_waiting(s, a, waits, 3);
    id = scene_take(s);
    scene_ready(s, id);
    early_fails(s, a, 2, 1);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    scene_close(s, &h);
    early_fails(s, a, 0, 0);
    assert_int_equal(scene_poll(s, &waits[0]), APR_SUCCESS);
    assert_int_not_equal(scene_take(s), 0);
    scene_close(s, &waits[0]);
    scene_end(s);
}

static void requests_stop_waiting(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, waits[2];
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) { /* as of early_refuses(), and the other order */
        early_end(s, a);
        early_start(s, a, &h);
        scene_waiting(s, a, waits, 2);
        ways[i](s, &h);
        early_fails(s, a, 2, 1);
        scene_polls(s, waits, 2, APL_ESTART);
        apl_admin_restart(&s->pool, "a", 0, s->now);
    }
    scene_end(s);
}

/* A process that the segment had lost was ready for long. */
static void one_that_is_put_back_is_a_success(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_start_t start = scene_start(4711);

    (void)state;
    early_end(s, a);
    assert_int_equal(
        apl_reconcile_adopt(&s->pool, 1 << 20 | 1, &start, "a", 1, s->now),
        APR_SUCCESS);
    early_gone(s, 1 << 20 | 1);
    early_fails(s, a, 1, 0);
    scene_end(s);
}

/* What the spawner writes to the log before it tells the pool. */
static void the_spawner_knows_before(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t id = early_start(s, a, &h);

    (void)state;
    assert_int_equal(apl_reconcile_ends_early(&s->pool, id, s->now), 0);
    early_refuses(s, &h);
    id = early_start(s, a, &h);
    assert_int_equal(apl_reconcile_ends_early(&s->pool, id, s->now), 1);
    assert_int_equal(apl_reconcile_ends_early(&s->pool, id + 65536, s->now), 0);
    assert_int_equal(apl_reconcile_ends_early(&s->pool, id, s->now + SECOND),
                     0);
    /* A child of httpd has noticed it first, and a spawner comes late. */
    scene_refused(s, &h);
    s->now += 5 * SECOND;
    assert_int_equal(apl_reconcile_ends_early(&s->pool, id, s->now), 1);
    early_gone(s, id);
    early_fails(s, a, 2, 1);
    /* Another one, which is asked to end. */
    id = early_start(s, a, &h);
    apl_supervise_detach(&s->pool, id, APL_EVENT_DETACHED, s->now);
    assert_int_equal(apl_reconcile_ends_early(&s->pool, id, s->now), 0);
    scene_close(s, &h);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_in_a_row_backs_off),
        cmocka_unit_test(what_was_asked_to_end_is_not_counted),
        cmocka_unit_test(one_that_is_a_second_old_is_not_counted),
        cmocka_unit_test(starts_under_way_end_for_the_same_reason),
        cmocka_unit_test(one_process_probes),
        cmocka_unit_test(requests_stop_waiting),
        cmocka_unit_test(one_that_is_put_back_is_a_success),
        cmocka_unit_test(the_spawner_knows_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
