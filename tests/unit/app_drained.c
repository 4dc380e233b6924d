/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* apppoolctl drain: an app is taken out of service. */

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

static void drain(scene_t *s, const apl_app_t *a)
{
    assert_int_equal(apl_admin_drain(&s->pool, a, s->now), APR_SUCCESS);
    scene_ok(s);
}

static void put_back(scene_t *s, const apl_app_t *a)
{
    assert_int_equal(apl_admin_restart(&s->pool, a->name, -1, s->now),
                     APL_EDRAINED);
    scene_ok(s);
}

static unsigned events(const scene_t *s, uint32_t kind)
{
    unsigned i, n = 0;

    for (i = 0; i < APL_EVENT_MAX; i++)
        n += s->pool.header->events[i].kind == kind;
    return n;
}

/* The app has no process and gets none, whatever is tried. */
static void stays_empty(scene_t *s, apl_app_t *a)
{
    apl_session_ref_t h;
    int i;

    a->options.config++;
    for (i = 0; i < 3; i++) {
        apl_configure_group(&s->pool, a, 1, s->now);
        assert_int_equal(scene_ask(s, &h, a), APL_EDRAINED);
        scene_tick(s, 70 * SECOND);
        assert_int_equal(scene_take(s), 0);
    }
}

static void its_processes_end_after_their_requests(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t busy, idle, refused;
    apl_condition_t is;

    (void)state;
    assert_int_equal(scene_get(s, &busy, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &idle, a), APR_SUCCESS);
    scene_close(s, &idle);
    drain(s, a);
    scene_is(s, 0, 0);
    assert_int_equal(scene_reap(s), 1);
    is = scene_condition(s, busy.id);
    assert_int_equal(is.reason, APL_EVENT_DRAINED);
    assert_int_equal(is.sessions, 1);
    assert_int_equal(scene_ask(s, &refused, a), APL_EDRAINED);
    assert_int_equal(refused.session, 0);
    scene_close(s, &busy);
    assert_int_equal(scene_reap(s), 1);
    stays_empty(s, a);
    assert_int_equal(s->pool.groups[1].n_requests, 2);
    scene_end(s);
}

static void waiters_get_an_error_at_once(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[80];
    int i;

    (void)state;
    a->options.max_queue = 0;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, a, w, 80);
    drain(s, a);
    /* As many as can be woken under one lock. The others are woken by the ticks
     * that the doorbell causes. */
    assert_int_equal(s->pool.groups[1].waiting, 80 - APL_WAKES_MAX);
    for (i = 0; s->pool.groups[1].waiting > 0 && i < 9; i++)
        scene_tick(s, 0);
    assert_int_equal(i, 2);
    scene_polls(s, w, 80, APL_EDRAINED);
    scene_close(s, &h);
    scene_end(s);
}

static void booting_and_ordered_processes_end(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t w1, w2;
    uint64_t boots;

    (void)state;
    assert_int_equal(scene_ask(s, &w1, a), APL_EWAIT);
    boots = scene_take(s);
    drain(s, a);
    assert_int_equal(apl_supervise_ready(&s->pool, boots, s->now), APL_ESTALE);
    assert_int_equal(apl_supervise_gone(&s->pool, boots, s->now), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &w1), APL_EDRAINED);
    stays_empty(s, a);

    assert_int_equal(scene_ask(s, &w2, b), APL_EWAIT);
    drain(s, b);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_poll(s, &w2), APL_EDRAINED);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void its_room_goes_to_others(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h, w;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, b), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    drain(s, a);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    scene_close(s, &w);
    scene_close(s, &h);
    scene_end(s);
}

/* These do not start a process: a minimum, a prestart, a new configuration, a
 * deployment, an outdated process. */
static void only_a_restart_starts_the_app_again(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_restart_seen_t look;
    apl_session_ref_t h;

    (void)state;
    a->options.min_instances = 2;
    a->options.rolling = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_is(s, 2, 0);
    s->pool.groups[1].stamp_seq = 1;
    s->pool.groups[1].stamp.file = APL_STAMP_NO_FILE;
    assert_int_equal(apl_admin_restart(&s->pool, "a", 1, s->now), APR_SUCCESS);
    drain(s, a); /* in the middle of it */
    scene_reap(s);
    stays_empty(s, a);
    memset(&look, 0, sizeof look);
    look.seq = 1;
    look.stamp.file = 77;
    assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, &look, s->now),
                     APL_EDRAINED);
    scene_ok(s);
    assert_int_equal(s->pool.groups[1].stamp.file, 77);
    stays_empty(s, a);

    put_back(s, a);
    scene_tick(s, SECOND);
    assert_int_equal(scene_spawn(s), 2);
    scene_is(s, 2, 0);
    /* The code that was deployed meanwhile runs. It is not restarted again. */
    look.seq = s->pool.groups[1].stamp_seq;
    assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, &look, s->now),
                     APR_SUCCESS);
    scene_close(s, &h);
    scene_is(s, 2, 0);
    scene_end(s);
}

static void an_app_without_requests_is_not_started(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    drain(s, a);
    stays_empty(s, a);
    put_back(s, a);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_end(s);
}

/* Not even its minimum is started, which usually exists from the first request
 * on. */
static void putting_an_app_back_starts_nothing(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    a->options.min_instances = 2;
    drain(s, a);
    put_back(s, a);
    scene_tick(s, SECOND);
    assert_int_equal(scene_take(s), 0);
    scene_end(s);
}

static void once_more_is_nothing_new(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    drain(s, a);
    drain(s, a);
    assert_int_equal(events(s, APL_EVENT_DRAINED), 1);
    assert_int_equal(events(s, APL_EVENT_RESTART), 0);
    put_back(s, a);
    assert_int_equal(events(s, APL_EVENT_RESTART), 1);
    assert_int_equal(apl_admin_restart(&s->pool, "a", -1, s->now), APR_SUCCESS);
    drain(s, a);
    assert_int_equal(events(s, APL_EVENT_DRAINED), 2);
    scene_end(s);
}

static void failed_starts_are_forgotten_with_it(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_poll(s, &h), APL_ESTART);
    drain(s, a);
    assert_int_equal(scene_ask(s, &h, a), APL_EDRAINED);
    put_back(s, a);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_end(s);
}

/* The spawner died after it had marked the app. No request is served any
 * more, and the tick of the next spawner does the rest. */
static void half_a_drain_is_finished(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t busy, idle, w;

    (void)state;
    a->options.min_instances = 2;
    assert_int_equal(scene_get(s, &busy, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &idle, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    s->pool.groups[1].drained = 1;
    scene_tick(s, 0);
    scene_is(s, 0, 0);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_poll(s, &w), APL_EDRAINED);
    scene_close(s, &busy);
    scene_close(s, &idle);
    assert_int_equal(scene_reap(s), 2);
    stays_empty(s, a);
    scene_end(s);
}

/* A process that has lost its slot, and is found again. */
static void a_process_that_is_found_again_leaves(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_start_t start = scene_start(77);

    (void)state;
    drain(s, a);
    assert_int_equal(
        apl_reconcile_adopt(&s->pool, 1ull << 32 | 1, &start, "a", 1, s->now),
        APR_SUCCESS);
    stays_empty(s, a);
    assert_int_equal(scene_reap(s), 1);
    scene_end(s);
}

static void a_removed_app_is_forgotten(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    drain(s, a);
    assert_int_equal(apl_configure_remove(&s->pool, "a", s->now), APR_SUCCESS);
    /* A request of a child of the last generation. */
    assert_int_equal(scene_ask(s, &w, a), APL_EDRAINED);
    /* The app is back before its process is gone. */
    apl_configure_group(&s->pool, a, 1, s->now);
    assert_int_equal(scene_ask(s, &w, a), APL_EDRAINED);
    assert_int_equal(apl_configure_remove(&s->pool, "a", s->now), APR_SUCCESS);
    scene_close(s, &h);
    scene_reap(s);
    scene_tick(s, SECOND);
    assert_int_equal(s->pool.groups[1].state, APL_GROUP_FREE);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    scene_end(s);
}

static void where_there_is_no_slot_nothing_is_done(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");

    (void)state;
    s->pool.n.groups = 2;
    drain(s, a);
    assert_int_equal(apl_admin_drain(&s->pool, b, s->now), APL_EFULL);
    drain(s, a);
    scene_end(s);
}

static void damage_drains_no_app(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    s->pool.groups[1].drained = 0x5a5a5a5a;
    scene_close(s, &h);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    drain(s, a);
    assert_int_equal(scene_ask(s, &h, a), APL_EDRAINED);
    scene_end(s);
}

static void i20_a_drained_group_needs_no_turn(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h, w[40];
    eventfd_t rung;

    (void)state;
    b->options.max_queue = 0;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_waiting(s, b, w, 40);
    s->pool.doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    drain(s, b);
    assert_int_equal(s->pool.groups[2].waiting, 40 - APL_WAKES_MAX);
    assert_int_equal(eventfd_read(s->pool.doorbell, &rung), 0);
    /* Some requests still wait, but app a makes no room for them. */
    scene_close(s, &h);
    scene_is(s, 1, 0);
    assert_int_equal(s->pool.groups[2].turn.next, 0);
    scene_tick(s, 0);
    scene_polls(s, w, 40, APL_EDRAINED);
    close(s->pool.doorbell);
    s->pool.doorbell = -1;
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_processes_end_after_their_requests),
        cmocka_unit_test(waiters_get_an_error_at_once),
        cmocka_unit_test(booting_and_ordered_processes_end),
        cmocka_unit_test(its_room_goes_to_others),
        cmocka_unit_test(only_a_restart_starts_the_app_again),
        cmocka_unit_test(an_app_without_requests_is_not_started),
        cmocka_unit_test(putting_an_app_back_starts_nothing),
        cmocka_unit_test(once_more_is_nothing_new),
        cmocka_unit_test(failed_starts_are_forgotten_with_it),
        cmocka_unit_test(half_a_drain_is_finished),
        cmocka_unit_test(a_process_that_is_found_again_leaves),
        cmocka_unit_test(a_removed_app_is_forgotten),
        cmocka_unit_test(where_there_is_no_slot_nothing_is_done),
        cmocka_unit_test(damage_drains_no_app),
        cmocka_unit_test(i20_a_drained_group_needs_no_turn),
    };

    test_clock_slow(100); /* a verb waits for 1 s at most */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
