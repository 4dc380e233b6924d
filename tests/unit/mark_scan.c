/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Processes that dead ones have left are found by their mark and ended. A
 * process whose mark cannot be read blocks no other. */

#include "spawner/process/mark_scan.h"

#include <apr_general.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner/process/job.h"
#include "system/log.h"
#include "spawner/process/process.h"
#include "system/procfs.h"
#include "tests/unit/support/marked.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define ID      0x70001
#define UNKNOWN 0x70002

static int begin_all(void **state)
{
    spawner_t *s = scratch_begin();

    (void)state;
    snprintf(s->instance, sizeof s->instance, "%s", marked_instance());
    return 0;
}

static int forget(void **state)
{
    marked_end();
    return scratch_forget(state);
}

/* A process whose leader is dead. What it has left began later. */
static process_t *dead(uint64_t id)
{
    process_t *p = process_new(state_spawner(), id, "shop");

    assert_non_null(p);
    p->is.pid = 1000000000;
    p->is.start = procfs_now() - 1;
    p->gone = 1;
    return p;
}

/* As the loop does. @return is there a child that scans? */
static int begin(void)
{
    siginfo_t info;

    marked_read(0);
    state_spawner()->now += SECOND;
    mark_scan_tick(state_spawner());
    return waitid(P_ALL, 0, &info, WEXITED | WNOWAIT | WNOHANG) == 0;
}

static void scan_all(void)
{
    assert_true(begin());
    scratch_reap(-1);
}

static void wait_for_end(pid_t pid)
{
    int i;

    for (i = 0; i < 60000 && marked_is_alive(pid); i++)
        usleep(1000);
    assert_false(marked_is_alive(pid));
}

/* ---- tests ---- */

static void nothing_is_asked_for(void **state)
{
    (void)state;
    dead(ID);
    assert_false(begin());
}

static void what_is_left_ends(void **state)
{
    process_t *p = dead(ID), *other = dead(ID + 1);
    pid_t left[3], theirs, foreign;
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        left[i] = marked_start(marked_instance(), ID);
    theirs = marked_start(marked_instance(), ID + 1);
    foreign = marked_start("0000000000000000", ID);
    mark_scan_ask(state_spawner(), p, 0);
    mark_scan_ask(state_spawner(), other, 0);
    scan_all();
    assert_int_equal(p->marks.found, 1);
    assert_int_equal(other->marks.found, 1);
    for (i = 0; i < 3; i++)
        assert_true(marked_is_alive(left[i]));
    mark_scan_ask(state_spawner(), p, SIGTERM);
    mark_scan_ask(state_spawner(), p, SIGKILL);
    mark_scan_ask(state_spawner(), p, SIGTERM);
    scan_all();
    assert_int_equal(p->marks.found, 1);
    for (i = 0; i < 3; i++)
        wait_for_end(left[i]);
    mark_scan_ask(state_spawner(), p, 0);
    scan_all();
    assert_int_equal(p->marks.found, 0);
    assert_int_equal(other->marks.found, 1);
    assert_true(marked_is_alive(theirs));
    assert_true(marked_is_alive(foreign));
}

/* A process older than the first one with the mark: its id was used again. */
static void what_is_older_is_not_its(void **state)
{
    pid_t old = marked_start(marked_instance(), ID);
    process_t *p;

    (void)state;
    usleep(50000); /* some ticks */
    p = dead(ID);
    mark_scan_ask(state_spawner(), p, SIGKILL);
    scan_all();
    assert_int_equal(p->marks.found, 0);
    assert_true(marked_is_alive(old));
}

/* Also if an even older one is in the same scan. */
static void what_is_older_stays_beside_an_older_record(void **state)
{
    process_t *oldest = dead(ID + 1), *p;
    pid_t old = marked_start(marked_instance(), ID);

    (void)state;
    usleep(50000); /* some ticks */
    p = dead(ID);
    mark_scan_ask(state_spawner(), oldest, 0);
    mark_scan_ask(state_spawner(), p, SIGKILL);
    scan_all();
    assert_int_equal(p->marks.found, 0);
    assert_true(marked_is_alive(old));
}

/* It has not started everything yet. */
static void while_its_leader_lives(void **state)
{
    process_t *p = dead(ID);

    (void)state;
    p->gone = 0;
    mark_scan_ask(state_spawner(), p, SIGKILL);
    scan_all();
    assert_int_equal(p->marks.found, -1);
}

/* The others are ended, and the log names it once. */
static void one_is_stuck(void **state)
{
    process_t *p = dead(ID);
    pid_t stuck, others[2];
    char line[80];
    int i;

    (void)state;
    stuck = marked_start(marked_instance(), ID);
    n_stuck = 1;
    for (i = 0; i < 2; i++)
        others[i] = marked_start(marked_instance(), ID);
    for (i = 0; i < 3; i++) {
        mark_scan_ask(state_spawner(), p, SIGKILL);
        scan_all();
    }
    for (i = 0; i < 2; i++)
        wait_for_end(others[i]);
    assert_true(marked_is_alive(stuck));
    assert_int_equal(p->marks.found, 0);
    snprintf(line, sizeof line, "the environment of process %d cannot",
             (int)stuck);
    assert_int_equal(scratch_lines(line), 1);
}

/* Processes that were not read are searched again. */
static void the_scanning_child_is_killed(void **state)
{
    process_t *p = dead(ID);
    pid_t left;

    (void)state;
    marked_start(marked_instance(), ID);
    n_stuck = 1; /* so that it takes a while */
    left = marked_start(marked_instance(), ID);
    mark_scan_ask(state_spawner(), p, SIGKILL);
    assert_true(begin());
    state_spawner()->now += 60 * SECOND;
    job_tick(state_spawner());
    scratch_reap(-1);
    assert_int_equal(p->marks.found, -1);
    assert_int_equal(scratch_lines("that apps have left behind failed"), 1);
    mark_scan_ask(state_spawner(), p, SIGKILL);
    scan_all();
    wait_for_end(left);
}

/* Another question of the same scan makes it read the late process, too. Both
 * clocks count the same ticks, so the late process never seems older. */
static void what_is_in_no_record(void **state)
{
    pid_t known = marked_start(marked_instance(), ID), stray, late,
          foreign = marked_start("0000000000000000", UNKNOWN);
    process_t *p = dead(ID);
    char line[80];

    (void)state;
    stray = marked_start(marked_instance(), UNKNOWN);
    usleep(50000);
    mark_scan_kill_strays(state_spawner());
    late = marked_start(marked_instance(), UNKNOWN);
    mark_scan_ask(state_spawner(), p, 0);
    scan_all();
    wait_for_end(stray);
    assert_true(marked_is_alive(known));
    assert_true(marked_is_alive(foreign));
    assert_true(marked_is_alive(late));
    snprintf(line, sizeof line,
             "process %d belongs to an app, but has no record", (int)stray);
    assert_int_equal(scratch_lines(line), 1);
    assert_int_equal(scratch_lines("belongs to an app, but has no record"), 1);
    assert_false(begin());
}

/* A process that leads a session, and has the mark of another one. */
static process_t *leader(uint64_t id, pid_t pid)
{
    process_t *p = process_new(state_spawner(), id, "shop");
    procfs_t info;

    assert_non_null(p);
    assert_int_equal(procfs_read(pid, &info), 0);
    p->is.pid = pid;
    p->is.start = info.start;
    return p;
}

/* It was forked from a process that is in no record any more, and has the mark
 * of that process. */
static void what_is_in_the_session_of_a_record(void **state)
{
    pid_t known = marked_start(marked_instance(), UNKNOWN), stray;

    (void)state;
    stray = marked_start(marked_instance(), UNKNOWN);
    leader(ID, known);
    usleep(50000);
    mark_scan_kill_strays(state_spawner());
    scan_all();
    wait_for_end(stray);
    assert_true(marked_is_alive(known));
}

/* The same while the one that it was forked from is ended. */
static void the_session_counts_before_the_mark(void **state)
{
    process_t *from = dead(ID), *p;
    pid_t forked = marked_start(marked_instance(), ID), left;

    (void)state;
    left = marked_start(marked_instance(), ID);
    p = leader(ID + 1, forked);
    mark_scan_ask(state_spawner(), from, SIGKILL);
    scan_all();
    wait_for_end(left);
    assert_true(marked_is_alive(forked));
    /* A scan for p finds it, whatever its mark is. */
    p->gone = 1;
    p->end.died_ticks = procfs_now();
    mark_scan_ask(state_spawner(), p, SIGKILL);
    scan_all();
    assert_int_equal(p->marks.found, 1);
    wait_for_end(forked);
}

/* Its number came again: the record is of a younger process. */
static void an_older_session_is_not_its(void **state)
{
    pid_t stray = marked_start(marked_instance(), UNKNOWN);

    (void)state;
    leader(ID, stray)->is.start += 1;
    usleep(50000);
    mark_scan_kill_strays(state_spawner());
    scan_all();
    wait_for_end(stray);
}

/* Lines that are logged then are no part of the result. */
static void the_log_cannot_be_opened(void **state)
{
    pid_t stray = marked_start(marked_instance(), UNKNOWN), left;
    process_t *p;

    (void)state;
    usleep(50000);
    mark_scan_kill_strays(state_spawner());
    p = dead(ID);
    left = marked_start(marked_instance(), ID);
    mark_scan_ask(state_spawner(), p, 0);
    log_directory(-1);
    scan_all();
    log_directory(state_spawner()->rt.fd);
    wait_for_end(stray);
    assert_true(marked_is_alive(left));
    assert_int_equal(p->marks.found, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_is_asked_for, forget),
        cmocka_unit_test_teardown(what_is_left_ends, forget),
        cmocka_unit_test_teardown(what_is_older_is_not_its, forget),
        cmocka_unit_test_teardown(what_is_older_stays_beside_an_older_record,
                                  forget),
        cmocka_unit_test_teardown(while_its_leader_lives, forget),
        cmocka_unit_test_teardown(one_is_stuck, forget),
        cmocka_unit_test_teardown(the_scanning_child_is_killed, forget),
        cmocka_unit_test_teardown(what_is_in_no_record, forget),
        cmocka_unit_test_teardown(what_is_in_the_session_of_a_record, forget),
        cmocka_unit_test_teardown(the_session_counts_before_the_mark, forget),
        cmocka_unit_test_teardown(an_older_session_is_not_its, forget),
        cmocka_unit_test_teardown(the_log_cannot_be_opened, forget),
    };

    alarm(900 / MARKED_SLOWER); /* if it waits nevertheless */
    return cmocka_run_group_tests(tests, begin_all, scratch_end);
}
