/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* When a child of httpd dies, its sessions and slots come back. */

#include <unistd.h>

#include "shm/verbs/child.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

static apl_child_watch_t watch_of(scene_t *s, uint32_t index)
{
    apl_child_watch_t w;

    assert_int_equal(apl_child_watch_at(&s->pool, index, &w), APR_SUCCESS);
    return w;
}

/* A hostile child can free the slot of another. */
static void a_child_that_lost_its_slot_takes_another(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    s->pool.children[s->pool.self].state = APL_CHILD_FREE;
    assert_int_equal(apl_housekeeping_repair(&s->pool, s->now), APR_SUCCESS);
    s->pool.header->counters.repairs = 0;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(s->pool.children[s->pool.self].state, APL_CHILD_USED);
    assert_int_equal(s->pool.children[s->pool.self].sessions, 1);
    scene_close(s, &h);
    scene_end(s);
}

static void b34_its_sessions_come_back_and_its_waits_end(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint32_t first = s->pool.self, second = scene_child(s);
    apl_session_ref_t h1, h2, dead_wait, wait;
    apl_child_watch_t w = watch_of(s, second);

    (void)state;
    scene_be(s, first);
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    scene_be(s, second);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &dead_wait, a), APL_EWAIT);
    scene_be(s, first);
    assert_int_equal(scene_get(s, &wait, a), APL_EWAIT);
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APR_SUCCESS);
    assert_int_equal(s->pool.header->waiting, 1);
    assert_int_equal(s->pool.header->counters.child_deaths, 1);
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APL_ESTALE);
    /* The app may still work on the request. It does not when it has closed the
     * connection. */
    scene_is(s, 2, 2);
    assert_int_equal(scene_poll(s, &wait), APL_EWAIT);
    scene_hang_up(s);
    assert_int_equal(scene_poll(s, &wait), APR_SUCCESS);
    assert_true(wait.id == h2.id);
    scene_close(s, &h1);
    scene_close(s, &wait);
    scene_is(s, 2, 0);
    scene_end(s);
}

static void a_slot_is_given_to_the_next_child(void **state)
{
    scene_t *s = scene_new(2);
    uint32_t second = scene_child(s);
    apl_child_watch_t w = watch_of(s, second);

    (void)state;
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APR_SUCCESS);
    assert_int_equal(scene_child(s), second);
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APL_ESTALE);
    apl_child_unregister(&s->pool);
    scene_ok(s);
    assert_int_equal(scene_child(s), second);
    scene_end(s);
}

static void a_child_with_a_session_does_not_unregister(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint32_t self = s->pool.self;
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    apl_child_unregister(&s->pool);
    scene_is(s, 1, 1);
    scene_be(s, self);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void b21_a_session_of_a_dead_process_closes(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h1, h2;

    (void)state;
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(apl_supervise_gone(&s->pool, h1.id, s->now), APR_SUCCESS);
    scene_is(s, 0, 0);
    /* Another process has its slot by now. */
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    assert_int_equal(h1.id & 0xffff, h2.id & 0xffff);
    scene_close(s, &h1);
    scene_is(s, 1, 1);
    scene_close(s, &h2);
    scene_close(s, &h2);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.header->counters.died, 1);
    scene_end(s);
}

static void b21_a_hand_off_by_a_process_that_died_names_no_other(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w, x;
    uint64_t id, next;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    id = h.id;
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    scene_close(s, &h);
    /* The process was given away and died, and its slot went to another process
     * that boots, before the waiter has looked. */
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    s->now += 5000000;
    assert_int_equal(scene_ask(s, &x, a), APL_EWAIT);
    next = scene_take(s);
    assert_int_equal(next & 0xffff, id & 0xffff);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    assert_true(w.id == id);
    assert_int_equal(w.pid, 0);
    assert_int_equal(w.wire.protocol, APL_AUTO);
    scene_refused(s, &w);
    scene_ready(s, next);
    assert_int_equal(scene_poll(s, &x), APR_SUCCESS);
    assert_true(x.id == next);
    scene_close(s, &x);
    scene_end(s);
}

/* A hostile child writes the id of this thread into the lock word. */
static void a_request_ends_whatever_the_lock_says(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    s->pool.header->lock = (uint32_t)getpid();
    apl_checkin(&s->pool, &h, s->now);
    s->pool.header->counters.repairs = 0;
    scene_is(s, 1, 0);
    scene_end(s);
}

/* A hostile child lowers a mark of use. The process that takes a slot in use
 * calls for a roll call. */
static void a_mark_that_is_too_low_leaks_nothing(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    apl_checkout_set_long_lived(
        &s->pool, &h, APL_LONG_LIVED_RESPONSE); /* so it ends with its child */
    s->pool.header->top_child = 0;
    assert_int_equal(apl_child_register(&s->pool, 1), APR_SUCCESS);
    assert_int_equal(s->pool.header->counters.repairs, 1);
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 1);
    s->pool.header->counters.repairs = 0;
    scene_is(s, 1, 0);
    scene_end(s);
}

static void slots_that_run_out_are_an_error_and_come_back(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2001];
    int i;

    (void)state;
    a->options.max_queue = 0;
    for (i = 0; i < 2000; i++)
        assert_int_equal(apl_checkout(&s->pool, &h[i], a, NULL, NULL, s->now),
                         APL_EWAIT);
    assert_int_equal(scene_ask(s, &h[2000], a), APL_EFULL);
    apl_checkin(&s->pool, &h[1000], s->now);
    assert_int_equal(scene_ask(s, &h[2000], a), APL_EWAIT);
    for (i = 0; i < 2001; i++)
        apl_checkin(&s->pool, &h[i], s->now);
    assert_int_equal(s->pool.header->waiting, 0);
    scene_end(s);
}

static void a_lost_process_is_put_back(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    const apl_start_t start = scene_start(4711);
    uint64_t id = 0xabcdef0000000005;

    (void)state;
    assert_int_equal(apl_reconcile_adopt(&s->pool, id, &start, "a", 1, s->now),
                     APL_ESTALE);
    assert_int_equal(apl_configure_group(&s->pool, a, 1, s->now), APR_SUCCESS);
    assert_int_equal(apl_reconcile_adopt(&s->pool, id, &start, "a", 1, s->now),
                     APR_SUCCESS);
    scene_is(s, 1, 0);
    assert_int_equal(apl_reconcile_adopt(&s->pool, id, &start, "a", 1, s->now),
                     APL_ESTALE);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_true(h.id == id && h.pid == 4711);
    scene_close(s, &h);
    scene_end(s);
}

static void more_waiters_than_can_be_woken_at_once(void **state)
{
    enum { N = 80 };
    scene_t *s = scene_new(N);
    apl_app_t *a = scene_app(s, "a");
    uint32_t first = s->pool.self, second = scene_child(s);
    apl_child_watch_t w = watch_of(s, second);
    static apl_session_ref_t held[N], waiting[N];
    int i;

    (void)state;
    a->options.max_queue = 0;
    for (i = 0; i < N; i++)
        assert_int_equal(scene_get(s, &held[i], a), APR_SUCCESS);
    for (i = 0; i < N; i++) /* so they end with their child */
        apl_checkout_set_long_lived(&s->pool, &held[i],
                                    APL_LONG_LIVED_RESPONSE);
    scene_be(s, first);
    scene_waiting(s, a, waiting, N);
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APR_SUCCESS);
    scene_is(s, N, N);
    assert_int_equal(s->pool.header->waiting, 0);
    assert_int_equal(s->pool.header->counters.child_deaths, 1);
    for (i = 0; i < N; i++)
        scene_close(s, &waiting[i]);
    scene_end(s);
}

/* A read without the lock may mix the pid of a dead child with the
 * generation of the next one. */
static void a_reported_death_must_be_of_the_same_child(void **state)
{
    scene_t *s = scene_new(2);
    apl_child_watch_t w = watch_of(s, s->pool.self);

    (void)state;
    w.identity.start--;
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APL_ESTALE);
    w.identity.start++;
    w.identity.pid++;
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APL_ESTALE);
    scene_end(s);
}

static void a_child_without_a_slot_gets_one_when_there_is_one(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint32_t last = 0;
    apl_child_watch_t w;
    apl_session_ref_t h;

    (void)state;
    while (apl_child_register(&s->pool, 1) == APR_SUCCESS)
        last = s->pool.self;
    assert_int_equal(s->pool.self, 0);
    /* A higher AppPoolCapacity would change nothing. */
    assert_int_equal(scene_ask(s, &h, a), APL_ECHILDREN);
    w = watch_of(s, last);
    assert_int_equal(apl_child_watch_gone(&s->pool, &w, s->now), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(s->pool.self, last);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* The last session may be closed during a repair. */
static void a_leaving_process_is_drained_or_not(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(apl_supervise_may_end(&s->pool, h.id, s->now), APL_ESTALE);
    apl_supervise_detach(&s->pool, h.id, APL_EVENT_DETACHED, s->now);
    scene_process(s, h.id)->sessions = 0;
    s->pool.damaged = 1;
    assert_int_equal(apl_supervise_may_end(&s->pool, h.id, s->now), APL_EWAIT);
    s->pool.header->counters.repairs = 0;
    scene_close(s, &h);
    assert_int_equal(apl_supervise_may_end(&s->pool, h.id, s->now),
                     APR_SUCCESS);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b34_its_sessions_come_back_and_its_waits_end),
        cmocka_unit_test(a_child_that_lost_its_slot_takes_another),
        cmocka_unit_test(a_slot_is_given_to_the_next_child),
        cmocka_unit_test(a_child_with_a_session_does_not_unregister),
        cmocka_unit_test(b21_a_session_of_a_dead_process_closes),
        cmocka_unit_test(b21_a_hand_off_by_a_process_that_died_names_no_other),
        cmocka_unit_test(a_request_ends_whatever_the_lock_says),
        cmocka_unit_test(a_mark_that_is_too_low_leaks_nothing),
        cmocka_unit_test(slots_that_run_out_are_an_error_and_come_back),
        cmocka_unit_test(a_lost_process_is_put_back),
        cmocka_unit_test(more_waiters_than_can_be_woken_at_once),
        cmocka_unit_test(a_reported_death_must_be_of_the_same_child),
        cmocka_unit_test(a_child_without_a_slot_gets_one_when_there_is_one),
        cmocka_unit_test(a_leaving_process_is_drained_or_not),
    };

    test_clock_slow(100); /* a verb waits for 1 s at most */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
