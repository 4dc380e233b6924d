/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A command of AppNotify that prints without end does not block the loop. The
 * linker wraps the fork and the reads. */

#include "spawner/report/reports.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define ENOUGH 1000 /* reads, after which the test gives up */

static notify_command_t tell;
static job_ended_t *ended;
static int flooding, n_reads;

pid_t __wrap_job_fork(spawner_t *s, job_t *e, int64_t limit, job_ended_t *when);
ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);

pid_t __wrap_job_fork(spawner_t *s, job_t *e, int64_t limit, job_ended_t *when)
{
    (void)s;
    assert_true(limit > 0);
    ended = when;
    e->pid = 1000000000;
    return e->pid;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (!flooding || fd != tell.output.fd)
        return __real_read(fd, to, size);
    memset(to, 'x', size);
    return ++n_reads < ENOUGH ? (ssize_t)size : 0;
}

static int setup(void **state)
{
    static app_table_t table;

    (void)state;
    scratch_begin()->table = &table;
    return loop_open();
}

static void begin(void)
{
    static const app_entry_t app = {
        .app = {.name = "shop"}, .label = "shop", .notify = "yes"};

    memset(&tell, 0, sizeof tell);
    assert_int_equal(
        notify_command_begin(state_spawner(), &tell, &app, "{}\n", 3), 0);
    assert_true(notify_command_is_busy(&tell));
    assert_true(tell.output.fd >= 0);
    n_reads = 0;
}

static void end(void)
{
    const siginfo_t good = {.si_code = CLD_EXITED};

    tell.job.pid = 0;
    ended(state_spawner(), &tell.job, &good);
    assert_int_equal(tell.output.fd, -1);
    assert_false(notify_command_is_busy(&tell));
}

static void turn(void)
{
    loop_wait(0);
    loop_call();
}

/* A turn of the loop reads one piece. In the end everything is read, and the
 * beginning is kept. */
static void a_piece_a_turn(void **state)
{
    int i;

    (void)state;
    begin();
    flooding = 1;
    for (i = 1; i <= 20; i++) {
        turn();
        assert_int_equal(n_reads, i);
    }
    assert_int_equal(tell.length, sizeof tell.printed);
    end();
    assert_true(n_reads <= 21);
    flooding = 0;
}

/* Its output ends before the command. */
static void silent(void **state)
{
    (void)state;
    begin();
    turn();
    assert_int_equal(tell.output.fd, -1);
    turn();
    end();
    assert_int_equal(tell.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_a_turn),
        cmocka_unit_test(silent),
    };

    return cmocka_run_group_tests(tests, setup, scratch_end);
}
