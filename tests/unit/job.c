/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A child does work that takes long, and the loop does not wait for it. */

#include "spawner/process/job.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/log.h"
#include "system/procfs.h"
#include "tests/unit/support/scene.h"

/* A forgotten job ends by itself, but not during the test. */
#define LIMIT (200 * SECOND)

static spawner_t spawner;
static job_t job;
static siginfo_t ended_with;
static int n_ended, was_late;
static int64_t result;

static void ended(spawner_t *s, job_t *e, const siginfo_t *cause)
{
    assert_ptr_equal(s, &spawner);
    n_ended++;
    was_late = cause == NULL;
    if (cause)
        ended_with = *cause;
    if (e->report >= 0 && job_read(e, &result, sizeof result) != 0)
        result = -1;
}

/* As the spawner's loop does. @return the child's end */
static siginfo_t reap(void)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    job_reap(&spawner, &info);
    assert_int_equal(waitpid(info.si_pid, NULL, 0), info.si_pid);
    return info;
}

static int setup(void **state)
{
    (void)state;
    spawner.now = SECOND;
    spawner.wake = INT64_MAX;
    n_ended = was_late = 0;
    result = 0;
    return 0;
}

static void a_number(void **state)
{
    int64_t seven = 7;
    pid_t pid = job_fork_reporting(&spawner, &job, LIMIT, ended);

    (void)state;
    if (pid == 0)
        _exit(job_report(&seven, sizeof seven) != 0);
    assert_true(pid > 0);
    assert_true(spawner.wake <= SECOND + LIMIT);
    assert_int_equal(job.pid, pid);
    reap();
    assert_int_equal(n_ended, 1);
    assert_false(was_late);
    assert_int_equal(ended_with.si_code, CLD_EXITED);
    assert_int_equal(result, 7);
    assert_int_equal(job.pid, 0);
}

/* The error log cannot be opened, so its lines go to CONTRACT_LOG_FD. They are
 * not a part of the result. */
static void a_number_and_a_line_of_the_log(void **state)
{
    int64_t seven = 7;

    (void)state;
    log_directory(-1);
    if (job_fork_reporting(&spawner, &job, LIMIT, ended) == 0) {
        log_line(LOG_INFO, "an job has begun");
        _exit(job_report(&seven, sizeof seven) != 0);
    }
    reap();
    assert_int_equal(n_ended, 1);
    assert_int_equal(result, 7);
}

static void no_response(void **state)
{
    (void)state;
    if (job_fork_reporting(&spawner, &job, LIMIT, ended) == 0)
        _exit(0);
    reap();
    assert_int_equal(n_ended, 1);
    assert_int_equal(result, -1);
}

/* It is killed. Its place is free only when it is dead: otherwise any number of
 * jobs might be dying at the same time. */
static void its_time_is_up(void **state)
{
    pid_t pid = job_fork(&spawner, &job, LIMIT, ended);
    siginfo_t end;

    (void)state;
    if (pid == 0)
        for (;;)
            pause();
    job_tick(&spawner);
    assert_int_equal(n_ended, 0);
    spawner.now += 2 * LIMIT;
    job_tick(&spawner);
    job_tick(&spawner);
    assert_int_equal(n_ended, 0);
    assert_int_equal(job.pid, pid);
    end = reap();
    assert_int_equal(end.si_code, CLD_KILLED);
    assert_int_equal(end.si_status, SIGKILL);
    assert_int_equal(n_ended, 1);
    assert_true(was_late);
    assert_int_equal(job.pid, 0);
}

/* It ends in order, and leaves a background process. */
static void nothing_is_left(void **state)
{
    procfs_t info;
    pid_t left;
    int i;

    (void)state;
    if (job_fork_reporting(&spawner, &job, LIMIT, ended) == 0) {
        left = fork();
        if (left == 0)
            for (;;)
                pause();
        result = left;
        _exit(job_report(&result, sizeof result) != 0);
    }
    assert_int_equal(reap().si_status, 0);
    assert_true(result > 0);
    for (i = 0; i < 60000; i++) {
        if (procfs_read((pid_t)result, &info) != 0 || info.state == 'Z')
            return;
        usleep(1000);
    }
    kill((pid_t)result, SIGKILL);
    fail();
}

/* There is no process to kill it. */
static void alone(void **state)
{
    siginfo_t end;
    sigset_t set;

    (void)state;
    signal(SIGALRM, SIG_IGN);
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (job_fork(&spawner, &job, 0, ended) == 0)
        for (;;)
            pause();
    end = reap();
    assert_int_equal(end.si_code, CLD_KILLED);
    assert_int_equal(end.si_status, SIGALRM);
    assert_int_equal(n_ended, 1);
}

/* Otherwise one that has not run since its SIGKILL outlives the spawner. */
static void a_stop_reaps_all(void **state)
{
    static job_t many[70];
    size_t i, n = sizeof many / sizeof *many;
    int left;

    (void)state;
    for (i = 0; i < n; i++)
        if (job_fork(&spawner, &many[i], LIMIT, ended) == 0)
            _exit(pause());
    job_stop();
    for (left = 0; waitpid(-1, NULL, 0) > 0; left++)
        ;
    assert_int_equal(left, 70 - 64);
    assert_int_equal(n_ended, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_number, setup),
        cmocka_unit_test_setup(a_number_and_a_line_of_the_log, setup),
        cmocka_unit_test_setup(no_response, setup),
        cmocka_unit_test_setup(its_time_is_up, setup),
        cmocka_unit_test_setup(nothing_is_left, setup),
        cmocka_unit_test_setup(a_stop_reaps_all, setup),
        cmocka_unit_test_setup(alone, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
