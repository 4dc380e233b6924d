/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A waiter is woken at the hand-off, and gives up at the deadline. The request
 * of a client that has left does not wait any more. */

#include <pthread.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/sleeps.h"

typedef struct {
    scene_t *s;
    apl_session_ref_t hold;
    int64_t deadline;
    apl_client_gone_t *gone;
    apr_status_t rv;
    int64_t missed;
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
static scene_t *begin(apl_session_ref_t *h, waiter_t *w)
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
    apl_session_ref_t h;
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

static void b23_at_the_deadline_it_leaves_the_queue(void **state)
{
    waiter_t w;
    apl_session_ref_t h;
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

static int asked;

static int count_questions(void *ctx)
{
    (void)ctx;
    asked++;
    return 0;
}

/* To ask is a system call, and its request has only just been read. */
static void the_client_is_not_asked_before_the_wait(void **state)
{
    waiter_t w;
    apl_session_ref_t h;
    scene_t *s = begin(&h, &w);

    (void)state;
    w.gone = count_questions;
    w.deadline = apl_now() - 1;
    wait_for(&w);
    assert_int_equal(w.rv, APL_ETIMEOUT);
    assert_int_equal(asked, 0);
    scene_close(s, &h);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void
b28_a_client_that_left_waits_no_more_and_reaches_no_app(void **state)
{
    waiter_t w;
    apl_session_ref_t h;
    scene_t *s = begin(&h, &w);
    uint64_t processed;

    (void)state;
    w.gone = always_gone;
    wait_for(&w);
    assert_int_equal(w.rv, APL_EGONE);
    assert_int_equal(s->pool.header->waiting, 0);
    /* Also when it got a process in the same instant. */
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
    apl_session_ref_t h;
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

static void a18_a_failed_start_ends_the_wait(void **state)
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

static void *wait_and_watch(void *arg)
{
    waiter_t *w = arg;

    sleeps_on(&w->s->pool.sessions[w->hold.session]);
    wait_for(w);
    w->missed = sleeps_missed();
    return NULL;
}

/* It already sleeps, or is about to sleep, or does not have to sleep. */
static void b26_no_wake_up_is_lost(void **state)
{
    apl_session_ref_t h;
    waiter_t w;
    scene_t *s = begin(&h, &w);
    pthread_t t;
    int i;

    (void)state;
    for (i = 0; i < 500; i++) {
        int64_t woken;

        w.deadline = apl_now() + 60 * 1000000;
        pthread_create(&t, NULL, wait_and_watch, &w);
        usleep((useconds_t)(i % 10 * 20));
        scene_close(s, &h);
        woken = apl_now();
        pthread_join(t, NULL);
        assert_int_equal(w.rv, APR_SUCCESS);
        assert_false(sleeps_lost(w.missed, woken));
        h = w.hold;
        assert_int_equal(scene_ask(s, &w.hold, &s->apps[0]), APL_EWAIT);
    }
    scene_end(s);
}

/* ---- without the lock ---- */

typedef struct {
    scene_t *s;
    int served;
} worker_t;

static void *work(void *arg)
{
    worker_t *w = arg;
    apl_session_ref_t h;

    while (w->served < 2000) {
        apr_status_t rv = apl_checkout(&w->s->pool, &h, &w->s->apps[0], NULL,
                                       NULL, apl_now());

        if (rv == APL_EWAIT)
            rv = apl_checkout_wait(&w->s->pool, &h, apl_now() + 60 * 1000000,
                                   NULL, NULL);
        if (rv != APR_SUCCESS)
            break;
        apl_checkin(&w->s->pool, &h, apl_now());
        __atomic_add_fetch(&w->served, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* A process is detached while a session of it is about to be closed. The
 * close decides with the lock held. */
static void b20_closing_what_is_being_detached(void **state)
{
    scene_t *s = scene_new(3);
    worker_t workers[3];
    pthread_t t[3];
    int i, left;

    (void)state;
    s->now = apl_now();
    s->pool.patience = APL_FOREVER; /* a worker may stop inside */
    scene_app(s, "a");
    for (i = 0; i < 3; i++) {
        workers[i] = (worker_t){.s = s};
        pthread_create(&t[i], NULL, work, &workers[i]);
    }
    do {
        uint64_t ids[8];
        uint32_t n = apl_reconcile_ids(&s->pool, ids, 8);

        if (n > 0)
            apl_supervise_detach(&s->pool, ids[0], APL_EVENT_DETACHED, s->now);
        s->now = apl_now();
        scene_reap(s);
        scene_spawn(s);
        for (left = 0, i = 0; i < 3; i++)
            left +=
                __atomic_load_n(&workers[i].served, __ATOMIC_RELAXED) < 2000;
    } while (left > 0);
    for (i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    scene_reap(s);
    assert_int_equal(s->pool.header->active, 0);
    assert_int_equal(s->pool.header->leaving, 0);
    assert_int_equal(s->pool.children[1].sessions, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_waiter_is_woken_by_the_hand_off),
        cmocka_unit_test(b26_no_wake_up_is_lost),
        cmocka_unit_test(b20_closing_what_is_being_detached),
        cmocka_unit_test(b23_at_the_deadline_it_leaves_the_queue),
        cmocka_unit_test(the_client_is_not_asked_before_the_wait),
        cmocka_unit_test(
            b28_a_client_that_left_waits_no_more_and_reaches_no_app),
        cmocka_unit_test(a_stopping_child_waits_no_longer),
        cmocka_unit_test(a18_a_failed_start_ends_the_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
