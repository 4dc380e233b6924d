/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* AppConcurrency auto: each process has its own number of requests at a
 * time. */

#include "tests/unit/support/scene.h"

static void restart(scene_t *s, const apl_app_t *a)
{
    assert_int_equal(apl_admin_restart(&s->pool, a->name, 1, s->now),
                     APR_SUCCESS);
    scene_ok(s);
}

/* A deployment brings code that takes any number of requests. Processes with
 * the old code do not. */
static void with_auto_a_serial_process_stays_serial(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2], waits, more[10];
    uint64_t id;
    int i;

    (void)state;
    a->options.concurrency = APL_CONCURRENCY_AUTO;
    scene_busy(s, a, h, 2);
    assert_int_equal(scene_ask(s, &waits, a), APL_EWAIT);
    restart(s, a);
    s->made_for = 0;
    id = scene_take(s);
    scene_ready(s, id);
    assert_int_equal(scene_poll(s, &waits), APR_SUCCESS);
    assert_true(waits.id == id);
    scene_is(s, 2, 2);
    for (i = 0; i < 10; i++) {
        assert_int_equal(scene_ask(s, &more[i], a), APR_SUCCESS);
        assert_true(more[i].id == id);
    }
    for (i = 0; i < 10; i++)
        scene_close(s, &more[i]);
    scene_close(s, &waits);
    for (i = 0; i < 2; i++)
        scene_close(s, &h[i]);
    scene_end(s);
}

/* The other way round. The report that the spawner makes each second does not
 * change the number. A request does not change it either. */
static void with_auto_a_wide_process_stays_wide(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[8], more[2];
    uint64_t id;
    int i;

    (void)state;
    a->options.concurrency = APL_CONCURRENCY_AUTO;
    s->made_for = 3;
    scene_busy(s, a, h, 6);
    scene_is(s, 2, 2);
    restart(s, a);
    s->made_for = 1;
    id = scene_take(s);
    scene_ready(s, id); /* and one of the old ones leaves */
    for (i = 0; i < 3; i++)
        scene_close(s, &h[i]);
    scene_close(s, &h[3]);
    apl_configure_group(&s->pool, a, 0, s->now);
    assert_int_equal(scene_ask(s, &more[0], a), APR_SUCCESS);
    assert_true(more[0].id == id);
    assert_int_equal(scene_ask(s, &more[1], a), APR_SUCCESS);
    assert_true(more[1].id == h[4].id);
    assert_int_equal(scene_ask(s, &h[3], a), APL_EWAIT);
    /* A number in the configuration is different: it holds for all
     * processes. */
    a->options.concurrency = 2;
    a->options.config++;
    apl_configure_group(&s->pool, a, 0, s->now);
    assert_int_equal(scene_poll(s, &h[3]), APR_SUCCESS);
    assert_true(h[3].id == id);
    for (i = 3; i < 6; i++)
        scene_close(s, &h[i]);
    for (i = 0; i < 2; i++)
        scene_close(s, &more[i]);
    scene_end(s);
}

/* A process without a known number gets one request at a time. */
static void with_auto_an_unknown_process_is_serial(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_order_t order;
    apl_session_ref_t h[2];

    (void)state;
    a->options.concurrency = APL_CONCURRENCY_AUTO;
    scene_waiting(s, a, h, 2);
    assert_int_equal(
        apl_supervise_next_order(&s->pool, 1ull << 32, s->now, &order),
        APR_SUCCESS);
    scene_ready(s, order.id);
    assert_int_equal(scene_poll(s, &h[0]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &h[1]), APL_EWAIT);
    scene_close(s, &h[0]);
    assert_int_equal(scene_poll(s, &h[1]), APR_SUCCESS);
    scene_close(s, &h[1]);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_auto_a_serial_process_stays_serial),
        cmocka_unit_test(with_auto_a_wide_process_stays_wide),
        cmocka_unit_test(with_auto_an_unknown_process_is_serial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
