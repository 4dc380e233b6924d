/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Where a template of the present code is ready, a group has as many starts at
 * a time as its waiting requests need. */

#include "shm/verbs/admin.h"
#include "shm/verbs/group_start.h"
#include "tests/unit/support/scene.h"

#define WAITERS 12

static apl_session_ref_t held[1], waits[WAITERS];

/* The status says that, and the pool acts on it. */
static void tell(scene_t *s, const apl_app_t *a, uint32_t state)
{
    apl_template_t is = {.pid = 4711, .state = state};
    apl_template_need_t need;

    assert_int_equal(apl_template_need(&s->pool, a->name, &need), APR_SUCCESS);
    is.code = need.code;
    apl_template_write(&s->pool, a->name, &is);
}

/* One process of the app is busy, and this many requests wait. */
static apl_app_t *begin(scene_t *s, uint32_t state, int waiting)
{
    apl_app_t *a = scene_app(s, "a");

    scene_busy(s, a, held, 1);
    tell(s, a, state);
    scene_waiting(s, a, waits, waiting);
    return a;
}

static uint32_t starts_with(uint32_t state, int waiting)
{
    scene_t *s = scene_new(20);
    const apl_app_t *a = begin(s, state, waiting);
    uint32_t n = scene_group(s, a)->spawning;

    scene_ok(s);
    scene_drop(s);
    return n;
}

static void as_many_as_wait(void **state)
{
    (void)state;
    assert_int_equal(starts_with(APL_TEMPLATE_READY, 1), 1);
    assert_int_equal(starts_with(APL_TEMPLATE_READY, 5), 5);
    assert_int_equal(starts_with(APL_TEMPLATE_READY, WAITERS), APL_GROUP_FORKS);
}

static void one_without_a_template(void **state)
{
    (void)state;
    assert_int_equal(starts_with(APL_TEMPLATE_NONE, 5), 1);
    assert_int_equal(starts_with(APL_TEMPLATE_LOADING, 5), 1);
}

static void as_many_as_fit(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = begin(s, APL_TEMPLATE_READY, 9);

    (void)state;
    assert_int_equal(scene_group(s, a)->spawning, 3);
    scene_ok(s);
    scene_drop(s);
    s = scene_new(20);
    a = scene_app(s, "a");
    a->options.max_instances = 4;
    scene_busy(s, a, held, 1);
    tell(s, a, APL_TEMPLATE_READY);
    scene_waiting(s, a, waits, 9);
    assert_int_equal(scene_group(s, a)->spawning, 3);
    scene_ok(s);
    scene_drop(s);
}

/* Each takes two requests: with `auto`, that is known of the one that runs. */
static void fewer_that_take_more(void **state)
{
    static const uint32_t of[] = {2, APL_CONCURRENCY_AUTO};
    size_t i;

    (void)state;
    for (i = 0; i < 2; i++) {
        scene_t *s = scene_new(20);
        apl_app_t *a = scene_app(s, "a");

        a->options.concurrency = of[i];
        s->made_for = 2;
        scene_busy(s, a, waits, 2);
        tell(s, a, APL_TEMPLATE_READY);
        scene_waiting(s, a, waits + 2, 5);
        assert_int_equal(scene_group(s, a)->spawning, 3);
        scene_drop(s);
    }
}

/* It became ready while they waited. Then the first process brings the rest. */
static void when_it_is_ready(void **state)
{
    scene_t *s = scene_new(20);
    const apl_app_t *a = begin(s, APL_TEMPLATE_LOADING, 5);

    (void)state;
    tell(s, a, APL_TEMPLATE_READY);
    scene_ready(s, scene_take(s));
    assert_int_equal(scene_group(s, a)->waiting, 4);
    assert_int_equal(scene_group(s, a)->spawning, 4);
    assert_int_equal(scene_spawn(s), 4);
    assert_int_equal(scene_group(s, a)->waiting, 0);
    assert_int_equal(scene_group(s, a)->spawning, 0);
    scene_ok(s);
    scene_drop(s);
}

/* The template is that of the old code until the spawner has seen it. */
static void not_after_a_restart(void **state)
{
    scene_t *s = scene_new(20);
    apl_app_t *a = scene_app(s, "a");

    (void)state;
    scene_busy(s, a, held, 1);
    tell(s, a, APL_TEMPLATE_READY);
    apl_admin_restart(&s->pool, a->name, 1, s->now);
    scene_waiting(s, a, waits, 5);
    assert_int_equal(scene_group(s, a)->spawning, 1);
    scene_ok(s);
    scene_drop(s);
}

/* They fail for one reason, so the pause is that of one failure. The others may
 * still succeed, so nobody is told before the last one has failed. */
static void they_fail_once(void **state)
{
    scene_t *s = scene_new(20);
    apl_app_t *a = begin(s, APL_TEMPLATE_READY, 5);
    const apl_group_t *g = scene_group(s, a);
    uint64_t ids[5];
    int i;

    (void)state;
    for (i = 0; i < 5; i++)
        ids[i] = scene_take(s);
    apl_supervise_gone(&s->pool, held[0].id, s->now);
    s->now += 5;
    for (i = 0; i < 4; i++)
        scene_failed(s, ids[i]);
    assert_int_equal(g->failures, 1);
    assert_int_equal(g->n_failed, 1);
    assert_int_equal(g->retry_at, s->now + 1000000);
    assert_int_equal(g->waiting, 5);
    assert_int_equal(g->spawning, 1);
    scene_failed(s, ids[4]);
    assert_int_equal(g->failures, 1);
    assert_int_equal(g->waiting, 0);
    scene_polls(s, waits, 5, APL_ESTART);
    scene_drop(s);
}

/* A child of httpd may write any time as that of the last failure. Each start
 * that fails afterwards still makes the pause longer. */
static void they_count_after_any_time(void **state)
{
    scene_t *s = scene_new(20);
    apl_app_t *a = begin(s, APL_TEMPLATE_READY, 1);
    const apl_group_t *g = scene_group(s, a);

    (void)state;
    scene_failed(s, scene_take(s));
    s->pool.groups[APL_GROUP_INDEX(&s->pool, g)].failed_at = INT64_MAX;
    scene_waiting(s, a, waits + 1, 1);
    scene_tick(s, SECOND);
    scene_failed(s, scene_take(s));
    assert_int_equal(g->failures, 2);
    assert_int_equal(g->retry_at, s->now + 2 * SECOND);
    scene_drop(s);
}

/* While its starts fail, a group tries with one process. */
static void one_after_a_failure(void **state)
{
    scene_t *s = scene_new(20);
    apl_app_t *a = begin(s, APL_TEMPLATE_READY, 1);

    (void)state;
    scene_failed(s, scene_take(s));
    scene_waiting(s, a, waits + 1, 5);
    scene_tick(s, 1000000);
    assert_int_equal(scene_group(s, a)->failures, 1);
    assert_int_equal(scene_group(s, a)->spawning, 1);
    scene_drop(s);
}

/* The others that wait for a place get theirs in between. */
static void another_group_has_its_turn(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t more[3], other;

    (void)state;
    scene_busy(s, a, held, 1);
    tell(s, a, APL_TEMPLATE_READY);
    scene_busy(s, b, more, 3);
    scene_waiting(s, a, waits, 2);
    scene_waiting(s, b, &other, 1);
    assert_int_equal(scene_group(s, a)->spawning, 0);
    apl_configure_limits(&s->pool, 7, 1, s->now);
    assert_int_equal(scene_group(s, a)->spawning, 2);
    assert_int_equal(scene_group(s, b)->spawning, 1);
    scene_ok(s);
    scene_drop(s);
}

/* An app without a process needs one of the others to make room. One is enough:
 * the rest of its starts wait for free places. */
static void one_makes_room(void **state)
{
    scene_t *s = scene_new(4);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_session_ref_t of_b[4];
    int i;

    (void)state;
    b->options.min_instances = 4;
    scene_busy(s, b, of_b, 4);
    for (i = 0; i < 4; i++)
        scene_close(s, &of_b[i]);
    scene_waiting(s, a, waits, 1);
    tell(s, a, APL_TEMPLATE_READY);
    scene_waiting(s, a, waits + 1, 4);
    assert_int_equal(scene_group(s, b)->size, 3);
    assert_int_equal(scene_group(s, a)->spawning, 1);
    scene_tick(s, SECOND);
    assert_int_equal(scene_group(s, b)->size, 3);
    scene_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_wait),
        cmocka_unit_test(one_without_a_template),
        cmocka_unit_test(as_many_as_fit),
        cmocka_unit_test(fewer_that_take_more),
        cmocka_unit_test(when_it_is_ready),
        cmocka_unit_test(not_after_a_restart),
        cmocka_unit_test(they_fail_once),
        cmocka_unit_test(they_count_after_any_time),
        cmocka_unit_test(one_after_a_failure),
        cmocka_unit_test(another_group_has_its_turn),
        cmocka_unit_test(one_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
