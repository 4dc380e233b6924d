/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The invariants of shm/format.h by their numbers: what apl_check() finds
 * where exactly one is broken, and what it cannot see as it is about the
 * past. */

#include "tests/unit/scene.h"

/* Each verb reads the clock before it waits for the lock. */
static void i15_last_used_never_goes_back(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_process_t *p = &s->pool.processes[1];
    apl_hold_t h, w;
    int64_t now;

    (void)state;
    a->options.max_instances = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    now = p->last_used;
    s->now -= 10;
    scene_close(s, &h);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    assert_true(p->last_used == now);
    assert_int_equal(p->processed, 1);
    scene_close(s, &w);
    assert_true(p->last_used == now);
    assert_int_equal(p->processed, 2);
    s->now += 20;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_true(p->last_used == s->now);
    s->now += 20;
    scene_close(s, &h);
    assert_true(p->last_used == s->now);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i15_last_used_never_goes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
