/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Asking for a process and giving it back. A test whose name begins with a
 * letter and a number checks a claim of tests/claims.md: `a` what the algorithm
 * does, `b` a mistake of its pseudo-code that is not made here, `d` where its
 * versions differ, `i` an invariant of shm/format/format.h, `p` a request that
 * takes too long, `s` a scenario. */

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

static void a1_an_idle_process_the_last_used_first_and_no_start(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3], again;
    static const int order[] = {1, 2, 0};
    int i;

    (void)state;
    scene_busy(s, a, h, 3);
    for (i = 0; i < 3; i++)
        apl_checkin(&s->pool, &h[order[i]], ++s->now);
    for (i = 2; i >= 0; i--) {
        assert_int_equal(scene_ask(s, &again, a), APR_SUCCESS);
        assert_true(again.id == h[order[i]].id);
    }
    scene_is(s, 3, 3);
    assert_int_equal(s->pool.header->spawning, 0);
    assert_int_equal(s->pool.header->counters.spawned, 3);
    scene_end(s);
}

static void a2_all_busy_starts_one_and_waits(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w[5];
    uint64_t id;
    int i;

    (void)state;
    scene_busy(s, a, &h, 1);
    for (i = 0; i < 5; i++) {
        assert_int_equal(scene_ask(s, &w[i], a), APL_EWAIT);
        assert_int_equal(s->pool.header->spawning, 1);
    }
    id = scene_take(s);
    assert_int_equal(scene_take(s), 0);
    scene_ready(s, id);
    /* The waiters that are left want the next process. */
    assert_int_equal(scene_poll(s, &w[0]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &w[1]), APL_EWAIT);
    assert_int_equal(s->pool.header->spawning, 1);
    scene_end(s);
}

static void a4_with_the_global_queue_it_waits_for_the_first_freed(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_header_t *header = s->pool.header;
    apl_session_ref_t h[2], w[2];

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(scene_ask(s, &w[0], a), APL_EWAIT);
    assert_int_equal(scene_ask(s, &w[1], a), APL_EWAIT);
    assert_int_equal(header->waiting, 2);
    scene_close(s, &h[1]);
    assert_int_equal(header->waiting, 1);
    assert_int_equal(scene_poll(s, &w[0]), APR_SUCCESS);
    assert_true(w[0].id == h[1].id);
    scene_close(s, &w[1]);
    assert_int_equal(header->waiting, 0);
    scene_end(s);
}

static void a7_room_is_used_before_any_process_gives_way(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2], b;
    int i;

    (void)state;
    scene_busy(s, a, h, 2);
    for (i = 0; i < 2; i++)
        scene_close(s, &h[i]);
    scene_busy(s, scene_app(s, "b"), &b, 1);
    scene_is(s, 3, 1);
    assert_int_equal(s->pool.header->counters.evicted, 0);
    scene_end(s);
}

static void a9_no_more_starts_than_requests_at_once(void **state)
{
    scene_t *s = scene_new(6);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2], w[10];
    int i;

    (void)state;
    for (i = 0; i < 100; i++) {
        scene_busy(s, a, h, 2);
        scene_close(s, &h[i % 2]);
        scene_close(s, &h[1 - i % 2]);
    }
    assert_int_equal(s->pool.header->counters.spawned, 2);
    /* A request that waits while others are served needs no process of its
     * own. */
    scene_busy(s, a, h, 2);
    scene_waiting(s, a, w, 10);
    scene_close(s, &h[0]);
    for (i = 0; i < 10; i++) {
        assert_int_equal(scene_poll(s, &w[i]), APR_SUCCESS);
        scene_close(s, &w[i]);
    }
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_take(s), 0);
    scene_end(s);
}

static void a10_a_process_that_refuses_is_detached(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2], again;

    (void)state;
    scene_busy(s, a, h, 2);
    scene_close(s, &h[0]);
    scene_close(s, &h[1]);
    assert_int_equal(scene_ask(s, &again, a), APR_SUCCESS);
    assert_true(again.id == h[1].id);
    scene_refused(s, &again);
    assert_int_equal(scene_process(s, h[1].id)->state, APL_PROCESS_LEAVING);
    assert_int_equal(scene_ask(s, &again, a), APR_SUCCESS);
    assert_true(again.id == h[0].id);
    scene_refused(s, &again);
    scene_is(s, 0, 0);
    assert_int_equal(s->pool.header->counters.refused, 2);
    assert_int_equal(scene_get(s, &again, a), APR_SUCCESS);
    scene_end(s);
}

static void a19_detach_is_by_a_random_key(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    /* Only its slot, another key, and no slot. */
    assert_int_equal(
        apl_supervise_detach(&s->pool, id & 0xffff, APL_EVENT_DETACHED, s->now),
        APL_ESTALE);
    assert_int_equal(apl_supervise_detach(&s->pool, id ^ 0x10000,
                                          APL_EVENT_DETACHED, s->now),
                     APL_ESTALE);
    assert_int_equal(
        apl_supervise_detach(&s->pool, id | 0xffff, APL_EVENT_DETACHED, s->now),
        APL_ESTALE);
    scene_is(s, 1, 1);
    /* Another process has its slot. */
    scene_close(s, &h);
    assert_int_equal(apl_supervise_gone(&s->pool, id, s->now), APR_SUCCESS);
    scene_busy(s, a, &h, 1);
    assert_true((h.id & 0xffff) == (id & 0xffff) && h.id != id);
    assert_int_equal(
        apl_supervise_detach(&s->pool, id, APL_EVENT_DETACHED, s->now),
        APL_ESTALE);
    assert_int_equal(
        apl_supervise_detach(&s->pool, h.id, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void b1_checkout_counts_active_and_never_touches_max(void **state)
{
    scene_t *s = scene_new(5);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];
    int i;

    (void)state;
    scene_busy(s, a, h, 3);
    for (i = 0; i < 3; i++) {
        scene_is(s, 3, 3 - i);
        scene_close(s, &h[i]);
    }
    for (i = 0; i < 3; i++) {
        scene_is(s, 3, i);
        assert_int_equal(scene_ask(s, &h[i], a), APR_SUCCESS);
    }
    assert_int_equal(s->pool.header->max, 5);
    scene_end(s);
}

static void b8_the_last_process_leaves_its_group_in_order(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2];
    int i;

    (void)state;
    scene_busy(s, a, h, 2);
    scene_close(s, &h[0]);
    for (i = 0; i < 2; i++) { /* the idle one, then the busy one */
        assert_int_equal(
            apl_supervise_detach(&s->pool, h[i].id, APL_EVENT_DETACHED, s->now),
            APR_SUCCESS);
        scene_is(s, 1 - i, 1 - i);
        assert_int_equal(s->pool.groups[1].size, 1 - i);
    }
    scene_end(s);
}

static void b16_a_leaving_process_is_counted_until_it_is_gone(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_header_t *header = s->pool.header;
    apl_session_ref_t h[2], next[2];
    int i;

    (void)state;
    scene_busy(s, a, h, 2);
    for (i = 0; i < 2; i++)
        apl_supervise_detach(&s->pool, h[i].id, APL_EVENT_DETACHED, s->now);
    assert_int_equal(header->leaving, 2);
    scene_busy(s, a, next, 2);
    /* There are four processes, and each is in one of the counts. */
    assert_int_equal(header->count + header->leaving, 4);
    scene_close(s, &h[0]);
    assert_int_equal(header->leaving, 2);
    assert_int_equal(scene_reap(s), 1);
    assert_int_equal(header->leaving, 1);
    scene_end(s);
}

static void b17_a_detached_process_counts_its_sessions_down(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_condition_t is;
    apl_session_ref_t h[3];
    uint64_t rings;
    int i;

    (void)state;
    a->options.concurrency = 3;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    apl_supervise_detach(&s->pool, h[0].id, APL_EVENT_DETACHED, s->now);
    s->pool.doorbell = eventfd(0, EFD_NONBLOCK);
    for (i = 0; i < 3; i++) {
        /* The spawner learns of the last one. */
        assert_true(read(s->pool.doorbell, &rings, sizeof rings) < 0);
        is = scene_condition(s, h[0].id);
        assert_int_equal(is.sessions, 3 - i);
        scene_close(s, &h[i]);
    }
    assert_int_equal(read(s->pool.doorbell, &rings, sizeof rings),
                     sizeof rings);
    is = scene_condition(s, h[0].id);
    assert_int_equal(is.sessions, 0);
    assert_int_equal(is.processed, 3);
    close(s->pool.doorbell);
    scene_end(s);
}

static void b36_counts_never_fall_below_zero(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, copy;
    int i;

    (void)state;
    scene_busy(s, a, &h, 1);
    copy = h;
    for (i = 0; i < 3; i++) { /* once is enough */
        scene_close(s, &h);
        h = copy;
        scene_refused(s, &h);
        h = copy;
        scene_is(s, 1, 0);
    }
    assert_int_equal(scene_process(s, h.id)->processed, 1);
    assert_int_equal(s->pool.children[s->pool.self].sessions, 0);
    /* The process ends before its session is closed. */
    scene_busy(s, a, &h, 1);
    s->now += 5000000;
    assert_int_equal(apl_supervise_gone(&s->pool, h.id, s->now), APR_SUCCESS);
    scene_is(s, 0, 0);
    scene_close(s, &h);
    scene_is(s, 0, 0);
    scene_end(s);
}

static void b38_a_refused_connection_ends_its_session_uncounted(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_process_t *p;
    apl_session_ref_t h;

    (void)state;
    scene_busy(s, a, &h, 1);
    p = scene_process(s, h.id);
    scene_refused(s, &h);
    assert_int_equal(p->sessions, 0);
    assert_int_equal(p->processed, 0);
    scene_is(s, 0, 0);
    assert_int_equal(scene_reap(s), 1);
    scene_end(s);
}

static void b39_a_process_is_not_ended_while_a_session_is_open(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    /* The process is detached after it was given to a request, and before
     * the connection. */
    scene_busy(s, a, &h, 1);
    assert_int_equal(apl_admin_restart(&s->pool, "a", 0, s->now), APR_SUCCESS);
    assert_int_equal(scene_reap(s), 0);
    scene_close(s, &h);
    assert_int_equal(scene_reap(s), 1);
    scene_end(s);
}

static void d4_groups_differ_by_name(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t ha, hb;

    (void)state;
    /* One AppRoot for two groups, for example two environments. */
    assert_string_equal(a->root, b->root);
    scene_busy(s, a, &ha, 1);
    scene_close(s, &ha);
    scene_busy(s, b, &hb, 1);
    assert_true(ha.id != hb.id);
    scene_is(s, 2, 1);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a1_an_idle_process_the_last_used_first_and_no_start),
        cmocka_unit_test(a2_all_busy_starts_one_and_waits),
        cmocka_unit_test(a4_with_the_global_queue_it_waits_for_the_first_freed),
        cmocka_unit_test(a7_room_is_used_before_any_process_gives_way),
        cmocka_unit_test(a9_no_more_starts_than_requests_at_once),
        cmocka_unit_test(a10_a_process_that_refuses_is_detached),
        cmocka_unit_test(a19_detach_is_by_a_random_key),
        cmocka_unit_test(b1_checkout_counts_active_and_never_touches_max),
        cmocka_unit_test(b8_the_last_process_leaves_its_group_in_order),
        cmocka_unit_test(b16_a_leaving_process_is_counted_until_it_is_gone),
        cmocka_unit_test(b17_a_detached_process_counts_its_sessions_down),
        cmocka_unit_test(b36_counts_never_fall_below_zero),
        cmocka_unit_test(b38_a_refused_connection_ends_its_session_uncounted),
        cmocka_unit_test(b39_a_process_is_not_ended_while_a_session_is_open),
        cmocka_unit_test(d4_groups_differ_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
