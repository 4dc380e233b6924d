/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How long requests waited, and how long they took: each is counted once, in
 * its class. */

#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/format/histogram.h"
#include "tests/unit/support/scene.h"

static uint64_t total(const apl_histogram_t *h)
{
    uint64_t n = 0;
    int i;

    for (i = 0; i <= APL_HISTOGRAM_BOUNDS; i++)
        n += h->counts[i];
    return n;
}

static void a_bound_belongs_to_what_is_below_it(void **state)
{
    apl_histogram_t h = {{0}, 0};
    int i;

    (void)state;
    for (i = 0; i < APL_HISTOGRAM_BOUNDS; i++) {
        assert_true(i == 0 ||
                    apl_histogram_bounds[i] > apl_histogram_bounds[i - 1]);
        apl_histogram_count(&h, apl_histogram_bounds[i]);
        apl_histogram_count(&h, apl_histogram_bounds[i] + 1);
    }
    assert_int_equal(h.counts[0], 1);
    for (i = 1; i < APL_HISTOGRAM_BOUNDS; i++)
        assert_int_equal(h.counts[i], 2);
    assert_int_equal(h.counts[APL_HISTOGRAM_BOUNDS], 1);
}

static void an_end_before_the_begin_counts_as_no_time(void **state)
{
    apl_histogram_t h = {{0}, 0};

    (void)state;
    assert_int_equal(apl_histogram_count(&h, -5), 0);
    assert_int_equal(apl_histogram_count(&h, INT64_MIN), 0);
    assert_int_equal(h.counts[0], 2);
    assert_int_equal(h.sum, 0);
}

static void each_request_is_counted_with_its_group(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    const apl_group_t *of_a = &s->pool.groups[1];
    const apl_counters_t *c = &s->pool.header->counters;
    apl_session_ref_t first, second, other;

    (void)state;
    a->options.max_instances = 1;
    assert_int_equal(scene_get(s, &first, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &other, b), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &second, a), APL_EWAIT);
    s->now += 30000;
    scene_close(s, &first); /* 30 ms in the app; second waited as long */
    s->now += 2000;
    scene_close(s, &second);
    scene_close(s, &other);
    assert_int_equal(total(&of_a->queue_time), 2);
    assert_int_equal(of_a->queue_time.counts[0], 1);
    assert_int_equal(of_a->queue_time.counts[5], 1);
    assert_int_equal(of_a->queue_time.sum, 30000);
    assert_int_equal(total(&of_a->app_time), 2);
    assert_int_equal(of_a->app_time.counts[1], 1);
    assert_int_equal(of_a->app_time.counts[5], 1);
    assert_int_equal(of_a->app_time.sum, 32000);
    assert_int_equal(total(&s->pool.groups[2].app_time), 1);
    assert_int_equal(c->served, 3);
    assert_int_equal(c->app_time, 64000);
    scene_end(s);
}

static void a_session_that_served_nothing_has_no_time(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t hold;

    (void)state;
    assert_int_equal(scene_get(s, &hold, a), APR_SUCCESS);
    s->now += 30000;
    scene_refused(s, &hold);
    assert_int_equal(total(&s->pool.groups[1].queue_time), 1);
    assert_int_equal(total(&s->pool.groups[1].app_time), 0);
    assert_int_equal(s->pool.header->counters.served, 0);
    scene_end(s);
}

/* Slow requests are killed: without them, the app would seem fast. */
static void a_killed_request_has_its_time_counted(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_group_t *g = &s->pool.groups[1];
    apl_session_ref_t first, second;

    (void)state;
    assert_int_equal(scene_get(s, &first, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &second, a), APR_SUCCESS);
    s->now += 30000;
    assert_int_equal(apl_timeouts_kill(&s->pool, first.id, 0, s->now),
                     APR_SUCCESS);
    scene_refused(s, &first);
    assert_int_equal(g->app_time.counts[5], 1);
    /* It counts also when its process is gone before the child knows. */
    assert_int_equal(apl_timeouts_kill(&s->pool, second.id, 0, s->now),
                     APR_SUCCESS);
    assert_int_equal(apl_supervise_gone(&s->pool, second.id, s->now),
                     APR_SUCCESS);
    s->now += 70000;
    scene_refused(s, &second);
    assert_int_equal(total(&g->app_time), 2);
    assert_int_equal(g->app_time.sum, 130000);
    assert_int_equal(s->pool.header->counters.served, 2);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_belongs_to_what_is_below_it),
        cmocka_unit_test(an_end_before_the_begin_counts_as_no_time),
        cmocka_unit_test(each_request_is_counted_with_its_group),
        cmocka_unit_test(a_session_that_served_nothing_has_no_time),
        cmocka_unit_test(a_killed_request_has_its_time_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
