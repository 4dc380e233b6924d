/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Hung processes do not count. For each of them, one process may be started
 * above the limits. */

#include "tests/unit/support/slow.h"

static void p8_of_ten_six_hang_and_four_are_busy(void **state)
{
    scene_t *s = scene_new(10);
    apl_app_t *a = slow_app(s, "a", 10, 5);
    apl_session_ref_t h[10], more[3];

    (void)state;
    scene_busy(s, a, h, 6);
    s->now += LIMIT - SECOND;
    scene_busy(s, a, h + 6, 4);
    scene_waiting(s, a, more, 3);
    slow_look(s, SECOND);
    assert_int_equal(s->pool.header->hung, 6);
    assert_int_equal(scene_spawn(s), 1); /* five that are not hung */
    assert_int_equal(scene_poll(s, &more[0]), APR_SUCCESS);
    scene_tick(s, SECOND);
    slow_look(s, 0);
    assert_int_equal(scene_take(s), 0); /* exactly one */
    scene_is(s, 11, 11);
    scene_end(s);
}

static void p9_the_ceiling_counts_what_is_being_started(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = slow_app(s, "a", 4, 4);
    apl_session_ref_t h[10];
    int i, n = 0;

    (void)state;
    for (i = 0; i < 10; i++)
        scene_get(s, &h[i], a);
    /* All processes hang, and each new one will hang. */
    for (i = 0; i < 10; i++) {
        slow_look(s, LIMIT);
        n += scene_spawn(s);
    }
    assert_int_equal(n, 2); /* AppHungExtra */
    scene_is(s, 6, 6);
    assert_int_equal(scene_poll(s, &h[6]), APL_EWAIT);
    scene_end(s);
}

/* Three apps have one start above the limit each, and a fourth app has none,
 * before any of these is ready. */
static void p9_starts_under_way_count(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *all[4];
    apl_session_ref_t h[3], more[4];
    char name[2] = "a";
    uint64_t ids[3];
    int i;

    (void)state;
    for (i = 0; i < 4; i++, name[0]++) {
        all[i] = slow_app(s, name, 0, 1);
        all[i]->options.hung_extra = 1;
    }
    for (i = 0; i < 3; i++)
        scene_busy(s, all[i], &h[i], 1);
    slow_look(s, LIMIT);
    for (i = 0; i < 4; i++)
        assert_int_equal(scene_ask(s, &more[i], all[i]), APL_EWAIT);
    for (i = 0; i < 3; i++)
        assert_int_not_equal(ids[i] = scene_take(s), 0);
    assert_int_equal(scene_take(s), 0);
    for (i = 0; i < 3; i++) {
        scene_ready(s, ids[i]);
        assert_int_equal(scene_poll(s, &more[i]), APR_SUCCESS);
    }
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_poll(s, &more[3]), APL_EWAIT);
    scene_is(s, 6, 6);
    scene_end(s);
}

static void p10_enough_are_not_hung(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = slow_app(s, "a", 3, 2);
    apl_session_ref_t h[3], more;

    (void)state;
    scene_busy(s, a, h, 1);
    s->now += LIMIT;
    scene_busy(s, a, h + 1, 2);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    slow_look(s, 0);
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(scene_take(s), 0);
    scene_close(s, &h[1]);
    assert_int_equal(scene_poll(s, &more), APR_SUCCESS);
    scene_end(s);
}

/* One process is hung, and one is above the limit. Then the hung one
 * recovers. */
static void p11_the_surplus_goes_when_they_recover(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 2, 2);
    apl_session_ref_t h[3];

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(scene_ask(s, &h[2], a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(scene_spawn(s), 1);
    scene_is(s, 3, 3);
    scene_close(s, &h[2]); /* there is credit for it */
    scene_tick(s, SECOND);
    scene_is(s, 3, 2);
    scene_close(s, &h[0]);
    scene_close(s, &h[1]);
    scene_tick(s, 0);
    scene_is(s, 2, 0);
    scene_end(s);
}

/* A hung request turns out to be long-lived. So there is one process too
 * many, and all work. Processes of another app, which has none too many,
 * become idle first. One process leaves, and only one, however often the
 * clock is checked before it is gone. */
static void p12_never_below_the_minimum(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = slow_app(s, "a", 0, 1), *b = slow_app(s, "b", 0, 0);
    apl_session_ref_t h[3], other[2];
    int i;

    (void)state;
    a->options.min_instances = 2;
    b->options.min_instances = 2;
    scene_busy(s, a, h, 2);
    s->now += LIMIT - SECOND;
    scene_busy(s, b, other, 2);
    assert_int_equal(scene_ask(s, &h[2], a), APL_EWAIT);
    slow_look(s, SECOND);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h[2]), APR_SUCCESS);
    apl_checkout_set_long_lived(&s->pool, &h[0], APL_LONG_LIVED_RESPONSE);
    apl_checkout_set_long_lived(&s->pool, &h[1], APL_LONG_LIVED_RESPONSE);
    slow_look(s, 0);
    assert_int_equal(s->pool.header->hung, 0);
    scene_is(s, 5, 5); /* of four */
    for (i = 0; i < 2; i++)
        scene_close(s, &other[i]);
    scene_tick(s, SECOND);
    scene_is(s, 5, 3);
    assert_int_equal(scene_group(s, b)->size, 2);
    for (i = 0; i < 3; i++) {
        scene_close(s, &h[i]);
        scene_tick(s, SECOND);
        scene_is(s, 4, 2 - i);
    }
    assert_int_equal(scene_group(s, a)->size, 2);
    assert_int_equal(scene_group(s, b)->size, 2);
    scene_end(s);
}

static void p21_eleven_hang_and_then_there_is_silence(void **state)
{
    scene_t *s = scene_new(10);
    apl_app_t *a = slow_app(s, "a", 0, 1);
    apl_session_ref_t h[11];

    (void)state;
    scene_busy(s, a, h, 10);
    assert_int_equal(scene_ask(s, &h[10], a), APL_EWAIT);
    slow_look(s, LIMIT - SECOND);
    assert_int_equal(scene_take(s), 0);
    slow_look(s, SECOND);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h[10]), APR_SUCCESS);
    scene_end(s);
}

/* One bad request a second for ten minutes, and a good one. */
static void p22_a_trickle_of_bad_ones(void **state)
{
    scene_t *s = scene_new(30);
    apl_app_t *a = slow_app(s, "a", 10, 1);
    apl_session_ref_t bad[600], good;
    apl_session_peek_t overdue[16];
    int i, refused = 0, served = 0;
    uint32_t k, n, most = 0;

    (void)state;
    a->options.hung_after = 4 * SECOND;
    a->options.kill_after = 8 * SECOND;
    for (i = 0; i < 600; i++) {
        s->now += SECOND;
        n = apl_timeouts_find(&s->pool, s->now, overdue, 16);
        for (k = 0; k < n; k++)
            assert_int_equal(apl_timeouts_expire(&s->pool, &overdue[k], s->now),
                             APR_SUCCESS);
        scene_ok(s);
        for (k = 0; k < (uint32_t)i; k++) /* their connections break */
            if (apl_checkout_killed(&s->pool, &bad[k]))
                scene_close(s, &bad[k]);
        scene_reap(s);
        scene_spawn(s);
        refused += scene_get(s, &bad[i], a) != APR_SUCCESS;
        served += scene_get(s, &good, a) == APR_SUCCESS;
        scene_close(s, &good);
        if (scene_group(s, a)->size > most)
            most = scene_group(s, a)->size;
    }
    assert_true(most <= 12);
    assert_int_equal(served, 600);
    assert_int_equal(refused, 0);
    scene_end(s);
}

/* One process recovers and another one hangs, in the same second. That makes
 * no place. */
static void a_recovered_process_returns_its_credit_first(void **state)
{
    scene_t *s = scene_new(9);
    apl_app_t *a = slow_app(s, "a", 2, 9);
    apl_session_ref_t first[2], second[2], waiting[4];

    (void)state;
    a->options.concurrency = 2;
    scene_busy(s, a, first, 2);
    s->now += 5 * SECOND;
    scene_busy(s, a, second, 2);
    s->now += 5 * SECOND;
    scene_close(s, &first[1]);
    scene_busy(s, a, &first[1], 1);
    s->now += LIMIT - 10 * SECOND;
    scene_waiting(s, a, waiting, 4);
    slow_look(s, 0); /* the first process hangs */
    assert_int_equal(scene_spawn(s), 1);
    s->now += 5 * SECOND;
    scene_close(s, &first[0]);
    slow_look(s, 0); /* the second one does */
    assert_int_equal(s->pool.header->counters.hung, 2);
    assert_int_equal(s->pool.header->hung, 1);
    assert_int_equal(scene_poll(s, &waiting[3]), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 3, 3);
    scene_end(s);
}

/* A group whose processes all hang is like a group without a process. */
static void i20_a_group_with_only_hung_processes_gets_room(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = slow_app(s, "b", 0, 0);
    apl_session_ref_t ha, hb, w;

    (void)state;
    scene_busy(s, a, &ha, 1);
    scene_busy(s, b, &hb, 1);
    scene_close(s, &hb);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &w, a), APR_SUCCESS);
    assert_int_equal(scene_group(s, b)->size, 0);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* When its last process hangs, its turn moves to the other list at once. */
static void i20_its_turn_moves_when_the_last_process_hangs(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = scene_app(s, "b");
    apl_session_ref_t ha, hb, w;

    (void)state;
    scene_busy(s, a, &ha, 1);
    scene_busy(s, b, &hb, 1);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    scene_close(s, &hb);
    scene_is(s, 2, 1);
    assert_int_equal(scene_take(s), 0);
    slow_look(s, LIMIT);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* A hung process that several requests share takes no room. */
static void a_hung_one_gives_no_room(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = scene_app(s, "b");
    apl_session_ref_t h[2], other;

    (void)state;
    a->options.concurrency = 3;
    a->options.hung_extra = 1;
    scene_busy(s, a, h, 2);
    slow_look(s, LIMIT);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    scene_close(s, &h[1]);
    assert_int_equal(s->pool.header->counters.evicted, 0);
    assert_int_equal(scene_poll(s, &other), APL_EWAIT);
    scene_end(s);
}

/* An idle process of another app leaves first, but not below the minimum of
 * that app. */
static void a_minimum_is_kept_where_there_is_credit(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = slow_app(s, "a", 0, 2), *b = slow_app(s, "b", 0, 0);
    apl_session_ref_t h[3], hb;

    (void)state;
    b->options.min_instances = 1;
    scene_busy(s, a, h, 1);
    s->now += LIMIT;
    scene_busy(s, a, h + 1, 1);
    scene_busy(s, b, &hb, 1);
    scene_close(s, &hb);
    slow_look(s, 0);
    assert_int_equal(scene_get(s, &h[2], a), APR_SUCCESS);
    assert_int_equal(scene_group(s, b)->size, 1);
    scene_is(s, 4, 3);
    scene_end(s);
}

/* A lowered limit ends idle processes: only the hung one does not count. */
static void a_lowered_limit_ends_others_all_the_same(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = slow_app(s, "a", 0, 1), *b = scene_app(s, "b");
    apl_session_ref_t h, more, other[2];
    int i;

    (void)state;
    scene_busy(s, a, &h, 1);
    scene_busy(s, b, other, 2);
    for (i = 0; i < 2; i++)
        scene_close(s, &other[i]);
    slow_look(s, LIMIT);
    apl_configure_limits(&s->pool, 1, 1, s->now);
    scene_tick(s, 0);
    assert_int_equal(scene_group(s, b)->size, 1);
    scene_is(s, 2, 1);
    assert_int_equal(scene_get(s, &more, a), APR_SUCCESS);
    assert_int_equal(scene_group(s, b)->size, 0);
    scene_is(s, 2, 2);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p8_of_ten_six_hang_and_four_are_busy),
        cmocka_unit_test(p9_the_ceiling_counts_what_is_being_started),
        cmocka_unit_test(p9_starts_under_way_count),
        cmocka_unit_test(p10_enough_are_not_hung),
        cmocka_unit_test(p11_the_surplus_goes_when_they_recover),
        cmocka_unit_test(p12_never_below_the_minimum),
        cmocka_unit_test(p21_eleven_hang_and_then_there_is_silence),
        cmocka_unit_test(p22_a_trickle_of_bad_ones),
        cmocka_unit_test(a_recovered_process_returns_its_credit_first),
        cmocka_unit_test(i20_a_group_with_only_hung_processes_gets_room),
        cmocka_unit_test(i20_its_turn_moves_when_the_last_process_hangs),
        cmocka_unit_test(a_hung_one_gives_no_room),
        cmocka_unit_test(a_minimum_is_kept_where_there_is_credit),
        cmocka_unit_test(a_lowered_limit_ends_others_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
