/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What people expect of the pool, scenario by scenario. Each runs with all
 * callers in this process, and with the callers spread over four. */

#include "shm/slots/group.h"
#include "tests/unit/support/play.h"

static void s1_get_request_close(void **state)
{
    play_t *p = play_begin(state, 6);
    uint64_t id = play_get(p, 1, p->a);

    play_is(p, 1, 1);
    play_close(p, 1);
    play_is(p, 1, 0);
    assert_true(play_get(p, 2, p->a) == id);
    play_is(p, 1, 1);
    play_close(p, 2);
    play_end(p);
}

static void s2_two_at_once(void **state)
{
    play_t *p = play_begin(state, 6);
    uint64_t id = play_get(p, 1, p->a);

    assert_true(play_get(p, 2, p->a) != id);
    play_is(p, 2, 2);
    play_close(p, 1);
    play_close(p, 2);
    play_is(p, 2, 0);
    play_end(p);
}

static void s2_two_apps(void **state)
{
    play_t *p = play_begin(state, 6);
    uint64_t id = play_get(p, 1, p->a);

    assert_true(play_get(p, 2, p->b) != id);
    play_is(p, 2, 2);
    play_close(p, 1);
    play_close(p, 2);
    play_is(p, 2, 0);
    assert_true(play_get(p, 3, p->a) == id);
    play_close(p, 3);
    play_end(p);
}

static void s3_the_second_waits_for_the_only_process(void **state)
{
    play_t *p = play_begin(state, 1);
    uint64_t id = play_get(p, 1, p->a);

    play_get_none(p, 2, p->a);
    play_is(p, 1, 1);
    assert_int_equal(p->s->pool.header->waiting, 1);
    play_close(p, 1);
    assert_true(play_has(p, 2) == id);
    play_is(p, 1, 1);
    play_close(p, 2);
    play_end(p);
}

static void s4_a_killed_idle_process_is_replaced(void **state)
{
    play_t *p = play_begin(state, 6);
    uint64_t id = play_get(p, 1, p->a), other;

    play_close(p, 1);
    /* The process refuses the connection before the spawner notices its
     * death. */
    assert_true(play_get(p, 2, p->a) == id);
    callers_refused(p->c, 2);
    play_is(p, 0, 0);
    assert_int_equal(apl_supervise_gone(&p->s->pool, id, p->s->now),
                     APR_SUCCESS);
    assert_int_equal(p->s->pool.header->counters.died, 1);
    other = play_get(p, 2, p->a);
    assert_true(other != id);
    play_is(p, 1, 1);
    play_close(p, 2);
    /* Now in the other order. */
    assert_int_equal(apl_supervise_gone(&p->s->pool, other, p->s->now),
                     APR_SUCCESS);
    assert_int_equal(p->s->pool.header->counters.died, 2);
    play_is(p, 0, 0);
    assert_true(play_get(p, 3, p->a) != other);
    play_close(p, 3);
    play_end(p);
}

static void s5_a_full_pool_that_is_busy(void **state)
{
    play_t *p = play_begin(state, 2);

    play_get(p, 1, p->a);
    play_get(p, 2, p->a);
    play_get_none(p, 3, p->b);
    scene_tick(p->s, SECOND / 2);
    play_waits(p, 3);
    play_close(p, 1);
    scene_reap(p->s);
    assert_int_equal(scene_spawn(p->s), 1);
    play_has(p, 3);
    play_is(p, 2, 2);
    play_close(p, 2);
    play_close(p, 3);
    play_end(p);
}

static void s5_a_full_pool_that_is_idle(void **state)
{
    play_t *p = play_begin(state, 2);

    play_get(p, 1, p->a);
    play_get(p, 2, p->a);
    play_close(p, 1);
    play_close(p, 2);
    play_is(p, 2, 0);
    play_get(p, 3, p->b);
    play_is(p, 2, 1);
    assert_int_equal(p->s->pool.header->counters.evicted, 1);
    play_close(p, 3);
    play_end(p);
}

static void s8_idle_for_a_second(void **state)
{
    play_t *p = play_begin(state, 6);
    int64_t next;

    p->a->options.idle_time = SECOND;
    play_get(p, 1, p->a);
    play_close(p, 1);
    next = scene_tick(p->s, SECOND / 4);
    assert_int_equal(next - p->s->now, SECOND - SECOND / 4);
    play_is(p, 1, 0);
    scene_tick(p->s, next - p->s->now);
    play_is(p, 0, 0);
    play_end(p);
}

static void s8_the_minimum_stays(void **state)
{
    play_t *p = play_begin(state, 6);

    p->a->options.idle_time = SECOND;
    p->a->options.min_instances = 2;
    play_get(p, 1, p->a);
    play_get(p, 2, p->a);
    play_get(p, 3, p->a);
    play_close(p, 3);
    play_is(p, 3, 2);
    scene_tick(p->s, SECOND);
    play_is(p, 2, 2);
    play_close(p, 1);
    play_close(p, 2);
    scene_tick(p->s, 10 * SECOND);
    play_is(p, 2, 0);
    play_end(p);
}

static void s9_an_app_keeps_to_its_own_limit(void **state)
{
    play_t *p = play_begin(state, 3);

    p->a->options.max_instances = 1;
    play_get(p, 1, p->a);
    play_get_none(p, 2, p->a);
    play_get(p, 3, p->b);
    play_is(p, 2, 2);
    assert_int_equal(p->s->pool.header->counters.spawned, 2);
    play_close(p, 1);
    play_has(p, 2);
    play_close(p, 2);
    play_close(p, 3);
    play_end(p);
}

static void s10_max_requests(void **state)
{
    play_t *p = play_begin(state, 6);
    uint64_t ids[5];
    int i;

    p->a->options.max_requests = 4;
    for (i = 0; i < 5; i++) {
        ids[i] = play_get(p, i, p->a);
        play_close(p, i);
    }
    for (i = 1; i < 4; i++)
        assert_true(ids[i] == ids[0]);
    assert_true(ids[4] != ids[0]);
    play_is(p, 1, 0);
    play_end(p);
}

static void s12_detach_by_identifier(void **state)
{
    play_t *p = play_begin(state, 6);
    uint64_t busy = play_get(p, 1, p->a), idle = play_get(p, 2, p->a);
    apl_pool_t *pool = &p->s->pool;

    play_close(p, 2);
    assert_int_equal(
        apl_supervise_detach(pool, busy, APL_EVENT_DETACHED, p->s->now),
        APR_SUCCESS);
    play_is(p, 1, 0);
    assert_int_equal(
        apl_supervise_detach(pool, busy, APL_EVENT_DETACHED, p->s->now),
        APL_ESTALE);
    assert_int_equal(
        apl_supervise_detach(pool, idle, APL_EVENT_DETACHED, p->s->now),
        APR_SUCCESS);
    play_is(p, 0, 0);
    /* The busy one lives until its session is closed. */
    assert_int_equal(scene_reap(p->s), 1);
    play_close(p, 1);
    assert_int_equal(scene_reap(p->s), 1);
    play_end(p);
}

static void s13_the_minimum_follows_the_first_request(void **state)
{
    play_t *p = play_begin(state, 6);

    p->a->options.min_instances = 3;
    play_ask(p, 1, p->a);
    scene_ready(p->s, scene_take(p->s));
    play_has(p, 1);
    play_is(p, 1, 1);
    assert_int_equal(scene_spawn(p->s), 2);
    play_is(p, 3, 1);
    play_close(p, 1);
    play_end(p);
}

static void s13_a_request_meanwhile_gets_the_first_free_process(void **state)
{
    play_t *p = play_begin(state, 3);
    uint64_t id, boots;

    p->a->options.min_instances = 3;
    play_ask(p, 1, p->a);
    scene_ready(p->s, scene_take(p->s));
    id = play_has(p, 1);
    boots = scene_take(p->s);
    play_ask(p, 2, p->a);
    play_close(p, 1);
    assert_true(play_has(p, 2) == id);
    play_ask(p, 3, p->a);
    scene_ready(p->s, boots);
    assert_true(play_has(p, 3) == boots);
    scene_spawn(p->s);
    play_is(p, 3, 2);
    play_close(p, 2);
    play_close(p, 3);
    play_end(p);
}

static void s14_a_raised_limit_serves_one_more(void **state)
{
    play_t *p = play_begin(state, 3);
    int i;

    for (i = 1; i <= 3; i++)
        play_get(p, i, p->a);
    play_get_none(p, 4, p->a);
    play_get_none(p, 5, p->a);
    assert_int_equal(apl_configure_limits(&p->s->pool, 4, 2, p->s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_spawn(p->s), 1);
    play_has(p, 4);
    play_waits(p, 5);
    play_is(p, 4, 4);
    play_close(p, 1);
    play_has(p, 5);
    for (i = 2; i <= 5; i++)
        play_close(p, i);
    play_end(p);
}

static void s15_a_failed_start_harms_nobody(void **state)
{
    play_t *p = play_begin(state, 2);
    const apl_group_t *g;

    play_get(p, 1, p->a);
    play_ask(p, 2, p->a);
    scene_failed(p->s, scene_take(p->s));
    play_waits(p, 2);
    play_is(p, 1, 1);
    assert_int_equal(p->s->pool.header->spawning, 0);
    g = scene_group(p->s, p->a);
    assert_string_equal(g->error, "no");
    /* The healthy process continues to serve. No start comes before its
     * time. */
    play_close(p, 1);
    play_has(p, 2);
    play_ask(p, 3, p->a);
    scene_tick(p->s, SECOND - 1);
    assert_int_equal(scene_take(p->s), 0);
    scene_tick(p->s, 1);
    assert_int_equal(scene_spawn(p->s), 1);
    play_has(p, 3);
    play_close(p, 2);
    play_close(p, 3);
    play_end(p);
}

int main(void)
{
    static const play_test_t tests[] = {
        PLAY(s1_get_request_close),
        PLAY(s2_two_at_once),
        PLAY(s2_two_apps),
        PLAY(s3_the_second_waits_for_the_only_process),
        PLAY(s4_a_killed_idle_process_is_replaced),
        PLAY(s5_a_full_pool_that_is_busy),
        PLAY(s5_a_full_pool_that_is_idle),
        PLAY(s8_idle_for_a_second),
        PLAY(s8_the_minimum_stays),
        PLAY(s9_an_app_keeps_to_its_own_limit),
        PLAY(s10_max_requests),
        PLAY(s12_detach_by_identifier),
        PLAY(s13_the_minimum_follows_the_first_request),
        PLAY(s13_a_request_meanwhile_gets_the_first_free_process),
        PLAY(s14_a_raised_limit_serves_one_more),
        PLAY(s15_a_failed_start_harms_nobody),
    };

    return play_all(tests, sizeof tests / sizeof *tests, NULL, NULL);
}
