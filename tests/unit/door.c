/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The one door to the pool: what is met inside is mended before the next one
 * comes in. */

#include "shm/enter.h"
#include "shm/group.h"
#include "shm/queue.h"
#include "tests/unit/scene.h"

static void damage_is_repaired_before_the_lock_is_given_back(void **state)
{
    scene_t *s = scene_new(2);
    apl_header_t *h = s->pool.header;
    apl_held_t held;

    (void)state;
    assert_int_equal(apl_enter(&held, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    h->count = 77;
    s->pool.damaged = 1;
    apl_leave(&held);
    assert_int_equal(h->count, 0);
    assert_int_equal(h->counters.repairs, 1);
    /* Once is enough. */
    assert_int_equal(apl_enter(&held, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    apl_leave(&held);
    assert_int_equal(h->counters.repairs, 1);
    h->counters.repairs = 0;
    scene_end(s);
}

/* Not all can be woken under one lock. Whoever was about to serve the rest in
 * another round died before it came in again. */
static void who_comes_between_two_rounds_overtakes_nobody(void **state)
{
    enum { N = APL_WAKES_MAX + 8 };
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h, w[N], late;
    apl_held_t held;
    apl_group_t *g;
    int i;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    for (i = 0; i < N; i++)
        assert_int_equal(scene_ask(s, &w[i], a), APL_EWAIT);
    assert_int_equal(apl_enter(&held, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    g = apl_group_find(&held, a->key, a->name);
    a->options.concurrency = 0;
    apl_group_configure(&held, g, &a->options);
    apl_queue_serve(&held, g);
    assert_int_equal(g->waiting, 8);
    assert_true(held.more);
    held.more = 0;
    apl_leave(&held);
    /* I19 does not hold here, so not scene_ask(). */
    assert_int_equal(apl_checkout(&s->pool, &late, a, NULL, NULL, s->now),
                     APL_EWAIT);
    scene_tick(s, 1000000);
    for (i = 0; i < N; i++)
        assert_int_equal(scene_poll(s, &w[i]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &late), APR_SUCCESS);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_repaired_before_the_lock_is_given_back),
        cmocka_unit_test(who_comes_between_two_rounds_overtakes_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
