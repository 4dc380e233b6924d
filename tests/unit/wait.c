/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Waiting: woken at the hand-off, in time at the deadline, and not at all
 * for a client that has left. */

#include <pthread.h>

#include "shm/enter.h"
#include "tests/unit/scene.h"

typedef struct {
    scene_t *s;
    apl_hold_t hold;
    int64_t deadline;
    apl_gone_t *gone;
    apr_status_t rv;
} waiter_t;

static void *wait_for(void *arg)
{
    waiter_t *w = arg;

    w->rv =
        apl_checkout_wait(&w->s->pool, &w->hold, w->deadline, w->gone, NULL);
    return NULL;
}

static int always_gone(void *ctx)
{
    (void)ctx;
    return 1;
}

/* A pool of one process that is held, and a request that waits for it. */
static scene_t *begin(apl_hold_t *h, waiter_t *w)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");

    s->now = apl_now();
    assert_int_equal(scene_get(s, h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w->hold, a), APL_EWAIT);
    w->s = s;
    w->gone = NULL;
    w->deadline = apl_now() + 60 * 1000000;
    return s;
}

static void the_waiter_is_woken_by_the_hand_off(void **state)
{
    waiter_t w;
    apl_hold_t h;
    scene_t *s = begin(&h, &w);
    pthread_t t;
    uint64_t id = h.id;

    (void)state;
    pthread_create(&t, NULL, wait_for, &w);
    apl_checkin(&s->pool, &h, apl_now());
    pthread_join(t, NULL);
    assert_int_equal(w.rv, APR_SUCCESS);
    assert_true(w.hold.id == id);
    scene_close(s, &w.hold);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void at_the_deadline_it_leaves_the_queue(void **state)
{
    waiter_t w;
    apl_hold_t h;
    scene_t *s = begin(&h, &w);

    (void)state;
    w.deadline = apl_now() + 20000;
    wait_for(&w);
    assert_int_equal(w.rv, APL_ETIMEOUT);
    assert_true(apl_now() >= w.deadline);
    assert_int_equal(s->pool.header->waiting, 0);
    assert_int_equal(s->pool.header->counters.timeouts, 1);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void a_client_that_left_never_reaches_the_app(void **state)
{
    waiter_t w;
    apl_hold_t h;
    scene_t *s = begin(&h, &w);
    uint64_t processed;

    (void)state;
    w.gone = always_gone;
    wait_for(&w);
    assert_int_equal(w.rv, APL_EGONE);
    assert_int_equal(s->pool.header->waiting, 0);
    /* Also when it was given a process in the same instant. */
    assert_int_equal(scene_ask(s, &w.hold, &s->apps[0]), APL_EWAIT);
    scene_close(s, &h);
    processed = s->pool.processes[1].processed;
    wait_for(&w);
    assert_int_equal(w.rv, APL_EGONE);
    assert_int_equal(s->pool.processes[1].processed, processed);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void a_stopping_child_waits_no_longer(void **state)
{
    waiter_t w;
    apl_hold_t h;
    scene_t *s = begin(&h, &w);
    pthread_t t;

    (void)state;
    pthread_create(&t, NULL, wait_for, &w);
    apl_checkout_stop(&s->pool);
    pthread_join(t, NULL);
    assert_int_equal(w.rv, APL_ESTOPPING);
    scene_close(s, &h);
    scene_end(s);
}

static void a_failed_start_ends_the_wait(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    waiter_t w = {.s = s, .deadline = apl_now() + 60 * 1000000};
    pthread_t t;

    (void)state;
    s->now = apl_now();
    assert_int_equal(scene_ask(s, &w.hold, a), APL_EWAIT);
    pthread_create(&t, NULL, wait_for, &w);
    scene_failed(s, scene_take(s));
    pthread_join(t, NULL);
    assert_int_equal(w.rv, APL_ESTART);
    assert_int_equal(w.hold.error_id, 0xe44);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_waiter_is_woken_by_the_hand_off),
        cmocka_unit_test(at_the_deadline_it_leaves_the_queue),
        cmocka_unit_test(a_client_that_left_never_reaches_the_app),
        cmocka_unit_test(a_stopping_child_waits_no_longer),
        cmocka_unit_test(a_failed_start_ends_the_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
