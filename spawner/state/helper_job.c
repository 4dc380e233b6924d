/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/state/helper_job.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "spawner/shared/heartbeat.h"
#include "spawner/shared/panic.h"
#include "spawner/common/cgroup.h"
#include "spawner/common/child_reset.h"

/* In the child: its standard input, as the log may be on the other two. */
#define ANSWER_FD STDIN_FILENO

static helper_job_t *errands;

pid_t helper_job_fork(spawner_t *s, helper_job_t *e, int64_t limit,
                      helper_job_ended_t *ended)
{
    pid_t pid;

    PANIC_UNLESS(e->pid == 0); /* it would be in the list twice */
    pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        setsid();
        heartbeat_forget();
        child_reset_signals();
        alarm((unsigned)(limit / SECOND) + 1);
        return 0;
    }
    e->pid = pid;
    e->id = 0;
    e->until = s->now + limit;
    e->late = 0;
    e->answer = -1;
    e->ended = ended;
    e->next = errands;
    errands = e;
    state_wake(s, e->until);
    return pid;
}

pid_t helper_job_fork_reporting(spawner_t *s, helper_job_t *e, int64_t limit,
                                helper_job_ended_t *ended)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    pid = helper_job_fork(s, e, limit, ended);
    if (pid == 0 && dup2(ends[1], ANSWER_FD) < 0)
        _exit(1);
    close(ends[1]);
    if (pid > 0)
        e->answer = ends[0];
    else
        close(ends[0]);
    return pid;
}

int helper_job_report(const void *answer, size_t size)
{
    return write(ANSWER_FD, answer, size) == (ssize_t)size ? 0 : -1;
}

int helper_job_read(const helper_job_t *e, void *answer, size_t size)
{
    return read(e->answer, answer, size) == (ssize_t)size ? 0 : -1;
}

int helper_job_has_cgroup(uint64_t id)
{
    const helper_job_t *e;

    for (e = errands; e; e = e->next)
        if (e->id == id)
            return 1;
    return 0;
}

/* It is a child that is not reaped, so the number is its own. */
static void end(const helper_job_t *e)
{
    if (e->id != 0)
        cgroup_kill(e->id);
    if (kill(-e->pid, SIGKILL) != 0)
        kill(e->pid, SIGKILL); /* before its setsid() */
}

static void over(spawner_t *s, helper_job_t *e, const siginfo_t *cause)
{
    int answer = e->answer;
    helper_job_t **at = &errands;

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    end(e);
    e->pid = 0;
    e->ended(s, e, e->late ? NULL : cause);
    if (answer >= 0)
        close(answer);
}

void helper_job_reap(spawner_t *s, const siginfo_t *cause)
{
    helper_job_t *e;

    for (e = errands; e; e = e->next)
        if (e->pid == cause->si_pid) {
            over(s, e, cause);
            return;
        }
}

void helper_job_tick(spawner_t *s)
{
    helper_job_t *e;

    for (e = errands; e; e = e->next) {
        if (e->late)
            continue;
        if (s->now < e->until) {
            state_wake(s, e->until);
            continue;
        }
        end(e);
        e->late = 1;
    }
}

void helper_job_stop(void)
{
    for (; errands; errands = errands->next)
        end(errands);
}
