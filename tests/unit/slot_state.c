/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the spawner does about the state of a slot when it could not act at
 * once, or when the segment lost the process in between. */

#include "spawner/spawner.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/verbs/timeouts.h"
#include "spawner/process/process.h"
#include "spawner/process/process_signal.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static spawner_t *s;
static scene_t *scene;
static apl_app_t *app;
static process_t *p;
static apl_session_ref_t h;
static int printed;    /* lines, before the failure was kept */
static int locked_out; /* tries for which the lock cannot be taken */

apr_status_t __real_apl_timeouts_term_sent(apl_pool_t *pool, uint64_t id,
                                           int64_t now);
apr_status_t __wrap_apl_timeouts_term_sent(apl_pool_t *pool, uint64_t id,
                                           int64_t now);
void __wrap_process_signal(spawner_t *state, process_t *to, int sign);
void __wrap_start_failure_keep(spawner_t *state, const process_t *of, int step,
                               uint64_t id, const char *text);

apr_status_t __wrap_apl_timeouts_term_sent(apl_pool_t *pool, uint64_t id,
                                           int64_t now)
{
    if (locked_out == 0)
        return __real_apl_timeouts_term_sent(pool, id, now);
    locked_out--;
    return APL_ELOCK;
}

/* The error page will have what was printed. */
void __wrap_start_failure_keep(spawner_t *state, const process_t *of, int step,
                               uint64_t id, const char *text)
{
    (void)state;
    (void)of;
    (void)step;
    (void)id;
    (void)text;
    printed = scratch_lines("I am mortal");
}

/* The process is this one. */
void __wrap_process_signal(spawner_t *state, process_t *to, int sign)
{
    (void)state;
    (void)to;
    (void)sign;
}

/* A process with a request. */
static int begin(void **state)
{
    static app_table_t none;

    (void)state;
    s = scratch_begin();
    scene = scene_new(2);
    s->shm = scene->pool;
    s->table = &none;
    s->now = scene->now;
    app = scene_app(scene, "shop");
    scene_busy(scene, app, &h, 1);
    if (registry_open(s->rt.fd) != 0)
        return -1;
    p = process_new(s, h.id, app->name);
    p->phase = PHASE_LIVE;
    p->slot.listed = 1;
    p->is.pid = getpid();
    p->is.wire = scene_wire;
    return 0;
}

static int finish(void **state)
{
    p->done = 1;
    process_collect(s);
    scene_drop(scene);
    return scratch_end(state);
}

/* One turn of the loop. */
static void turn(void)
{
    s->wake = INT64_MAX;
    life_follow_slot(s, p);
}

static void a_kill_is_recorded_once_the_lock_is_free(void **state)
{
    (void)state;
    assert_int_equal(apl_timeouts_kill(&s->shm, h.id, 0, s->now), APR_SUCCESS);
    p->stuck.reported = 1; /* its report is written */
    locked_out = 2;
    turn();
    assert_int_equal(p->phase, PHASE_ENDING);
    assert_false(apl_checkout_dying(&scene->pool, &h));
    assert_true(s->wake <= s->now);
    turn();
    assert_false(apl_checkout_dying(&scene->pool, &h));
    assert_true(s->wake <= s->now);
    turn();
    assert_true(apl_checkout_dying(&scene->pool, &h));
    assert_int_equal(p->slot.signal_unnoted, 0);
}

/* A WebSocket, and the process has to leave. */
static void must_leave(void)
{
    apl_checkout_set_long_lived(&scene->pool, &h, APL_LONG_LIVED_CONNECTION);
    assert_int_equal(
        apl_supervise_detach(&s->shm, h.id, APL_EVENT_DETACHED, s->now),
        APR_SUCCESS);
    turn();
}

static void links_are_closed_in_time(void **state)
{
    (void)state;
    p->app.retire_timeout = 60 * SECOND;
    must_leave();
    s->now += 59 * SECOND;
    turn();
    assert_int_equal(p->phase, PHASE_LIVE);
    s->now += SECOND;
    turn();
    assert_int_equal(p->phase, PHASE_ENDING);
    assert_true(apl_checkout_closed(&scene->pool, &h));
}

/* What it has printed before says why. The loop may not have read that yet. */
static void one_that_refuses_has_its_last_line(void **state)
{
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(write(ends[1], "I am mortal\n", 12), 12);
    p->fifo.fd = ends[0];
    scene_refused(scene, &h);
    scene->now += SECOND; /* the second one in a row fails */
    scene_busy(scene, app, &h, 1);
    p->is.id = h.id;
    scene_refused(scene, &h);
    s->now = scene->now;
    turn();
    p->fifo.fd = -1;
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(scratch_lines("refused a connection as soon"), 1);
    assert_int_equal(printed, 1);
}

/* It serves again, so its old drain time does not count. */
static void one_that_is_put_back_has_its_time_anew(void **state)
{
    (void)state;
    p->app.retire_timeout = 60 * SECOND;
    must_leave();
    assert_int_equal(apl_supervise_gone(&s->shm, h.id, s->now), APR_SUCCESS);
    scene_close(scene, &h);
    turn();
    assert_int_equal(scratch_lines("had lost its place in the pool"), 1);
    s->now += 100 * SECOND;
    assert_int_equal(scene_ask(scene, &h, app), APR_SUCCESS);
    assert_true(h.id == p->is.id);
    must_leave();
    assert_int_equal(p->phase, PHASE_LIVE);
    assert_false(apl_checkout_closed(&scene->pool, &h));
    s->now += 60 * SECOND;
    turn();
    assert_int_equal(p->phase, PHASE_ENDING);
    assert_true(apl_checkout_closed(&scene->pool, &h));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_kill_is_recorded_once_the_lock_is_free),
        TEST(links_are_closed_in_time),
        TEST(one_that_refuses_has_its_last_line),
        TEST(one_that_is_put_back_has_its_time_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
