/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* After damage there is a roll call: all sessions are taken back, also those of
 * living children. */

#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "tests/unit/support/scene.h"

/* Sessions that no child knows, as they may exist after damage. */
static void after_damage_the_roll_is_called(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[2], wait, next;
    apl_session_t *phantom;

    (void)state;
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    scene_close(s, &h[1]);
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 0);
    phantom = &s->pool.sessions[2];
    assert_int_equal(phantom->state, APL_SESSION_FREE);
    phantom->state = APL_SESSION_OPEN;
    assert_int_equal(apl_housekeeping_repair(&s->pool, s->now), APR_SUCCESS);
    s->pool.header->counters.repairs = 0;
    scene_is(s, 2, 2); /* both are busy, and one for ever */
    assert_int_equal(scene_get(s, &wait, a), APL_EWAIT);
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 1);
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 0);
    scene_hang_up(s);
    scene_is(s, 2, 0);
    /* A waiter asks again, as a child with a new slot. */
    assert_int_equal(scene_poll(s, &wait), APL_EDAMAGED);
    assert_int_equal(scene_get(s, &wait, a), APR_SUCCESS);
    assert_int_equal(s->pool.children[s->pool.self].state, APL_CHILD_USED);
    assert_int_equal(scene_get(s, &next, a), APR_SUCCESS);
    scene_is(s, 2, 2);
    scene_close(s, &h[0]); /* that no child knows any more */
    scene_is(s, 2, 2);
    scene_close(s, &wait);
    scene_close(s, &next);
    scene_is(s, 2, 0);
    scene_end(s);
}

/* The spawner is killed during the roll call. The next spawner repeats it. */
static void the_roll_is_due_until_it_is_over(void **state)
{
    scene_t *s = scene_new(1);
    apl_header_t *h = s->pool.header;
    apl_lock_token_t token;
    int status;
    pid_t spawner;

    (void)state;
    h->roll_call = 1;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    spawner = fork();
    if (spawner == 0) {
        s->pool.patience = APL_FOREVER;
        apl_child_watch_roll_call(&s->pool, s->now);
        _exit(0);
    }
    while (!(__atomic_load_n(&h->lock, __ATOMIC_ACQUIRE) & FUTEX_WAITERS))
        assert_int_equal(waitpid(spawner, &status, WNOHANG), 0);
    kill(spawner, SIGKILL);
    assert_int_equal(waitpid(spawner, &status, 0), spawner);
    assert_int_equal(h->roll_call, 1);
    apl_leave(&token);
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 1);
    assert_int_equal(h->roll_call, 0);
    scene_end(s);
}

/* A child of httpd that always has BUSY requests: when one ends, another one
 * begins. */
enum { BUSY = 1200 };

static void be_busy(scene_t *s, const apl_app_t *a)
{
    static apl_session_ref_t h[BUSY];
    int i;

    for (i = 0;; i = (i + 1) % BUSY) {
        apl_checkin(&s->pool, &h[i], s->now);
        apl_checkout(&s->pool, &h[i], a, NULL, NULL, s->now);
    }
}

/* Between two batches, the child continues. */
static void a_roll_damages_nothing_where_children_are_busy(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_header_t *h = s->pool.header;
    int i, status;
    pid_t busy;

    (void)state;
    /* On a busy machine the child may be stopped while it has the lock. */
    s->pool.patience = APL_FOREVER;
    a->options.max_queue = 0;
    busy = fork();
    if (busy == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        be_busy(s, a);
    }
    for (i = 0; i < 100; i++) {
        while (__atomic_load_n(&h->waiting, __ATOMIC_RELAXED) < BUSY - 1)
            assert_int_equal(waitpid(busy, &status, WNOHANG), 0);
        __atomic_store_n(&h->roll_call, 1, __ATOMIC_RELAXED);
        assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 1);
        assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 0);
    }
    kill(busy, SIGKILL);
    assert_int_equal(waitpid(busy, &status, 0), busy);
    assert_int_equal(h->counters.repairs, 0);
    assert_int_equal(h->counters.child_deaths, 0);
    scene_drop(s);
}

/* Each child has a request in each part of the slot array. */
static void all_children_are_rolled_in_one_pass(void **state)
{
    enum { CHILDREN = 10, EACH = 60 };
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_header_t *h = s->pool.header;
    uint32_t children[CHILDREN], before;
    apl_session_ref_t hold;
    int i;

    (void)state;
    a->options.concurrency = 0;
    for (i = 0; i < CHILDREN; i++)
        children[i] = scene_child(s);
    for (i = 0; i < CHILDREN * EACH; i++) {
        scene_be(s, children[i % CHILDREN]);
        assert_int_equal(scene_get(s, &hold, a), APR_SUCCESS);
    }
    h->roll_call = 1;
    before = h->sequence;
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 1);
    /* For the children, for 256 sessions three times, and for the children. */
    assert_int_equal((h->sequence - before) / 2, 5);
    assert_int_equal(h->roll_call, 0);
    for (i = 0; i < CHILDREN; i++)
        assert_int_equal(s->pool.children[children[i]].state, APL_CHILD_FREE);
    scene_hang_up(s);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* The spawner died in a roll call, between two batches. */
static void a_child_that_is_rolled_takes_another_slot(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint32_t self = s->pool.self;
    apl_session_ref_t h[3];

    (void)state;
    assert_int_equal(scene_get(s, &h[0], a), APR_SUCCESS);
    s->pool.children[self].died = 1; /* without a roll it is noise */
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    assert_int_equal(s->pool.self, self);
    s->pool.header->roll_call = 1;
    assert_int_equal(scene_ask(s, &h[2], a), APL_EWAIT);
    assert_int_not_equal(s->pool.self, self);
    assert_int_equal(s->pool.children[self].sessions, 2);
    assert_int_equal(apl_child_watch_roll_call(&s->pool, s->now), 1);
    assert_int_equal(s->pool.children[self].sessions, 0);
    assert_int_equal(s->pool.header->roll_call, 0);
    assert_int_equal(s->pool.header->counters.child_deaths, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_damage_the_roll_is_called),
        cmocka_unit_test(the_roll_is_due_until_it_is_over),
        cmocka_unit_test(a_roll_damages_nothing_where_children_are_busy),
        cmocka_unit_test(all_children_are_rolled_in_one_pass),
        cmocka_unit_test(a_child_that_is_rolled_takes_another_slot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
