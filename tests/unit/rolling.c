/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A rolling restart: first the new process starts, then an old one leaves.
 * There are never fewer processes than before, and at most one above the
 * limit. */

#include "shm/slots/group.h"
#include "tests/unit/support/scene.h"

static void close_all(scene_t *s, apl_session_ref_t *holds, int n)
{
    int i;

    for (i = 0; i < n; i++)
        scene_close(s, &holds[i]);
    scene_reap(s);
}

static void restart(scene_t *s, const apl_app_t *a)
{
    assert_int_equal(apl_admin_restart(&s->pool, a->name, 1, s->now),
                     APR_SUCCESS);
    scene_ok(s);
}

static void b15_one_by_one_and_never_fewer(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];
    uint32_t i;

    (void)state;
    scene_busy(s, a, h, 3);
    restart(s, a);
    for (i = 0; i < 3; i++) {
        uint64_t id = scene_take(s);

        assert_int_not_equal(id, 0);
        assert_int_equal(scene_take(s), 0);
        assert_int_equal(scene_group(s, a)->outdated, 3 - i);
        assert_int_equal(s->pool.header->leaving, i);
        scene_ready(s, id);
        assert_int_equal(s->pool.header->count, 3);
    }
    assert_int_equal(s->pool.header->leaving, 3);
    assert_int_equal(scene_take(s), 0);
    close_all(s, h, 3);
    scene_is(s, 3, 0);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

static void an_idle_one_leaves_first(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2];

    (void)state;
    scene_busy(s, a, h, 2);
    scene_close(s, &h[1]);
    restart(s, a);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_condition(s, h[1].id).state, APL_PROCESS_LEAVING);
    assert_int_equal(scene_condition(s, h[0].id).state, APL_PROCESS_LIVE);
    scene_close(s, &h[0]);
    scene_end(s);
}

static void b15_old_code_serves_while_the_new_fails(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    a->options.max_instances = 1;
    scene_busy(s, a, &h, 1);
    id = h.id;
    scene_close(s, &h);
    restart(s, a);
    scene_failed(s, scene_take(s));
    /* There is no storm of starts, and requests are served as before. */
    scene_tick(s, 900000);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_ask(s, &h, a), APR_SUCCESS);
    assert_true(h.id == id);
    scene_close(s, &h);
    assert_int_equal(scene_group(s, a)->outdated, 1);
    /* The tick comes when the next try is due. */
    assert_in_range(scene_tick(s, 0), s->now + 1, s->now + 100000);
    scene_tick(s, 100000);
    scene_ready(s, scene_take(s));
    scene_reap(s);
    assert_int_equal(scene_group(s, a)->failures, 0);
    assert_int_equal(scene_group(s, a)->outdated, 0);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_true(h.id != id);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void b3_a_second_restart_drops_what_boots(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2];
    uint64_t first, second;

    (void)state;
    scene_busy(s, a, h, 2);
    restart(s, a);
    first = scene_take(s);
    restart(s, a);
    assert_int_equal(scene_condition(s, first).state, APL_PROCESS_LEAVING);
    scene_reap(s);
    second = scene_take(s);
    assert_int_not_equal(second, 0);
    scene_ready(s, second);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_group(s, a)->outdated, 0);
    close_all(s, h, 2);
    scene_is(s, 2, 0);
    scene_end(s);
}

/* There is one place above MaxPoolSize, not one for each app. */
static void i11_never_more_than_one_above_the_limit(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h[4];
    uint64_t id;
    int n;

    (void)state;
    scene_busy(s, a, h, 2);
    scene_busy(s, b, h + 2, 2);
    restart(s, a);
    restart(s, b);
    for (n = 0; n < 4; n++) {
        id = scene_take(s);
        assert_int_not_equal(id, 0);
        assert_int_equal(scene_take(s), 0);
        assert_int_equal(s->pool.header->count + s->pool.header->spawning, 5);
        scene_ready(s, id);
        scene_tick(s, 0);
    }
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_group(s, a)->outdated + scene_group(s, b)->outdated,
                     0);
    close_all(s, h, 4);
    scene_is(s, 4, 0);
    scene_end(s);
}

/* A replacement that boots for ever keeps no other app out. */
static void a_newcomer_gets_its_place_meanwhile(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t h[2], new;
    uint64_t slow, order;

    (void)state;
    scene_busy(s, a, h, 2);
    scene_close(s, &h[1]);
    restart(s, a);
    slow = scene_take(s);
    assert_int_equal(scene_ask(s, &new, b), APL_EWAIT);
    order = scene_take(s);
    assert_int_not_equal(order, 0);
    scene_ready(s, order);
    assert_int_equal(scene_poll(s, &new), APR_SUCCESS);
    scene_ready(s, slow);
    scene_close(s, &new);
    scene_close(s, &h[0]);
    scene_reap(s);
    scene_tick(s, 0);
    assert_int_equal(s->pool.header->count, 2);
    scene_end(s);
}

/* The command of the app changed: one process is outdated, whatever the
 * others are. */
static void one_outdated_process_is_replaced(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2];
    uint64_t boots;

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(apl_supervise_outdate(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    scene_ok(s);
    assert_int_equal(apl_supervise_outdate(&s->pool, h[0].id, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_group(s, a)->outdated, 1);
    boots = scene_take(s);
    /* It changes again while the process boots. */
    assert_int_equal(apl_supervise_outdate(&s->pool, boots, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_condition(s, boots).state, APL_PROCESS_LEAVING);
    scene_reap(s);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_condition(s, h[0].id).state, APL_PROCESS_LEAVING);
    assert_int_equal(scene_condition(s, h[1].id).state, APL_PROCESS_LIVE);
    assert_int_equal(apl_supervise_outdate(&s->pool, h[0].id, s->now),
                     APL_ESTALE);
    close_all(s, h, 2);
    scene_is(s, 2, 0);
    scene_end(s);
}

/* Not only with the next tick: the start that was to replace a process has
 * ended. */
static void a_start_that_is_detached_is_wanted_anew(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t boots;

    (void)state;
    scene_busy(s, a, &h, 1);
    restart(s, a);
    boots = scene_take(s);
    assert_int_not_equal(boots, 0);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(
        apl_supervise_detach(&s->pool, boots, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    scene_ok(s);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_condition(s, h.id).state, APL_PROCESS_LEAVING);
    scene_close(s, &h);
    scene_reap(s);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void without_a_process_there_is_nothing_to_replace(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    uint64_t old;

    (void)state;
    assert_int_equal(apl_admin_restart(&s->pool, "a", 1, s->now), APL_ESTALE);
    assert_int_equal(scene_ask(s, &h, a), APL_EWAIT);
    old = scene_take(s);
    restart(s, a);
    assert_int_equal(scene_condition(s, old).state, APL_PROCESS_LEAVING);
    scene_reap(s);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* All of them: this is what `blocking` means. */
static void a12_a_blocking_restart_ends_all_at_once(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];

    (void)state;
    scene_busy(s, a, h, 3);
    assert_int_equal(apl_admin_restart(&s->pool, "a", -1, s->now), APR_SUCCESS);
    scene_is(s, 0, 0);
    assert_int_equal(s->pool.header->leaving, 3);
    close_all(s, h, 3);
    scene_end(s);
}

/* Two processes are above the limit for a while. One of them takes the place
 * of a dead one, so no third one starts. */
static void i11_two_that_are_replaced_make_no_room_for_a_third(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_app_t *c = scene_app(s, "c");
    apl_session_ref_t ha[2], hb[2], w;
    const apl_header_t *h = s->pool.header;

    (void)state;
    scene_busy(s, a, ha, 2);
    scene_busy(s, b, hb, 2);
    restart(s, a);
    assert_int_equal(h->spawning, 1);
    apl_supervise_gone(&s->pool, hb[0].id, s->now + 5000000);
    restart(s, b);
    assert_int_equal(h->replacing, 2);
    assert_int_equal(h->count + h->spawning, 5);
    assert_int_equal(scene_ask(s, &w, c), APL_EWAIT);
    assert_int_equal(h->count + h->spawning, 5);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(b15_one_by_one_and_never_fewer),
        cmocka_unit_test(an_idle_one_leaves_first),
        cmocka_unit_test(b15_old_code_serves_while_the_new_fails),
        cmocka_unit_test(b3_a_second_restart_drops_what_boots),
        cmocka_unit_test(i11_never_more_than_one_above_the_limit),
        cmocka_unit_test(a_newcomer_gets_its_place_meanwhile),
        cmocka_unit_test(one_outdated_process_is_replaced),
        cmocka_unit_test(a_start_that_is_detached_is_wanted_anew),
        cmocka_unit_test(without_a_process_there_is_nothing_to_replace),
        cmocka_unit_test(a12_a_blocking_restart_ends_all_at_once),
        cmocka_unit_test(i11_two_that_are_replaced_make_no_room_for_a_third),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
