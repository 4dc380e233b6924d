/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/job.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "base/panic.h"
#include "system/cgroup.h"
#include "system/child_reset.h"
#include "system/reap.h"
#include "system/log.h"

/* In the child: standard input, because the other two may be the log. */
#define REPORT_FD STDIN_FILENO

#define STOP_MOST 64 /* jobs whose end a stop waits for */

static job_t *jobs;

pid_t job_fork(spawner_t *s, job_t *job, int64_t limit, job_ended_t *ended)
{
    pid_t pid;

    PANIC_UNLESS(job->pid == 0); /* it would be in the list twice */
    pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        setsid();
        heartbeat_forget();
        log_forked();
        child_reset_signals();
        alarm((unsigned)(limit / SECOND) + 1);
        return 0;
    }
    job->pid = pid;
    job->id = 0;
    job->until = s->now + limit;
    job->late = 0;
    job->report = -1;
    job->ended = ended;
    job->next = jobs;
    jobs = job;
    state_wake(s, job->until);
    return pid;
}

pid_t job_fork_reporting(spawner_t *s, job_t *job, int64_t limit,
                         job_ended_t *ended)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    pid = job_fork(s, job, limit, ended);
    if (pid == 0 && dup2(ends[1], REPORT_FD) < 0)
        _exit(1);
    close(ends[1]);
    if (pid > 0)
        job->report = ends[0];
    else
        close(ends[0]);
    return pid;
}

int job_report(const void *report, size_t size)
{
    return write(REPORT_FD, report, size) == (ssize_t)size ? 0 : -1;
}

int job_read(const job_t *job, void *report, size_t size)
{
    return read(job->report, report, size) == (ssize_t)size ? 0 : -1;
}

int job_has_cgroup(uint64_t id)
{
    const job_t *job;

    for (job = jobs; job; job = job->next)
        if (job->id == id)
            return 1;
    return 0;
}

int job_has_child(pid_t pid)
{
    const job_t *job;

    for (job = jobs; job; job = job->next)
        if (job->pid == pid)
            return 1;
    return 0;
}

/* The child is not reaped, so its pid is not used again. */
static void end(const job_t *job)
{
    if (job->id != 0)
        cgroup_kill(job->id);
    if (kill(-job->pid, SIGKILL) != 0)
        kill(job->pid, SIGKILL); /* it has not called setsid() yet */
}

static void finish(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    int report = job->report;
    job_t **at = &jobs;

    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    end(job);
    job->pid = 0;
    job->ended(s, job, job->late ? NULL : cause);
    if (report >= 0)
        close(report);
}

void job_reap(spawner_t *s, const siginfo_t *cause)
{
    job_t *job;

    for (job = jobs; job; job = job->next)
        if (job->pid == cause->si_pid) {
            finish(s, job, cause);
            return;
        }
}

void job_tick(spawner_t *s)
{
    job_t *job;

    for (job = jobs; job; job = job->next) {
        if (job->late)
            continue;
        if (s->now < job->until) {
            state_wake(s, job->until);
            continue;
        }
        end(job);
        job->late = 1;
    }
}

void job_stop(void)
{
    pid_t killed[STOP_MOST];
    int n = 0;

    for (; jobs; jobs = jobs->next) {
        end(jobs);
        if (n < STOP_MOST)
            killed[n++] = jobs->pid;
    }
    reap_by_kill(killed, n);
}
