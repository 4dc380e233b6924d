/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/mark_scan.h"

#include <apr_hash.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/process/job.h"
#include "system/child_reset.h"
#include "system/log.h"
#include "system/environ_scan.h"
#include "spawner/process/process.h"
#include "spawner/process/sid_scan.h"

#define LIMIT (5 * SECOND)
#define PAUSE (SECOND / 20) /* between two scans */

/* An entry of the report of the job. */
typedef struct {
    uint64_t id; /* of its process; 0: the mark of `pid` is not readable */
    pid_t pid;
    uint64_t start;
} found_t;

static job_t scan_job;
static int64_t again;      /* us: no scan before that */
static uint64_t before;    /* ticks: strays began before; 0: not wanted */
static uint64_t oldest;    /* ticks: processes that are older are not wanted */
static found_t unreadable; /* the one that was logged last */

void mark_scan_ask(spawner_t *s, process_t *p, int sign)
{
    if (p->marks.signal != SIGKILL &&
        (sign == SIGKILL || sign > p->marks.signal))
        p->marks.signal = sign;
    state_wake(s, s->now);
}

void mark_scan_kill_strays(spawner_t *s)
{
    before = procfs_now();
    state_wake(s, s->now);
}

/* ---- in the child ---- */

static void report(uint64_t id, const procfs_t *info)
{
    found_t found;

    memset(&found, 0, sizeof found);
    found.id = id;
    found.pid = info->pid;
    found.start = info->start;
    if (job_report(&found, sizeof found) != 0)
        _exit(1);
}

static int is_wanted(const procfs_t *info, void *ctx)
{
    (void)ctx;
    return info->pid != getpid() && info->pid != getppid() &&
           info->state != 'Z' && info->state != 'X' &&
           (info->start >= oldest || info->start < before);
}

/* Does it have the mark of a template that is in no record any more, while a
 * process runs that the template has forked? Then this process may have started
 * it, and it may have left the session of that process. */
static int is_of_template(const spawner_t *s, uint64_t id)
{
    const process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->is.template_id == id && id != 0)
            return 1;
    return 0;
}

static void end_stray(const procfs_t *info)
{
    if (info->start < before &&
        procfs_signal(info->pid, info->start, SIGKILL) == 0)
        log_line(LOG_WARN,
                 "process %d belongs to an app, but has no record: SIGKILL",
                 (int)info->pid);
}

/* A process that leads a session. Two may have had the same number. */
typedef struct leader {
    const struct leader *next;
    process_t *p;
} leader_t;

static apr_hash_t *leaders; /* by pid */

static void note_leaders(spawner_t *s)
{
    process_t *p;

    leaders = apr_hash_make(s->pool);
    for (p = s->processes; p; p = p->next) {
        leader_t *l = apr_palloc(s->pool, sizeof *l);

        l->p = p;
        l->next = apr_hash_get(leaders, &p->is.pid, sizeof p->is.pid);
        apr_hash_set(leaders, &p->is.pid, sizeof p->is.pid, l);
    }
}

/* The process to whose session it belongs. A process that was forked from a
 * template has the mark of the template until it has written its own. */
static process_t *of_session(const procfs_t *info)
{
    int32_t session = info->session;
    const leader_t *l = apr_hash_get(leaders, &session, sizeof session);

    for (; l; l = l->next)
        if (sid_scan_has(l->p, info))
            return l->p;
    return NULL;
}

static void check_mark(const procfs_t *info, const char *mark, void *ctx)
{
    const spawner_t *s = ctx;
    process_t *p;
    uint64_t id;

    if (!mark) {
        report(0, info);
        return;
    }
    if (strncmp(mark, s->instance, 16) != 0 || mark[16] != '-')
        return;
    id = strtoull(mark + 17, NULL, 16);
    p = of_session(info);
    if (!p)
        p = process_find(s, id);
    if (!p) {
        if (!is_of_template(s, id))
            end_stray(info);
        return;
    }
    if (p->marks.signal < 0 || info->start < p->is.start)
        return;
    if (p->marks.found != 1)
        report(p->is.id, info);
    p->marks.found = 1; /* reported once; this is the memory of the child */
    if (p->marks.signal > 0)
        procfs_signal(info->pid, info->start, p->marks.signal);
}

static _Noreturn void work(spawner_t *s)
{
    process_t *p;

    child_reset_descriptors(s->rt.fd);
    for (p = s->processes; p; p = p->next)
        p->marks.found = 0;
    note_leaders(s);
    environ_scan_read(is_wanted, check_mark, s);
    log_tick(1); /* it may have ended very many */
    _exit(0);
}

/* ---- in the spawner ---- */

static void log_unreadable(const found_t *f)
{
    if (f->pid == unreadable.pid && f->start == unreadable.start)
        return;
    unreadable = *f;
    log_line(LOG_WARN,
             "the environment of process %d cannot be read: it is not known "
             "whether it belongs to an app, and it is left alone",
             (int)f->pid);
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    int good = cause && cause->si_code == CLD_EXITED && cause->si_status == 0;
    found_t f, hidden = {0, 0, 0};
    process_t *p;

    for (p = s->processes; p && good; p = p->next)
        if (p->marks.scanned)
            p->marks.found = 0;
    while (job_read(job, &f, sizeof f) == 0) {
        p = process_find(s, f.id);
        if (f.id == 0 && hidden.pid == 0)
            hidden = f;
        if (p && p->marks.scanned)
            p->marks.found = 1;
    }
    for (p = s->processes; p; p = p->next) {
        if (p->marks.scanned)
            p->end.check_at = s->now;
        p->marks.scanned = 0;
    }
    if (hidden.pid)
        log_unreadable(&hidden);
    if (!good)
        log_line(LOG_WARN,
                 "the search for processes that apps have left behind failed");
    state_wake(s, s->now);
}

/* Is a scan asked for? Also sets `oldest`. */
static int is_due(const spawner_t *s)
{
    const process_t *p;

    oldest = UINT64_MAX;
    for (p = s->processes; p; p = p->next)
        if (p->marks.signal >= 0 && p->is.start < oldest)
            oldest = p->is.start;
    return before > 0 || oldest < UINT64_MAX;
}

void mark_scan_tick(spawner_t *s)
{
    process_t *p;
    pid_t pid;

    if (scan_job.pid != 0 || !is_due(s))
        return;
    if (s->now < again) {
        state_wake(s, again);
        return;
    }
    again = s->now + PAUSE;
    pid = job_fork_reporting(s, &scan_job, LIMIT, ended);
    if (pid == 0)
        work(s);
    if (pid < 0) {
        state_wake(s, again);
        return;
    }
    before = 0;
    for (p = s->processes; p; p = p->next) {
        /* While the leader lives, it may start more processes. So this scan is
         * no proof that nothing is left. */
        p->marks.scanned = p->marks.signal >= 0 && p->gone;
        p->marks.signal = -1;
    }
}
