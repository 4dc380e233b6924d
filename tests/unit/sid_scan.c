/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* One pass over all processes does the work for all callers: it finds what is
 * left of a session, sends signals to it, and adds up its memory. */

#include "spawner/process/sid_scan.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/process/job.h"
#include "spawner/spawner.h"
#include "spawner/process/process.h"
#include "tests/unit/support/family.h"
#include "tests/unit/support/forks.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define MEGABYTE (1 << 20)

static int begin_all(void **state)
{
    spawner_t *s = scratch_begin();

    (void)state;
    return !s || registry_open(s->rt.fd) != 0;
}

static int forget(void **state)
{
    memset(&forks, 0, sizeof forks);
    return scratch_forget(state);
}

static process_t *process_of(const family_t *session)
{
    static uint64_t id = 0x70001;
    process_t *p = process_new(state_spawner(), id++, "shop");

    assert_non_null(p);
    p->is.pid = session->leader;
    p->is.start = session->is.start;
    p->child = 1;
    return p;
}

static process_t *dead(const family_t *session)
{
    process_t *p = process_of(session);

    family_end_leader(session);
    p->gone = 1;
    p->end.died_ticks = procfs_now();
    return p;
}

/* A session whose leader is dead. */
static process_t *left_behind(family_t *session)
{
    family_begin(session, 0);
    return dead(session);
}

/* As the loop does. @return is there a child that scans? */
static int begin(void)
{
    int n = forks.tried;

    state_spawner()->now += SECOND;
    sid_scan_tick(state_spawner());
    return forks.tried > n;
}

static void look(void)
{
    assert_true(begin());
    scratch_reap(forks.child);
}

/* The session is not this process's. */
static void look_and_spare(process_t *p, const family_t *session)
{
    sid_scan_ask(state_spawner(), p, SIGKILL);
    look();
    assert_int_equal(p->session.found, 0);
    assert_int_equal(family_alive(session), FAMILY_MEMBERS);
    family_kill(session);
}

/* ---- tests ---- */

static void nothing_is_asked_for(void **state)
{
    (void)state;
    assert_false(begin());
}

static void one_pass_serves_all_callers(void **state)
{
    family_t session[3];
    process_t *p[3];
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        family_begin(&session[i], 0);
        p[i] = dead(&session[i]);
        assert_int_equal(p[i]->session.found, -1);
    }
    family_kill(&session[2]);
    for (i = 0; i < 3; i++)
        sid_scan_ask(state_spawner(), p[i], i == 0 ? SIGTERM : 0);
    look();
    assert_int_equal(forks.tried, 1);
    assert_int_equal(p[0]->session.found, 1);
    assert_int_equal(p[1]->session.found, 1);
    assert_int_equal(p[2]->session.found, 0);
    assert_false(p[0]->session.sent_kill);
    family_wait(&session[0]);
    assert_int_equal(family_alive(&session[1]), FAMILY_MEMBERS);
    assert_false(begin());
    sid_scan_ask(state_spawner(), p[0], 0);
    sid_scan_ask(state_spawner(), p[1], SIGKILL);
    look();
    assert_int_equal(p[0]->session.found, 0);
    assert_true(p[1]->session.sent_kill);
    family_wait(&session[1]);
}

/* The pass that sends SIGKILL still finds the processes that this ends. */
static void only_a_later_pass_finds_survivors(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);

    (void)state;
    sid_scan_ask(state_spawner(), p, SIGKILL);
    look();
    assert_int_equal(p->session.found, 1);
    assert_true(p->session.sent_kill);
    assert_false(p->session.survived);
    family_wait(&session);
    sid_scan_ask(state_spawner(), p, 0);
    look();
    assert_int_equal(p->session.found, 0);
    assert_false(p->session.survived);
    /* No process here outlives SIGKILL: this one never got it. */
    p = left_behind(&session);
    p->session.sent_kill = 1;
    sid_scan_ask(state_spawner(), p, 0);
    look();
    assert_true(p->session.survived);
    family_kill(&session);
}

/* httpd stops, and the limit is over before any pass. */
static void at_the_stop_only_what_was_seen_is_logged(void **state)
{
    family_t unseen, seen;
    process_t *p = left_behind(&unseen), *other = left_behind(&seen);
    spawner_t *s = state_spawner();

    (void)state;
    p->phase = other->phase = PHASE_KILLED;
    p->deadline = other->deadline = s->now;
    other->session.sent_kill = other->session.survived = 1;
    s->stopping = 1;
    life_tick(s);
    s->stopping = 0;
    assert_true(p->done);
    assert_true(other->done);
    assert_int_equal(scratch_lines("processes that survive SIGKILL"), 1);
    family_kill(&unseen);
    family_kill(&seen);
}

/* Its leader is dead, and its other processes have another second to end. They
 * are found by their session only. */
static process_t *ending(family_t *session)
{
    process_t *p = left_behind(session);

    p->phase = PHASE_ENDING;
    p->app.stop_timeout = 3 * SECOND;
    p->deadline = state_spawner()->now + SECOND;
    p->marks.found = 0;
    sid_scan_ask(state_spawner(), p, SIGTERM);
    return p;
}

/* As the loop does it after a second. */
static void tend(process_t *p)
{
    state_spawner()->now += SECOND;
    p->end.check_at = 0;
    life_tick(state_spawner());
}

static void assert_is_gone(process_t *p)
{
    tend(p);
    assert_true(p->done);
}

/* Nothing of it has got a signal before that, so nothing is left behind. */
static void the_limit_counts_from_the_first_pass(void **state)
{
    int lines = scratch_lines("left processes behind");
    family_t session;
    process_t *p = ending(&session);

    (void)state;
    tend(p);
    tend(p);
    assert_int_equal(p->phase, PHASE_ENDING);
    look();
    family_wait(&session);
    assert_int_equal(p->session.found, 1);
    tend(p);
    look();
    assert_is_gone(p);
    assert_int_equal(scratch_lines("left processes behind"), lines);
}

/* The pass that sends the signal has found them. The next one is late. */
static void what_has_ended_is_not_left_behind(void **state)
{
    int lines = scratch_lines("left processes behind");
    family_t session;
    process_t *p = ending(&session);

    (void)state;
    look();
    family_wait(&session);
    assert_int_equal(p->session.found, 1);
    tend(p);
    assert_int_equal(p->phase, PHASE_KILLED);
    p->marks.found = 0;
    look();
    assert_is_gone(p);
    assert_int_equal(scratch_lines("left processes behind"), lines);
}

static void what_does_not_end_is_left_behind(void **state)
{
    int i, lines = scratch_lines("left processes behind");
    family_t session;
    process_t *p = ending(&session);

    (void)state;
    for (i = 0; i < FAMILY_MEMBERS; i++)
        kill(session.member[i], SIGSTOP);
    look();
    tend(p);
    assert_int_equal(p->phase, PHASE_KILLED);
    assert_int_equal(scratch_lines("left processes behind"), lines);
    p->marks.found = 0;
    look();
    family_wait(&session);
    tend(p);
    tend(p);
    assert_int_equal(scratch_lines("left processes behind"), lines + 1);
    look();
    p->marks.found = 0;
    assert_is_gone(p);
}

/* The id of a session may be used again when all its processes are dead. So a
 * process that began after the death of the leader belongs to it only with the
 * mark. */
static void what_began_later_is_not_its(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);

    (void)state;
    p->end.died_ticks = session.is.start - 1;
    look_and_spare(p, &session);
}

/* A process that is older than the leader does not belong to it either. */
static void what_is_older_is_not_its(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);

    (void)state;
    p->is.start = p->end.died_ticks + 1;
    p->end.died_ticks += 2;
    look_and_spare(p, &session);
}

/* It was adopted, and there was no descriptor for it: no signal was sent to
 * it. */
static void a_leader_without_a_pidfd(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = process_of(&session);
    p->child = 0;
    sid_scan_ask(state_spawner(), p, SIGTERM);
    look();
    family_wait(&session);
    assert_int_equal(waitpid(session.leader, NULL, 0), session.leader);
    close(session.ends[1]);
}

/* It has had the signal, and has not started everything yet. */
static void a_leader_that_lives(void **state)
{
    family_t session;
    process_t *p;

    (void)state;
    family_begin(&session, 0);
    p = process_of(&session);
    sid_scan_ask(state_spawner(), p, SIGTERM);
    look();
    assert_int_equal(p->session.found, -1);
    family_wait(&session);
    family_end_leader(&session);
}

/* A stopped process gets no other signal, so both are sent. */
static void several_signals(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);
    int i;

    (void)state;
    for (i = 0; i < FAMILY_MEMBERS; i++)
        kill(session.member[i], SIGSTOP);
    sid_scan_ask(state_spawner(), p, SIGTERM);
    sid_scan_ask(state_spawner(), p, SIGCONT);
    look();
    family_wait(&session);
}

static void no_child_can_be_made(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);

    (void)state;
    sid_scan_ask(state_spawner(), p, SIGKILL);
    forks.refused = 2;
    assert_true(begin());
    assert_true(begin());
    assert_int_equal(p->session.found, -1);
    assert_int_equal(family_alive(&session), FAMILY_MEMBERS);
    state_spawner()->wake = INT64_MAX;
    sid_scan_tick(state_spawner()); /* too soon, but it is not forgotten */
    assert_true(state_spawner()->wake <= state_spawner()->now + SECOND);
    look();
    assert_int_equal(p->session.found, 1);
    assert_true(p->session.sent_kill);
    family_wait(&session);
}

static void the_child_takes_too_long(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);

    (void)state;
    sid_scan_ask(state_spawner(), p, SIGKILL);
    assert_true(begin());
    state_spawner()->now += 60 * SECOND;
    job_tick(state_spawner());
    scratch_reap(forks.child);
    assert_int_equal(p->session.found, -1);
    assert_false(p->session.sent_kill);
    state_spawner()->now += 60 * SECOND;
    look();
    assert_true(p->session.sent_kill);
    family_wait(&session);
}

/* It is gone from the list before the result comes. */
static void the_loop_does_not_wait_for_it(void **state)
{
    family_t session;
    process_t *p = left_behind(&session);

    sid_scan_ask(state_spawner(), p, SIGKILL);
    assert_true(begin());
    scratch_forget(state);
    scratch_reap(forks.child);
    family_wait(&session);
}

static void its_memory(void **state)
{
    family_t large, small;
    process_t *p, *other;

    (void)state;
    family_begin(&large, 20 * MEGABYTE);
    family_begin(&small, 0);
    p = process_of(&large);
    other = process_of(&small);
    other->memory.bytes = -1;
    sid_scan_measure(state_spawner(), p, MEASURE_LIMIT);
    sid_scan_ask(state_spawner(), other, 0);
    look();
    assert_true(p->memory.bytes >= FAMILY_MEMBERS * 20 * MEGABYTE);
    assert_int_equal(other->memory.bytes, -1); /* it was not requested */
    sid_scan_measure(state_spawner(), other, MEASURE_LIMIT);
    look();
    assert_true(other->memory.bytes > 0 &&
                other->memory.bytes < p->memory.bytes);
    family_kill(&large);
    family_kill(&small);
    family_end_leader(&small); /* it has copies of the other's descriptors */
    family_end_leader(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_asked_for, forget),
        cmocka_unit_test_teardown(one_pass_serves_all_callers, forget),
        cmocka_unit_test_teardown(only_a_later_pass_finds_survivors, forget),
        cmocka_unit_test_teardown(at_the_stop_only_what_was_seen_is_logged,
                                  forget),
        cmocka_unit_test_teardown(the_limit_counts_from_the_first_pass, forget),
        cmocka_unit_test_teardown(what_has_ended_is_not_left_behind, forget),
        cmocka_unit_test_teardown(what_does_not_end_is_left_behind, forget),
        cmocka_unit_test_teardown(what_began_later_is_not_its, forget),
        cmocka_unit_test_teardown(what_is_older_is_not_its, forget),
        cmocka_unit_test_teardown(a_leader_that_lives, forget),
        cmocka_unit_test_teardown(a_leader_without_a_pidfd, forget),
        cmocka_unit_test_teardown(several_signals, forget),
        cmocka_unit_test_teardown(no_child_can_be_made, forget),
        cmocka_unit_test_teardown(the_child_takes_too_long, forget),
        cmocka_unit_test_teardown(the_loop_does_not_wait_for_it, forget),
        cmocka_unit_test_teardown(its_memory, forget),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, begin_all, scratch_end);
}
