/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A child on an errand ends by itself, or in time. */

#include "spawner/errand.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/scene.h"

static spawner_t s;

typedef struct {
    errand_t errand; /* first */
    int over;        /* how often */
    siginfo_t cause; /* si_pid 0: it took too long */
} one_t;

static void ended(spawner_t *spawner, errand_t *e, const siginfo_t *cause)
{
    one_t *one = (one_t *)e;

    assert_ptr_equal(spawner, &s);
    assert_int_equal(e->pid, 0);
    one->over++;
    memset(&one->cause, 0, sizeof one->cause);
    if (cause)
        one->cause = *cause;
}

static pid_t send_off(one_t *one, int64_t limit, void (*work)(void))
{
    pid_t pid;

    s.now = 1000000000;
    s.wake = INT64_MAX;
    memset(one, 0, sizeof *one);
    pid = errand_fork(&s, &one->errand, limit, ended);
    if (pid == 0) {
        work();
        _exit(0);
    }
    assert_true(pid > 0 && one->errand.pid == pid);
    assert_true(s.wake == s.now + limit);
    return pid;
}

/* As life_reap() does. */
static void reap(pid_t pid, siginfo_t *how)
{
    assert_int_equal(waitid(P_PID, (id_t)pid, how, WEXITED | WNOWAIT), 0);
    errand_reap(&s, how);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void exit_seven(void)
{
    _exit(getsid(0) == getpid() ? 7 : 8);
}

/* Deaf to all but SIGKILL, and so is what it has started. */
static void stay(void)
{
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    alarm(60); /* should the test fail */
    sigdelset(&all, SIGALRM);
    sigprocmask(SIG_SETMASK, &all, NULL);
    fork();
    while (pause() < 0)
        ;
}

static void wait_for_ever(void)
{
    while (pause() < 0)
        ;
}

static void its_end_is_told_once(void **state)
{
    siginfo_t how;
    one_t one, other;
    pid_t pid = send_off(&one, 5 * SECOND, exit_seven);
    pid_t second = send_off(&other, 5 * SECOND, exit_seven);

    (void)state;
    reap(pid, &how);
    assert_int_equal(one.over, 1);
    assert_int_equal(one.cause.si_code, CLD_EXITED);
    assert_int_equal(one.cause.si_status, 7);
    assert_int_equal(other.over, 0);
    errand_reap(&s, &how); /* a stranger's by now */
    s.now += 60 * SECOND;
    reap(second, &how);
    errand_tend(&s);
    assert_int_equal(one.over + other.over, 2);
}

static void who_takes_too_long_is_killed(void **state)
{
    siginfo_t how;
    one_t one;
    int status;
    pid_t pid = send_off(&one, 2 * SECOND, stay);

    (void)state;
    s.now += 2 * SECOND - 1;
    errand_tend(&s);
    assert_int_equal(one.over, 0);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    s.now++;
    errand_tend(&s);
    assert_int_equal(one.over, 1);
    assert_int_equal(one.cause.si_pid, 0);
    reap(pid, &how);
    assert_int_equal(one.over, 1);
    assert_int_equal(how.si_status, SIGKILL);
    /* Whom it has started as well. */
    while (waitpid(-1, &status, 0) > 0)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Should the spawner be dead by then. */
static void it_has_an_alarm_of_its_own(void **state)
{
    siginfo_t how;
    one_t one;
    pid_t pid = send_off(&one, 0, wait_for_ever);

    (void)state;
    reap(pid, &how);
    assert_int_equal(one.over, 1);
    assert_int_equal(how.si_code, CLD_KILLED);
    assert_int_equal(how.si_status, SIGALRM);
}

static void at_the_end_all_are_ended(void **state)
{
    one_t one, other;
    pid_t pids[] = {send_off(&one, 60 * SECOND, stay),
                    send_off(&other, 60 * SECOND, stay)};
    int i, status;

    (void)state;
    errand_stop();
    for (i = 0; i < 2; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    assert_int_equal(one.over + other.over, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_end_is_told_once),
        cmocka_unit_test(who_takes_too_long_is_killed),
        cmocka_unit_test(it_has_an_alarm_of_its_own),
        cmocka_unit_test(at_the_end_all_are_ended),
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
