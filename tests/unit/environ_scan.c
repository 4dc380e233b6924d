/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Marks are read although a process blocks its readers. No reader is left
 * over. */

#include "system/environ_scan.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/kill_instance.h"
#include "base/clock_ms.h"
#include "tests/unit/support/marked.h"
#include "tests/unit/support/scene.h"

#define MANY  MARKED_MAX /* more than may keep the readers waiting */
#define LIMIT 10000      /* ms of the slow clock; a scan takes at most 3 s */

static void start(int n, int stuck)
{
    while (n_marked < n)
        marked_start(marked_instance(), 1);
    n_stuck = stuck;
}

typedef struct {
    int bear, none, unknown;
} tally_t;

static int is_app(const procfs_t *info, void *ctx)
{
    int i;

    (void)ctx;
    for (i = 0; i < n_marked; i++)
        if (marked[i] == info->pid)
            return 1;
    return info->pid == getpid();
}

static void judge(const procfs_t *info, const char *mark, void *ctx)
{
    tally_t *t = ctx;

    assert_true(is_app(info, NULL));
    if (!mark)
        t->unknown++;
    else if (strncmp(mark, marked_instance(), 16) == 0)
        t->bear++;
    else
        t->none += mark[0] == 0;
}

static tally_t read_marks(void)
{
    tally_t t = {0, 0, 0};
    int status;

    marked_read(1);
    environ_scan_read(is_app, judge, &t);
    /* No reader is left. A reader that does not end is killed. */
    while (waitpid(-1, &status, 0) > 0)
        assert_true(status == 0 || status == SIGKILL);
    assert_int_equal(errno, ECHILD);
    return t;
}

static void all_are_read(void **state)
{
    tally_t t;

    (void)state;
    start(5, 0);
    t = read_marks();
    assert_int_equal(t.bear, 5);
    assert_int_equal(t.none, 1); /* this one */
    assert_int_equal(t.unknown, 0);
    marked_end();
}

/* They had no time to read the mark, although nothing blocked them. */
static void a_stopped_scan_skips_no_process(void **state)
{
    tally_t t;

    (void)state;
    start(5, 0);
    marked_held = 2; /* after its start */
    t = read_marks();
    assert_int_equal(marked_held, 0);
    assert_int_equal(t.bear, 5);
    assert_int_equal(t.unknown, 0);
    marked_end();
}

/* ---- a worker that dies late, because other processes run ---- */

static int64_t late, dies_at; /* ms of the slower clock */

pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    if (late > 0 && options == WNOHANG) {
        if (dies_at == 0)
            dies_at = clock_ms() + late;
        if (clock_ms() < dies_at)
            return 0;
    }
    return __real_waitpid(pid, status, options);
}

static void a_slow_death_is_waited_for(void **state)
{
    tally_t t = {0, 0, 0};

    (void)state;
    start(5, 0);
    late = 300; /* three times what a blocked one gets, and not all it gets */
    environ_scan_read(is_app, judge, &t);
    late = 0;
    assert_true(dies_at != 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    marked_end();
}

static void others_are_read(void **state)
{
    tally_t t;

    (void)state;
    start(6, 3);
    t = read_marks();
    assert_int_equal(t.bear, 3);
    assert_int_equal(t.none, 1);
    assert_int_equal(t.unknown, 3);
    marked_end();
}

static void too_many_are_stuck(void **state)
{
    int64_t begun;
    tally_t t;

    (void)state;
    start(MANY, MANY);
    begun = clock_ms();
    t = read_marks();
    assert_int_equal(t.bear, 0);
    assert_true(t.unknown >= MANY);
    assert_in_range(clock_ms() - begun, 0, LIMIT);
    marked_end();
}

/* At the end of an instance the scan does not wait: processes whose mark can be
 * read are ended, and the others are not touched. */
static void a_sweep_ends(void **state)
{
    int64_t begun;
    char another[17];
    pid_t neighbour;

    (void)state;
    start(4, 1);
    snprintf(another, sizeof another, "%s", marked_instance());
    another[15] ^= 1;
    neighbour = marked_start(another, 1);
    marked_read(0);
    begun = clock_ms();
    assert_int_equal(kill_instance(marked_instance()), 0);
    assert_in_range(clock_ms() - begun, 0, LIMIT);
    assert_true(marked_is_alive(marked[0]));
    for (n_stuck = 1; n_stuck < 4; n_stuck++)
        assert_false(marked_is_alive(marked[n_stuck]));
    assert_true(marked_is_alive(neighbour));
    marked_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_read),
        cmocka_unit_test(a_stopped_scan_skips_no_process),
        cmocka_unit_test(a_slow_death_is_waited_for),
        cmocka_unit_test(others_are_read),
        cmocka_unit_test(too_many_are_stuck),
        cmocka_unit_test(a_sweep_ends),
    };

    alarm(900 / MARKED_SLOWER); /* if it waits nevertheless */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
