/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Requests for which no client waits any more. Their process still has them. */

#include "tests/unit/support/slow.h"

static void abandon(scene_t *s, apl_session_ref_t *h)
{
    apl_checkin_abandon(&s->pool, h, s->now);
    assert_int_equal(h->session, 0);
    scene_ok(s);
}

static apr_status_t ended(scene_t *s, uint64_t id, uint32_t n)
{
    apr_status_t rv = apl_timeouts_end_abandoned(&s->pool, id, n, s->now);

    scene_ok(s);
    return rv;
}

static void it_is_not_given_to_another(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h, waiting;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    s->pool.header->counters.served = 0;
    abandon(s, &h);
    scene_is(s, 1, 1);
    assert_int_equal(scene_condition(s, id).sessions, 1);
    assert_int_equal(scene_condition(s, id).abandoned, 1);
    /* Its client has got the response. */
    assert_int_equal(s->pool.header->counters.served, 1);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    assert_int_equal(ended(s, id, 1), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &waiting), APR_SUCCESS);
    assert_true(waiting.id == id);
    assert_int_equal(scene_condition(s, id).processed, 1);
    assert_int_equal(s->pool.header->counters.served, 1);
    scene_close(s, &waiting);
    assert_int_equal(ended(s, id, 1), APL_EIDLE);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void p4_hung_although_its_client_is_gone(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 1, 1);
    apl_session_peek_t overdue;
    apl_session_ref_t h, waiting;
    uint64_t id;

    (void)state;
    a->options.kill_after = 2 * LIMIT;
    scene_busy(s, a, &h, 1);
    id = h.id;
    abandon(s, &h);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(scene_spawn(s), 1); /* on credit */
    assert_int_equal(scene_poll(s, &waiting), APR_SUCCESS);
    s->now += LIMIT;
    assert_int_equal(apl_timeouts_find(&s->pool, s->now, &overdue, 1), 1);
    assert_true(overdue.process == id);
    assert_int_equal(apl_timeouts_expire(&s->pool, &overdue, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_condition(s, id).reason, APL_EVENT_KILLED);
    scene_is(s, 1, 1);
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    scene_is(s, 1, 1);
    scene_end(s);
}

static void a_process_that_recovers_is_not_hung(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    abandon(s, &h);
    slow_look(s, LIMIT);
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(ended(s, id, 9), APR_SUCCESS);
    assert_int_equal(s->pool.header->hung, 0);
    assert_int_equal(s->pool.header->counters.unhung, 1);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void as_many_as_it_serves_at_once(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[4];
    uint64_t id, last;
    int i;

    (void)state;
    a->options.concurrency = 3;
    a->options.global_queue = 0;
    scene_busy(s, a, h, 4);
    id = h[0].id;
    last = s->pool.sessions[h[2].session].ticket;
    for (i = 0; i < 4; i++) {
        s->now += SECOND;
        abandon(s, &h[i]);
    }
    /* The fourth was in the queue of the process. It is unknown where it is. */
    assert_int_equal(scene_condition(s, id).abandoned, 3);
    assert_int_equal(scene_condition(s, id).sessions, 3);
    /* The oldest ends first, so no request is older than it seems. */
    assert_int_equal(ended(s, id, 2), APR_SUCCESS);
    assert_int_equal(scene_condition(s, id).sessions, 1);
    for (i = 1; s->pool.sessions[i].state != APL_SESSION_OPEN; i++)
        ;
    assert_true(s->pool.sessions[i].ticket == last);
    assert_int_equal(ended(s, id, 2), APR_SUCCESS);
    assert_int_equal(ended(s, id, 2), APL_EIDLE);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void without_a_limit_one_is_enough(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];

    (void)state;
    a->options.concurrency = 0;
    scene_busy(s, a, h, 2);
    abandon(s, &h[0]);
    abandon(s, &h[1]);
    assert_int_equal(scene_condition(s, h[0].id).sessions, 1);
    scene_end(s);
}

static void a_leaving_process_does_not_wait_for_it(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];
    uint64_t ids[2];
    int i;

    (void)state;
    scene_busy(s, a, h, 2);
    for (i = 0; i < 2; i++)
        ids[i] = h[i].id;
    /* Before and after. */
    abandon(s, &h[0]);
    for (i = 0; i < 2; i++)
        apl_supervise_detach(&s->pool, ids[i], APL_EVENT_DETACHED, s->now);
    assert_int_equal(apl_supervise_may_end(&s->pool, ids[1], s->now),
                     APL_EWAIT);
    abandon(s, &h[1]);
    for (i = 0; i < 2; i++)
        assert_int_equal(apl_supervise_may_end(&s->pool, ids[i], s->now),
                         APR_SUCCESS);
    assert_int_equal(scene_condition(s, ids[1]).abandoned, 0);
    assert_int_equal(scene_reap(s), 1);
    assert_int_equal(apl_supervise_gone(&s->pool, ids[0], s->now), APR_SUCCESS);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void an_abandoned_request_ends_with_its_process(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[2];
    uint64_t id;

    (void)state;
    scene_busy(s, a, h, 2);
    id = h[0].id;
    abandon(s, &h[0]);
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    scene_is(s, 1, 1);
    assert_int_equal(ended(s, id, 1), APL_ESTALE);
    scene_close(s, &h[1]);
    scene_end(s);
}

/* The child may die: the session does not belong to it any more. */
static void an_abandoned_request_outlives_its_child(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    uint32_t self = s->pool.self;
    apl_child_watch_t watch;
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    abandon(s, &h);
    assert_int_equal(apl_child_watch_at(&s->pool, self, &watch), APR_SUCCESS);
    assert_int_equal(apl_child_watch_gone(&s->pool, &watch, s->now),
                     APR_SUCCESS);
    scene_is(s, 1, 1);
    assert_int_equal(ended(s, id, 1), APR_SUCCESS);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* Once its client has gone, it may take as long as any other request. */
static void one_that_lasts_has_to_end(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h, waiting;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    apl_checkout_set_long_lived(&s->pool, &h, APL_LONG_LIVED_CONNECTION);
    slow_look(s, 10 * LIMIT);
    abandon(s, &h);
    scene_is(s, 1, 1);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    assert_int_equal(apl_checkout_count_long_lived(&s->pool, &waiting, 0).held,
                     0);
    slow_look(s, LIMIT - 1);
    assert_int_equal(s->pool.header->hung, 0);
    slow_look(s, 1);
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(ended(s, id, 1), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &waiting), APR_SUCCESS);
    assert_true(waiting.id == id);
    scene_close(s, &waiting);
    scene_end(s);
}

/* It takes no place from others. */
static void one_that_lasts_among_any_number_is_closed(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h;

    (void)state;
    a->options.concurrency = 0;
    scene_busy(s, a, &h, 1);
    apl_checkout_set_long_lived(&s->pool, &h, APL_LONG_LIVED_RESPONSE);
    abandon(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* Requests for which no client waits must not fill the pool. */
static void its_process_makes_room_for_another_app(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = scene_app(s, "b");
    apl_session_ref_t h[2], other, own;
    uint64_t id;

    (void)state;
    scene_busy(s, a, h, 2);
    id = h[0].id;
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_spawn(s), 0);
    assert_int_equal(scene_ask(s, &own, a), APL_EWAIT);
    abandon(s, &h[0]);
    assert_int_equal(scene_condition(s, id).reason, APL_EVENT_EVICTED);
    assert_int_equal(apl_supervise_may_end(&s->pool, id, s->now), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    /* It makes no room for an app that has another process. */
    s->now += SECOND;
    abandon(s, &h[1]);
    assert_int_equal(scene_condition(s, h[1].id).state, APL_PROCESS_LIVE);
    /* It makes no room for its own app either: AppKillAfter does that. */
    slow_look(s, LIMIT);
    assert_int_equal(scene_condition(s, h[1].id).state, APL_PROCESS_LIVE);
    assert_int_equal(scene_poll(s, &own), APL_EWAIT);
    assert_int_equal(ended(s, h[1].id, 1), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &own), APR_SUCCESS);
    scene_end(s);
}

/* This happens with the next tick at the latest. */
static void it_makes_room_for_an_app_that_asks_later(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = scene_app(s, "b");
    apl_session_ref_t h[2], other;

    (void)state;
    scene_busy(s, a, h, 2);
    abandon(s, &h[1]);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, SECOND);
    assert_int_equal(scene_condition(s, h[1].id).reason, APL_EVENT_EVICTED);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    scene_end(s);
}

/* The app that is first in turn may be the app itself. */
static void room_goes_to_the_app_that_waits_longer(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = scene_app(s, "b");
    apl_session_ref_t h, own, other;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &own, a), APL_EWAIT);
    slow_look(s, LIMIT); /* it hangs, so both apps have nothing */
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_spawn(s), 0);
    abandon(s, &h);
    /* The process for the other app goes to the app that waits longer. */
    assert_int_equal(scene_spawn(s), 2);
    assert_int_equal(scene_poll(s, &own), APR_SUCCESS);
    scene_close(s, &own);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    scene_end(s);
}

/* The end of a hung process that does not count leaves no place. */
static void a_hung_process_that_does_not_count_leaves_no_room(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 1), *b = scene_app(s, "b");
    apl_session_ref_t h, own, other;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &own, a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &own), APR_SUCCESS);
    abandon(s, &h);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_spawn(s), 0);
    scene_is(s, 2, 2);
    scene_close(s, &own);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    scene_end(s);
}

/* A request that waits, or whose process is gone, cannot be abandoned. */
static void a_request_without_a_process_is_closed(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h, waiting;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    abandon(s, &waiting);
    assert_int_equal(s->pool.header->waiting, 0);
    assert_int_equal(apl_supervise_gone(&s->pool, h.id, s->now), APR_SUCCESS);
    abandon(s, &h);
    scene_is(s, 0, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_not_given_to_another),
        cmocka_unit_test(p4_hung_although_its_client_is_gone),
        cmocka_unit_test(a_process_that_recovers_is_not_hung),
        cmocka_unit_test(as_many_as_it_serves_at_once),
        cmocka_unit_test(without_a_limit_one_is_enough),
        cmocka_unit_test(a_leaving_process_does_not_wait_for_it),
        cmocka_unit_test(an_abandoned_request_ends_with_its_process),
        cmocka_unit_test(an_abandoned_request_outlives_its_child),
        cmocka_unit_test(one_that_lasts_has_to_end),
        cmocka_unit_test(one_that_lasts_among_any_number_is_closed),
        cmocka_unit_test(its_process_makes_room_for_another_app),
        cmocka_unit_test(it_makes_room_for_an_app_that_asks_later),
        cmocka_unit_test(room_goes_to_the_app_that_waits_longer),
        cmocka_unit_test(a_hung_process_that_does_not_count_leaves_no_room),
        cmocka_unit_test(a_request_without_a_process_is_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
