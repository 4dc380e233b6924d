/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Processes that are killed because of a request, and processes that survive
 * SIGKILL. */

#include "tests/unit/support/slow.h"

/* ---- ending ---- */

static void p14_overdue_with_the_oldest_request(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_request_t request = {.method = "GET", .uri = "/slow"};
    apl_session_peek_t overdue[2];
    apl_session_ref_t h[3];
    uint32_t session;

    (void)state;
    a->options.concurrency = 2;
    a->options.kill_after = 2 * LIMIT;
    scene_busy(s, a, h, 1);
    s->now += SECOND;
    assert_int_equal(
        apl_checkout(&s->pool, &h[1], a, &request, NULL, s->now - 2 * SECOND),
        APR_SUCCESS);
    s->now += 2 * LIMIT;
    assert_int_equal(apl_timeouts_find(&s->pool, s->now, overdue, 2), 1);
    assert_true(overdue[0].process == h[0].id);
    assert_string_equal(overdue[0].uri, "/slow");
    assert_true(s->now - overdue[0].since == 2 * (LIMIT + SECOND));
    assert_int_equal(s->pool.header->hung, 1);
    /* That request ends in time. The next one in its slot is not meant. */
    session = h[1].session;
    scene_close(s, &h[1]);
    assert_int_equal(
        apl_timeouts_kill(&s->pool, h[0].id, overdue[0].ticket, s->now),
        APL_EIDLE);
    scene_busy(s, a, h + 2, 1);
    assert_true(h[2].session == session && h[2].id == h[0].id);
    assert_int_equal(
        apl_timeouts_kill(&s->pool, h[0].id, overdue[0].ticket, s->now),
        APL_EIDLE);
    scene_is(s, 1, 1);
    scene_end(s);
}

/* What was found without the lock is checked again with the lock. */
static void p14_only_what_is_overdue_yet(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_peek_t overdue;
    apl_session_ref_t h;

    (void)state;
    a->options.kill_after = LIMIT;
    scene_busy(s, a, &h, 1);
    s->now += LIMIT;
    assert_int_equal(apl_timeouts_find(&s->pool, s->now, &overdue, 1), 1);
    assert_int_equal(apl_timeouts_expire(&s->pool, &overdue, s->now - 1),
                     APL_EIDLE);
    apl_checkout_set_long_lived(&s->pool, &h, APL_LONG_LIVED_RESPONSE);
    assert_int_equal(apl_timeouts_expire(&s->pool, &overdue, s->now),
                     APL_EIDLE);
    scene_is(s, 1, 1);
    /* On a command, the process is killed. */
    assert_int_equal(
        apl_timeouts_kill(&s->pool, overdue.process, overdue.ticket, s->now),
        APR_SUCCESS);
    scene_end(s);
}

static void p16_requests_see_that_the_kill_has_begun(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(apl_timeouts_term_sent(&s->pool, h.id, s->now),
                     APL_ESTALE);
    assert_int_equal(apl_timeouts_kill(&s->pool, h.id, 0, s->now), APR_SUCCESS);
    assert_true(apl_checkout_killed(&s->pool, &h));
    assert_false(apl_checkout_dying(&s->pool, &h));
    assert_int_equal(apl_timeouts_term_sent(&s->pool, h.id, s->now),
                     APR_SUCCESS);
    assert_true(apl_checkout_killed(&s->pool, &h));
    assert_true(apl_checkout_dying(&s->pool, &h));
    scene_close(s, &h);
    scene_end(s);
}

/* A request that waits for a process that finishes its requests continues to
 * wait. */
static void requests_see_no_kill_of_a_detached_process(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    apl_supervise_detach(&s->pool, h.id, APL_EVENT_DETACHED, s->now);
    assert_int_equal(apl_timeouts_term_sent(&s->pool, h.id, s->now),
                     APL_ESTALE);
    assert_false(apl_checkout_dying(&s->pool, &h));
    scene_close(s, &h);
    scene_end(s);
}

/* A process that has to leave is stopped in spite of long-lived sessions,
 * but not in spite of others. */
static void only_links_are_closed(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[4];
    int i;

    (void)state;
    a->options.concurrency = 0;
    for (i = 0; i < 4; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    apl_checkout_set_long_lived(&s->pool, &h[0], APL_LONG_LIVED_CONNECTION);
    apl_checkout_set_long_lived(&s->pool, &h[1], APL_LONG_LIVED_CONNECTION);
    apl_checkout_set_long_lived(&s->pool, &h[2], APL_LONG_LIVED_RESPONSE);
    assert_int_equal(apl_timeouts_close(&s->pool, h[0].id, s->now), APL_ESTALE);
    apl_supervise_detach(&s->pool, h[0].id, APL_EVENT_DETACHED, s->now);
    assert_int_equal(apl_timeouts_close(&s->pool, h[0].id, s->now), APL_EWAIT);
    scene_close(s, &h[3]);
    assert_int_equal(apl_timeouts_close(&s->pool, h[0].id, s->now), APL_EWAIT);
    assert_false(apl_checkout_closed(&s->pool, &h[0]));
    scene_close(s, &h[2]);
    assert_int_equal(apl_timeouts_close(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    for (i = 0; i < 2; i++) {
        assert_true(apl_checkout_closed(&s->pool, &h[i]));
        assert_false(apl_checkout_killed(&s->pool, &h[i]));
        scene_close(s, &h[i]);
    }
    scene_end(s);
}

/* No client waits for the request, so it does not keep a process that has to
 * leave. */
static void links_are_closed_beside_an_abandoned_one(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t link, h;

    (void)state;
    a->options.concurrency = 2;
    assert_int_equal(scene_get(s, &link, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    apl_checkout_set_long_lived(&s->pool, &link, APL_LONG_LIVED_CONNECTION);
    apl_checkin_abandon(&s->pool, &h, s->now);
    apl_supervise_detach(&s->pool, link.id, APL_EVENT_DETACHED, s->now);
    assert_int_equal(scene_condition(s, link.id).sessions, 2);
    assert_int_equal(apl_timeouts_close(&s->pool, link.id, s->now),
                     APR_SUCCESS);
    assert_true(apl_checkout_closed(&s->pool, &link));
    scene_close(s, &link);
    scene_end(s);
}

static void p15_the_replacement_is_wanted_at_once(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 2, 0);
    apl_condition_t is;
    apl_session_ref_t h[2], waiting;

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(slow_kill(s, &h[0]), APR_SUCCESS);
    scene_is(s, 1, 1); /* it is no capacity any more */
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &waiting), APR_SUCCESS);
    /* After all that, the process still has its request. */
    is = scene_condition(s, h[0].id);
    assert_int_equal(is.state, APL_PROCESS_LEAVING);
    assert_int_equal(is.reason, APL_EVENT_KILLED);
    assert_int_equal(is.sessions, 1);
    assert_int_equal(s->pool.header->counters.killed, 1);
    scene_end(s);
}

static void p15_the_minimum_is_restored_at_once(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;

    (void)state;
    a->options.min_instances = 1;
    scene_busy(s, a, &h, 1);
    assert_int_equal(slow_kill(s, &h), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    scene_end(s);
}

static void p16_its_requests_see_the_kill(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[3];

    (void)state;
    a->options.concurrency = 2;
    scene_busy(s, a, h, 2);
    a->options.concurrency = 1;
    a->options.config = 2;
    scene_busy(s, a, h + 2, 1);
    assert_true(h[0].id == h[1].id && h[0].id != h[2].id);
    assert_int_equal(slow_kill(s, &h[0]), APR_SUCCESS);
    assert_true(apl_checkout_killed(&s->pool, &h[0]));
    assert_true(apl_checkout_killed(&s->pool, &h[1]));
    assert_false(apl_checkout_killed(&s->pool, &h[2]));
    /* This is so also when nothing is left of the process. But it is not so for
     * the next process in that slot. */
    assert_int_equal(apl_supervise_gone(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    assert_true(apl_checkout_killed(&s->pool, &h[0]));
    scene_close(s, &h[1]);
    scene_close(s, &h[0]);
    scene_busy(s, a, h, 2);
    assert_false(apl_checkout_killed(&s->pool, &h[0]));
    assert_false(apl_checkout_killed(&s->pool, &h[1]));
    assert_int_equal(s->pool.header->counters.died, 0);
    scene_end(s);
}

/* Otherwise it would wait for its request for ever. */
static void p16_a_leaving_process_is_killed_too(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_condition_t is;
    apl_session_ref_t h;

    (void)state;
    a->options.kill_after = LIMIT;
    scene_busy(s, a, &h, 1);
    assert_int_equal(
        apl_supervise_detach(&s->pool, h.id, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    assert_int_equal(slow_look(s, LIMIT), 1);
    assert_int_equal(slow_kill(s, &h), APR_SUCCESS);
    is = scene_condition(s, h.id);
    assert_int_equal(is.reason, APL_EVENT_KILLED);
    assert_true(apl_checkout_killed(&s->pool, &h));
    assert_int_equal(slow_look(s, SECOND), 0); /* that was done */
    assert_int_equal(slow_kill(s, &h), APL_ESTALE);
    scene_end(s);
}

static void p26_a_process_without_a_request_is_not_killed(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h, unknown = {.id = 0x777};

    (void)state;
    scene_busy(s, a, &h, 1);
    scene_close(s, &h);
    assert_int_equal(slow_kill(s, &h), APL_EIDLE);
    assert_int_equal(slow_kill(s, &unknown), APL_ESTALE);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* ---- unkillable processes ---- */

static void p18_more_unkillable_than_that_end_all_starts(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = scene_app(s, "b");
    apl_session_ref_t h[2], waiting, other;
    int i;

    (void)state;
    a->options.unkillable_stop = 2; /* AppMaxUnkillable 1 */
    scene_busy(s, a, h, 2);
    for (i = 0; i < 2; i++) {
        assert_int_equal(
            apl_timeouts_mark_unkillable(&s->pool, h[i].id, s->now),
            APL_ESTALE); /* it is not even leaving */
        assert_int_equal(slow_kill(s, &h[i]), APR_SUCCESS);
    }
    assert_int_equal(apl_timeouts_mark_unkillable(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    assert_int_equal(apl_timeouts_mark_unkillable(&s->pool, h[0].id, s->now),
                     APL_ESTALE);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT); /* one is fine */
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_poll(s, &waiting), APL_ESTART);
    s->now += 2 * SECOND;
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    assert_int_equal(apl_timeouts_mark_unkillable(&s->pool, h[1].id, s->now),
                     APR_SUCCESS);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_poll(s, &waiting), APL_ESTART);
    s->now += 2 * SECOND;
    assert_int_equal(scene_ask(s, &waiting, a), APL_EUNKILLABLE);
    assert_int_equal(scene_get(s, &other, b), APR_SUCCESS);
    /* Until there are fewer. */
    scene_close(s, &h[1]);
    assert_int_equal(apl_supervise_gone(&s->pool, h[1].id, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_group(s, a)->unkillable, 1);
    assert_int_equal(scene_get(s, &waiting, a), APR_SUCCESS);
    scene_end(s);
}

static void p18_waiters_get_an_error(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = slow_app(s, "a", 1, 0);
    apl_session_ref_t h[2], waiting;

    (void)state;
    a->options.unkillable_stop = 1;
    scene_busy(s, a, h, 1);
    assert_int_equal(slow_kill(s, &h[0]), APR_SUCCESS);
    scene_busy(s, a, h + 1, 1);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    assert_int_equal(apl_timeouts_mark_unkillable(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    scene_tick(s, SECOND); /* there is one that may still serve it */
    assert_int_equal(scene_poll(s, &waiting), APL_EWAIT);
    assert_int_equal(apl_supervise_gone(&s->pool, h[1].id, s->now),
                     APR_SUCCESS);
    scene_tick(s, SECOND);
    assert_int_equal(scene_poll(s, &waiting), APL_EUNKILLABLE);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p14_overdue_with_the_oldest_request),
        cmocka_unit_test(p14_only_what_is_overdue_yet),
        cmocka_unit_test(p16_requests_see_that_the_kill_has_begun),
        cmocka_unit_test(requests_see_no_kill_of_a_detached_process),
        cmocka_unit_test(only_links_are_closed),
        cmocka_unit_test(links_are_closed_beside_an_abandoned_one),
        cmocka_unit_test(p15_the_replacement_is_wanted_at_once),
        cmocka_unit_test(p15_the_minimum_is_restored_at_once),
        cmocka_unit_test(p16_its_requests_see_the_kill),
        cmocka_unit_test(p16_a_leaving_process_is_killed_too),
        cmocka_unit_test(p26_a_process_without_a_request_is_not_killed),
        cmocka_unit_test(p18_more_unkillable_than_that_end_all_starts),
        cmocka_unit_test(p18_waiters_get_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
