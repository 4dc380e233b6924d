/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The job that cuts parked connections: what happens if no job can be started,
 * and which connections the job does not touch. */

#include "spawner/end/end.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/slots/connection_state.h"
#include "base/contract.h"
#include "base/parking.h"
#include "spawner/process/process.h"
#include "tests/unit/support/forks.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static spawner_t *s;
static scene_t *scene;
static process_t *p;
static int ends[2];

/* A process whose connection is parked, and idle. */
static int begin(void **state)
{
    int lot = parking_make(2), sockets[PARKING_MAX];
    apl_session_ref_t h;
    apl_connection_state_t c;
    apl_app_t *app;
    int n;

    (void)state;
    memset(&forks, 0, sizeof forks);
    s = scratch_begin();
    scene = scene_new(2);
    s->shm = scene->pool;
    app = scene_app(scene, "shop");
    scene_busy(scene, app, &h, 1);
    c = apl_connection_state(&scene->pool, &h);
    assert_true(apl_connection_begin_parking(&c));
    assert_true(apl_connection_release(&c, scene->now));
    assert_int_equal(registry_open(s->rt.fd), 0);
    p = process_new(s, h.id, app->name);
    assert_int_equal(dup2(lot, CONTRACT_PARKING_FD), CONTRACT_PARKING_FD);
    n = parking_open(lot, sockets);
    assert_int_equal(n, 2);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(parking_put(sockets[(h.id & 0xffff) - 1], ends[0]), 0);
    while (n-- > 0)
        close(sockets[n]);
    close(lot);
    return 0;
}

static int finish(void **state)
{
    close(ends[0]);
    close(ends[1]);
    close(CONTRACT_PARKING_FD);
    p->done = 1;
    process_collect(s);
    scene_drop(scene);
    return scratch_end(state);
}

static int is_cut(void)
{
    char byte;

    return recv(ends[1], &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

static void what_is_idle_is_cut_once(void **state)
{
    (void)state;
    assert_true(connection_cut_ask(s, p));
    assert_true(connection_cut_is_under_way(p));
    scratch_reap(forks.child);
    assert_true(is_cut());
    assert_false(connection_cut_is_under_way(p));
    s->now += SECOND;
    assert_false(connection_cut_ask(s, p));
    assert_int_equal(forks.tried, 1);
}

static void a_job_that_cannot_begin_is_tried_again(void **state)
{
    (void)state;
    forks.refused = 1;
    assert_false(connection_cut_ask(s, p));
    assert_false(connection_cut_ask(s, p)); /* not at once */
    assert_int_equal(forks.tried, 1);
    s->now += SECOND;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
    assert_true(is_cut());
}

/* The word is changed by a child, over and over. */
static void root_does_not_fork_all_the_time(void **state)
{
    apl_process_t *slot = scene_process(scene, p->is.id);

    (void)state;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
    slot->connection += 4;
    assert_false(connection_cut_ask(s, p));
    assert_int_equal(forks.tried, 1);
    s->now += SECOND;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
}

/* Its connection was cut a moment ago. It must not wait on the next one. */
static void a_stop_is_never_too_early(void **state)
{
    apl_process_t *slot = scene_process(scene, p->is.id);

    (void)state;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
    slot->connection += 4;
    p->phase = PHASE_ENDING;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
}

/* The job is killed, or takes too long, before it has cut anything. */
static void end_the_job(void)
{
    siginfo_t stopped;

    assert_int_equal(waitid(P_PID, (id_t)forks.child, &stopped, WSTOPPED), 0);
    assert_int_equal(kill(forks.child, SIGKILL), 0);
    scratch_reap(forks.child);
}

static void a_job_that_died_is_tried_again(void **state)
{
    (void)state;
    forks.stopped = 1;
    p->phase = PHASE_ENDING;
    assert_true(connection_cut_ask(s, p));
    end_the_job();
    assert_false(connection_cut_is_under_way(p));
    assert_false(is_cut());
    assert_false(connection_cut_ask(s, p)); /* not at once */
    assert_int_equal(forks.tried, 1);
    forks.stopped = 0;
    s->now += SECOND / 10;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
    assert_true(is_cut());
    s->now += SECOND;
    assert_false(connection_cut_ask(s, p));
    assert_int_equal(forks.tried, 2);
}

/* The job may open no more files than it has. */
static void a_job_that_cannot_cut_has_failed(void **state)
{
    struct rlimit own, few;
    int next = dup(0);

    (void)state;
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &own), 0);
    few = own;
    few.rlim_cur = (rlim_t)next + 2; /* the parking sockets, and no more */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_true(connection_cut_ask(s, p));
    setrlimit(RLIMIT_NOFILE, &own);
    scratch_reap(forks.child);
    assert_false(is_cut());
    s->now += SECOND;
    assert_true(connection_cut_ask(s, p));
    scratch_reap(forks.child);
    assert_true(is_cut());
}

/* Root does not fork all the time for a process that is stopped, either. */
static void a_stop_asks_at_once_and_then_seldom(void **state)
{
    apl_process_t *slot = scene_process(scene, p->is.id);
    int i;

    (void)state;
    p->phase = PHASE_ENDING;
    for (i = 0; i < 5; i++) {
        assert_int_equal(connection_cut_ask(s, p), i == 0);
        if (i == 0)
            scratch_reap(forks.child);
        slot->connection += 4;
    }
    assert_int_equal(forks.tried, 1);
}

/* A live process: its idle connection stays. */
static void what_a_dead_child_left_is_cut(void **state)
{
    apl_process_t *slot = scene_process(scene, p->is.id);

    (void)state;
    slot->sessions = 0; /* the one of begin() */
    connection_cut_ask_if_left(s, p);
    assert_int_equal(forks.tried, 0);
    slot->connection += APL_CONNECTION_BUSY - APL_CONNECTION_IDLE;
    connection_cut_ask_if_left(s, p); /* this process lives */
    assert_int_equal(forks.tried, 0);
    slot->connection_child.pid = 0;
    slot->sessions = 1;
    connection_cut_ask_if_left(s, p);
    assert_int_equal(forks.tried, 0);
    slot->sessions = 0;
    connection_cut_ask_if_left(s, p);
    assert_int_equal(forks.tried, 1);
    scratch_reap(forks.child);
    assert_true(is_cut());
    slot->sessions = 1;
}

/* Between the question and the job, the place got another connection. */
static void the_job_checks_again(void **state)
{
    apl_process_t *slot = scene_process(scene, p->is.id);
    siginfo_t stopped;

    (void)state;
    forks.stopped = 1;
    assert_true(connection_cut_ask(s, p));
    assert_int_equal(waitid(P_PID, (id_t)forks.child, &stopped, WSTOPPED), 0);
    slot->connection += 4; /* the next serial */
    assert_int_equal(kill(forks.child, SIGCONT), 0);
    scratch_reap(forks.child);
    assert_false(is_cut());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_idle_is_cut_once, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_job_that_cannot_begin_is_tried_again,
                                        begin, finish),
        cmocka_unit_test_setup_teardown(root_does_not_fork_all_the_time, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_stop_is_never_too_early, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_job_that_died_is_tried_again, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_job_that_cannot_cut_has_failed, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(a_stop_asks_at_once_and_then_seldom,
                                        begin, finish),
        cmocka_unit_test_setup_teardown(what_a_dead_child_left_is_cut, begin,
                                        finish),
        cmocka_unit_test_setup_teardown(the_job_checks_again, begin, finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
