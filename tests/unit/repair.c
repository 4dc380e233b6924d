/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Repair rebuilds lists and counts from the slots, and it ends, whatever the
 * bytes are. */

#include <stdlib.h>
#include <string.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/format/list.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

/* Enter as the next process after a dead owner. */
static void repair(scene_t *s)
{
    apl_lock_token_t token;
    apl_finding_t finding;

    s->pool.damaged = 1;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    apl_leave(&token);
    if (!apl_check(&s->pool, &finding))
        fail_msg("I%d: %s", finding.number, finding.text);
    s->pool.header->counters.repairs = 0;
}

/* Two apps with idle, busy, starting, wanted and leaving processes, and
 * waiters. */
static scene_t *busy_scene(apl_session_ref_t *h)
{
    scene_t *s = scene_new(8);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_app_t *c = scene_app(s, "c");
    int i;

    b->options.concurrency = 4;
    b->options.max_instances = 2;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    for (; i < 12; i++) {
        s->now++;
        scene_get(s, &h[i], b);
    }
    for (; i < 15; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    s->now++;
    scene_close(s, &h[0]);
    s->now++;
    scene_close(s, &h[1]);
    assert_int_equal(
        apl_supervise_detach(&s->pool, h[2].id, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    assert_int_equal(scene_ask(s, &h[15], c), APL_EWAIT);
    scene_take(s);
    return s;
}

static void close_all(scene_t *s, apl_session_ref_t *h)
{
    int i;

    scene_spawn(s);
    for (i = 0; i < 16; i++)
        scene_close(s, &h[i]);
    assert_int_equal(s->pool.header->active, 0);
    assert_int_equal(s->pool.header->waiting, 0);
    scene_end(s);
}

static void lists_and_counts_come_back_as_they_were(void **state)
{
    apl_session_ref_t h[16];
    scene_t *s = busy_scene(h);
    apl_header_t *was = malloc(sizeof *was), *is = s->pool.header;
    uint32_t front, back, head;

    (void)state;
    front = apl_list_first(&s->pool, &s->pool.groups[1].idle);
    back = apl_list_first(&s->pool, &is->inactive);
    head = apl_list_first(&s->pool, &s->pool.groups[2].queue);
    assert_true(front != 0 && back != 0 && head != 0);
    memcpy(was, is, sizeof *was);
    memset(&is->inactive, 0x55, sizeof is->inactive);
    is->count = is->active = is->spawning = is->waiting = is->leaving = 77;
    memset(is->buckets, 0xaa, sizeof is->buckets);
    s->pool.groups[1].size = s->pool.groups[2].waiting = 99;
    s->pool.groups[2].order = 5000;
    memset(&s->pool.groups[1].idle, 0, sizeof s->pool.groups[1].idle);
    s->pool.processes[1].sessions = 3;
    repair(s);
    assert_int_equal(is->count, was->count);
    assert_int_equal(is->active, was->active);
    assert_int_equal(is->spawning, was->spawning);
    assert_int_equal(is->waiting, was->waiting);
    assert_int_equal(is->leaving, was->leaving);
    assert_int_equal(apl_list_first(&s->pool, &s->pool.groups[1].idle), front);
    assert_int_equal(apl_list_first(&s->pool, &is->inactive), back);
    assert_int_equal(apl_list_first(&s->pool, &s->pool.groups[2].queue), head);
    free(was);
    close_all(s, h);
}

static void what_the_dead_left_half_done_is_finished(void **state)
{
    apl_session_ref_t h[16];
    scene_t *s = busy_scene(h);
    apl_session_t *waiter = &s->pool.sessions[h[11].session];
    int i;

    (void)state;
    /* A child closed its session, and died before it served the waiter. */
    assert_int_equal(waiter->state, APL_SESSION_WAITING);
    for (i = 3; i < 11; i++)
        if (s->pool.sessions[h[i].session].state == APL_SESSION_OPEN)
            break;
    s->pool.sessions[h[i].session].state = APL_SESSION_FREE;
    repair(s);
    assert_int_equal(scene_poll(s, &h[11]), APR_SUCCESS);
    close_all(s, h);
}

/* The last request was counted and closed, and then its owner died. */
static void a_process_after_its_last_request_retires(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    apl_condition_t is;

    (void)state;
    a->options.max_requests = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_process(s, h.id)->processed = 1;
    repair(s); /* it has it still */
    scene_is(s, 1, 1);
    s->pool.sessions[h.session].state = APL_SESSION_FREE;
    repair(s);
    scene_is(s, 0, 0);
    is = scene_condition(s, h.id);
    assert_int_equal(is.reason, APL_EVENT_RETIRED);
    scene_end(s);
}

/* Turns are in no slot. But the slots have the waiters, and the time since when
 * they wait. */
static void turns_come_back_in_the_order_of_the_waiters(void **state)
{
    static const char *const names[] = {"c", "b", "a"};
    scene_t *s = scene_new(1);
    apl_app_t *x = scene_app(s, "x");
    apl_app_t *apps[3];
    apl_session_ref_t h, w[3];
    int i;

    (void)state;
    for (i = 2; i >= 0; i--) {
        apps[i] = scene_app(s, names[i]);
        assert_int_equal(apl_configure_group(&s->pool, apps[i], 1, s->now),
                         APR_SUCCESS);
    }
    assert_int_equal(scene_get(s, &h, x), APR_SUCCESS);
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_ask(s, &w[i], apps[i]), APL_EWAIT);
    repair(s);
    scene_close(s, &h);
    for (i = 0; i < 3; i++) {
        assert_int_equal(scene_spawn(s), 1);
        assert_int_equal(scene_poll(s, &w[i]), APR_SUCCESS);
        scene_close(s, &w[i]);
    }
    scene_end(s);
}

/* A process became ready. The spawner that said so died before it served a
 * waiter. */
static void more_than_can_be_woken_at_once_are_served(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[90];
    uint64_t id;
    int i;

    (void)state;
    a->options.concurrency = 0;
    scene_waiting(s, a, h, 90);
    id = scene_take(s);
    scene_process(s, id)->state = APL_PROCESS_LIVE;
    repair(s);
    for (i = 0; i < 90; i++) {
        assert_int_equal(scene_poll(s, &h[i]), APR_SUCCESS);
        scene_close(s, &h[i]);
    }
    scene_end(s);
}

/* The spawner empties the slots of processes that it does not know, and
 * takes back what dead children had. Here all children are dead. */
static void reconcile(scene_t *s)
{
    uint64_t ids[1200];
    uint32_t i, n = apl_reconcile_ids(&s->pool, ids, 1200);
    apl_child_watch_t w;

    for (i = 1; i < s->pool.n.children; i++)
        if (apl_child_watch_at(&s->pool, i, &w) == APR_SUCCESS)
            apl_child_watch_gone(&s->pool, &w, s->now);
    for (i = 0; i < n; i++)
        apl_supervise_gone(&s->pool, ids[i], s->now);
}

/* Overwrite a word somewhere in the part that is in use. */
static void damage(scene_t *s, int plausibly)
{
    static const uint32_t plausible[] = {0, 1, 2, 3, 64, 128, 0xffffffff};
    char *starts[] = {s->pool.base, (char *)&s->pool.processes[1],
                      (char *)&s->pool.sessions[1],
                      (char *)&s->pool.children[1]};
    const int sizes[] = {20000, 3000, 5000, 256};
    int table = rand() % 4;
    char *at = starts[table] + rand() % sizes[table] / 4 * 4;
    uint32_t value = (uint32_t)rand();

    if (plausibly)
        value = plausible[(size_t)rand() % 7];
    memcpy(at, &value, sizeof value);
    s->pool.header->lock = 0;
}

static void any_bytes_end_in_a_pool_that_works(void **state)
{
    int round, i;

    (void)state;
    srand(3);
    for (round = 0; round < 400; round++) {
        apl_session_ref_t h[16], x;
        scene_t *s = busy_scene(h);
        apl_app_t *app;
        apr_status_t rv;

        for (i = 0; i < 1 << round % 12; i++)
            damage(s, round % 2);
        repair(s);
        reconcile(s);
        apl_configure_limits(&s->pool, 5, 1, s->now);
        apl_configure_limits(&s->pool, 4, 1, s->now);
        assert_int_equal(apl_child_register(&s->pool, 1), APR_SUCCESS);
        app = scene_app(s, "new");
        rv = apl_checkout(&s->pool, &x, app, NULL, NULL, s->now);
        for (i = 0; i < 20 && rv == APL_EWAIT; i++) {
            apl_order_t o;

            while (apl_supervise_next_order(&s->pool, (uint64_t)rand() << 20,
                                            s->now, &o) == APR_SUCCESS)
                apl_supervise_ready(&s->pool, o.id, s->now);
            rv = apl_checkout_poll(&s->pool, &x, s->now);
        }
        assert_int_equal(rv, APR_SUCCESS);
        apl_checkin(&s->pool, &x, s->now);
        repair(s);
        scene_drop(s);
    }
}

/* Otherwise the next process in that slot would have one request too many. */
static void a_session_names_no_process_to_come(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, next;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    s->pool.sessions[h.session].process_generation++;
    repair(s);
    s->now += 2000000;
    apl_supervise_gone(&s->pool, h.id, s->now);
    assert_int_equal(scene_get(s, &next, a), APR_SUCCESS);
    scene_is(s, 1, 1);
    scene_close(s, &h);
    scene_close(s, &next);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* Its slot was lost. Its new slot says for a while that it boots. */
static void a_request_keeps_a_process_that_boots_again(void **state)
{
    const apl_start_t start = scene_start(4711);
    scene_t *s = scene_new(2);
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, scene_app(s, "a")), APR_SUCCESS);
    apl_supervise_gone(&s->pool, h.id, s->now);
    assert_int_equal(
        apl_reconcile_adopt(&s->pool, h.id, &start, "a", 0, s->now),
        APR_SUCCESS);
    repair(s);
    scene_ready(s, h.id);
    scene_is(s, 1, 1);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_counts_come_back_as_they_were),
        cmocka_unit_test(what_the_dead_left_half_done_is_finished),
        cmocka_unit_test(a_process_after_its_last_request_retires),
        cmocka_unit_test(turns_come_back_in_the_order_of_the_waiters),
        cmocka_unit_test(more_than_can_be_woken_at_once_are_served),
        cmocka_unit_test(a_session_names_no_process_to_come),
        cmocka_unit_test(a_request_keeps_a_process_that_boots_again),
        cmocka_unit_test(any_bytes_end_in_a_pool_that_works),
    };

    test_clock_slow(100); /* a verb waits for 1 s at most */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
