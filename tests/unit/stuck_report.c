/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* When a process that is to be killed may be ended: its report and
 * AppDumpSignal come before. The linker wraps the writer of the report, which
 * is never forked, and the signal. */

#include "spawner/report/reports.h"

#include <signal.h>
#include <string.h>

#include "spawner/process/job.h"
#include "system/procfs.h"
#include "spawner/process/process.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

static spawner_t *s;
static process_t *p;
static job_t *job; /* the writer */
static int n_signals;

pid_t __wrap_job_fork(spawner_t *state, job_t *begun, int64_t limit,
                      job_ended_t *ended);
int __wrap_procfs_signal(pid_t pid, uint64_t start, int sign);

pid_t __wrap_job_fork(spawner_t *state, job_t *begun, int64_t limit,
                      job_ended_t *ended)
{
    (void)state;
    assert_int_equal(limit, 2 * SECOND);
    job = begun;
    job->ended = ended;
    job->pid = 4711;
    return job->pid;
}

int __wrap_procfs_signal(pid_t pid, uint64_t start, int sign)
{
    assert_int_equal(pid, p->is.pid);
    assert_int_equal(start, p->is.start);
    assert_int_equal(sign, SIGQUIT);
    n_signals++;
    return 0;
}

static int begin(void **state)
{
    static app_entry_t app = {.app = {.name = "shop"}, .dump_signal = SIGQUIT};
    static app_table_t table;

    (void)state;
    s = scratch_begin();
    table.by_name = apr_hash_make(s->pool);
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING, &app);
    s->table = &table;
    return 0;
}

static int start_one(void **state)
{
    (void)state;
    p = process_new(s, 7, "shop");
    if (!p)
        return -1;
    p->phase = PHASE_LIVE;
    p->is.pid = 4712;
    p->is.start = 17;
    n_signals = 0;
    job = NULL;
    return 0;
}

/* The writer ends, at the latest here: its record is free again. */
static void writer_ends(void)
{
    static const siginfo_t well = {.si_code = CLD_EXITED};

    job->pid = 0;
    job->ended(s, job, &well);
}

/* It may be ended after this time, and not before. @param us from now */
static void may_end_in(int64_t us)
{
    assert_int_equal(stuck_report_is_done(s, p), 0);
    s->now += us - 1;
    assert_int_equal(stuck_report_is_done(s, p), 0);
    s->now++;
    assert_int_equal(stuck_report_is_done(s, p), 1);
}

static void a_second_after_the_signal(void **state)
{
    (void)state;
    assert_int_equal(stuck_report_is_done(s, p), 0);
    assert_int_equal(n_signals, 0);
    writer_ends();
    assert_int_equal(n_signals, 1);
    may_end_in(SECOND);
    assert_int_equal(n_signals, 1);
}

/* Another report of the process ends first. */
static void not_after_another_report(void **state)
{
    job_t *last;

    (void)state;
    assert_int_equal(stuck_report_is_done(s, p), 0);
    last = job;
    assert_int_equal(stuck_report_begin(s, p), 0);
    writer_ends();
    assert_int_equal(n_signals, 0);
    job = last;
    writer_ends();
    assert_int_equal(n_signals, 1);
}

/* It waits in the kernel, or the loop is late. */
static void the_writer_does_not_end(void **state)
{
    (void)state;
    assert_int_equal(stuck_report_is_done(s, p), 0);
    s->now += 3 * SECOND;
    assert_int_equal(stuck_report_is_done(s, p), 0);
    assert_int_equal(n_signals, 1);
    s->now += SECOND / 2;
    writer_ends();
    may_end_in(SECOND / 2);
    assert_int_equal(n_signals, 1);
}

/* It is killed for its memory, or httpd stops. */
static void it_is_ended_meanwhile(void **state)
{
    (void)state;
    assert_int_equal(stuck_report_is_done(s, p), 0);
    p->phase = PHASE_ENDING;
    writer_ends();
    assert_int_equal(n_signals, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start_one, scratch_forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_after_the_signal), TEST(not_after_another_report),
        TEST(the_writer_does_not_end), TEST(it_is_ended_meanwhile)};

    return cmocka_run_group_tests(tests, begin, scratch_end);
}
