/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Processes that serve several requests at once, and processes with a queue of
 * their own. */

#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

static void b37_requests_share_a_process_up_to_its_concurrency(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[7];
    int i;

    (void)state;
    a->options.concurrency = 3;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    /* Nothing is started while there is room. */
    scene_is(s, 1, 1);
    assert_int_equal(s->pool.header->spawning, 0);
    assert_int_equal(scene_get(s, &h[3], a), APR_SUCCESS);
    scene_is(s, 2, 2);
    assert_true(h[3].id != h[0].id);
    /* First the process with the fewest sessions. */
    assert_int_equal(scene_get(s, &h[4], a), APR_SUCCESS);
    assert_true(h[4].id == h[3].id);
    scene_close(s, &h[0]);
    scene_close(s, &h[1]);
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    assert_true(h[0].id == h[2].id);
    /* With equal numbers: the oldest. */
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    assert_true(h[1].id == h[2].id);
    assert_int_equal(scene_get(s, &h[5], a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h[6], a), APL_EWAIT);
    scene_close(s, &h[3]);
    assert_int_equal(scene_poll(s, &h[6]), APR_SUCCESS);
    for (i = 0; i < 7; i++)
        scene_close(s, &h[i]);
    scene_is(s, 2, 0);
    scene_end(s);
}

static void without_a_limit_one_process_serves_all(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[200];
    int i;

    (void)state;
    a->options.concurrency = 0;
    for (i = 0; i < 200; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    scene_is(s, 1, 1);
    for (i = 0; i < 200; i++)
        scene_close(s, &h[i]);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void one_ready_process_serves_all_waiters(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[90];
    int i;

    (void)state;
    a->options.concurrency = 0;
    scene_waiting(s, a, h, 90);
    /* More than can be woken under one lock. */
    assert_int_equal(scene_spawn(s), 1);
    for (i = 0; i < 90; i++) {
        assert_int_equal(scene_poll(s, &h[i]), APR_SUCCESS);
        scene_close(s, &h[i]);
    }
    scene_end(s);
}

static void a3_without_the_global_queue_the_fewest_sessions(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[7];
    int i;

    (void)state;
    a->options.global_queue = 0;
    a->options.max_queue = 2;
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    /* The process is busy: one more is started, but the request does not
     * wait. */
    assert_int_equal(scene_ask(s, &h[1], a), APR_SUCCESS);
    assert_true(h[1].id == h[0].id);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_ask(s, &h[2], a), APR_SUCCESS);
    assert_true(h[2].id != h[0].id);
    assert_int_equal(scene_ask(s, &h[3], a), APR_SUCCESS);
    assert_true(h[3].id == h[2].id);
    assert_int_equal(scene_ask(s, &h[4], a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &h[5], a), APR_SUCCESS);
    /* 2 processes x (1 + 2): the next request waits for both. */
    assert_int_equal(scene_ask(s, &h[6], a), APL_EWAIT);
    scene_close(s, &h[0]);
    assert_int_equal(scene_poll(s, &h[6]), APR_SUCCESS);
    for (i = 1; i < 7; i++)
        scene_close(s, &h[i]);
    scene_end(s);
}

static void b23_the_queue_has_a_limit(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[3], x;

    (void)state;
    a->options.max_queue = 3;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, a, w, 3);
    assert_int_equal(scene_ask(s, &x, a), APL_EQUEUEFULL);
    assert_int_equal(s->pool.header->counters.queue_full, 1);
    /* A place is free again. */
    scene_close(s, &w[1]);
    assert_int_equal(scene_ask(s, &x, a), APL_EWAIT);
    scene_end(s);
}

static void b24_first_come_first_served_and_one_is_woken(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[4];
    const apl_session_t *sessions[4];
    uint32_t wake_words[4];
    int i, j;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    for (i = 0; i < 4; i++) {
        assert_int_equal(scene_ask(s, &w[i], a), APL_EWAIT);
        sessions[i] = &s->pool.sessions[w[i].session];
        wake_words[i] = sessions[i]->wake_word;
    }
    for (i = 0; i < 4; i++) {
        scene_close(s, i == 0 ? &h : &w[i - 1]);
        assert_int_equal(scene_poll(s, &w[i]), APR_SUCCESS);
        for (j = 0; j < 4; j++)
            assert_int_equal(sessions[j]->wake_word, wake_words[j] + (j <= i));
    }
    assert_int_equal(s->pool.header->counters.handoffs, 5);
    scene_end(s);
}

static void options_may_change_while_requests_are_open(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h1, h2, h3;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    a->options.config = 2;
    a->options.concurrency = 2;
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_true(h2.id == h1.id);
    a->options.config = 3;
    a->options.concurrency = 1;
    assert_int_equal(scene_get(s, &h3, a), APR_SUCCESS);
    assert_true(h3.id != h1.id);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_close(s, &h3);
    scene_is(s, 2, 0);
    scene_end(s);
}

/* One of its processes is never idle. It leaves, and its requests continue. */
static void a_newcomer_gets_a_place_from_those_that_share(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h[3], newcomer;
    int i;

    (void)state;
    a->options.concurrency = 4;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &newcomer, b), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_close(s, &h[0]);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &newcomer), APR_SUCCESS);
    assert_int_equal(s->pool.header->leaving, 1);
    scene_close(s, &h[1]);
    scene_close(s, &h[2]);
    scene_reap(s);
    scene_is(s, 1, 1);
    scene_close(s, &newcomer);
    scene_end(s);
}

/* A process that is held, and n requests that wait for it. */
static apl_app_t *crowd(scene_t *s, apl_session_ref_t *h, int n)
{
    apl_app_t *a = scene_app(s, "a");
    int i;

    a->options.max_queue = 0;
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    for (i = 1; i <= n; i++)
        assert_int_equal(scene_ask(s, &h[i], a), APL_EWAIT);
    a->options.config = 2;
    a->options.concurrency = 0;
    return a;
}

/* More than can be woken under one lock. */
#define CROWD 90

static void disperse(scene_t *s, apl_session_ref_t *h)
{
    int i;

    scene_ok(s);
    for (i = 0; i <= CROWD; i++) {
        assert_int_equal(scene_poll(s, &h[i]), APR_SUCCESS);
        scene_close(s, &h[i]);
    }
    scene_end(s);
}

static void options_of_a_request_let_waiters_in(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t h[CROWD + 1], last;
    apl_app_t *a = crowd(s, h, CROWD);

    (void)state;
    /* No request is left waiting, although this one came last. */
    assert_int_equal(scene_ask(s, &last, a), APL_EWAIT);
    assert_int_equal(scene_poll(s, &last), APR_SUCCESS);
    scene_close(s, &last);
    disperse(s, h);
}

static void options_of_the_configuration_let_waiters_in(void **state)
{
    scene_t *s = scene_new(1);
    apl_session_ref_t h[CROWD + 1];
    apl_app_t *a = crowd(s, h, CROWD);

    (void)state;
    assert_int_equal(apl_configure_group(&s->pool, a, 0, s->now), APR_SUCCESS);
    disperse(s, h);
}

/* All that a dead child held comes back at once, and even more requests wait
 * for it. */
static void a_dead_childs_many_sessions_are_all_given_away(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    uint32_t first = s->pool.self, second = scene_child(s);
    apl_session_ref_t held[CROWD + 1], h[CROWD + 1];
    apl_child_watch_t w;
    int i;

    (void)state;
    a->options.max_queue = 0;
    a->options.concurrency = CROWD + 1;
    for (i = 0; i <= CROWD; i++)
        assert_int_equal(scene_get(s, &held[i], a), APR_SUCCESS);
    for (i = 0; i <= CROWD; i++) /* so they end with their child */
        apl_checkout_set_long_lived(&s->pool, &held[i],
                                    APL_LONG_LIVED_RESPONSE);
    scene_be(s, first);
    for (i = 0; i <= CROWD; i++)
        assert_int_equal(scene_ask(s, &h[i], a), APL_EWAIT);
    assert_int_equal(apl_child_watch_at(&s->pool, second, &w), APR_SUCCESS);
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APR_SUCCESS);
    disperse(s, h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b37_requests_share_a_process_up_to_its_concurrency),
        cmocka_unit_test(without_a_limit_one_process_serves_all),
        cmocka_unit_test(one_ready_process_serves_all_waiters),
        cmocka_unit_test(a3_without_the_global_queue_the_fewest_sessions),
        cmocka_unit_test(b23_the_queue_has_a_limit),
        cmocka_unit_test(b24_first_come_first_served_and_one_is_woken),
        cmocka_unit_test(options_may_change_while_requests_are_open),
        cmocka_unit_test(a_newcomer_gets_a_place_from_those_that_share),
        cmocka_unit_test(options_of_a_request_let_waiters_in),
        cmocka_unit_test(options_of_the_configuration_let_waiters_in),
        cmocka_unit_test(a_dead_childs_many_sessions_are_all_given_away),
    };

    test_clock_slow(100); /* a verb waits for 1 s at most */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
