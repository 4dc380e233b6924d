/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/sid_scan.h"

#include <apr_hash.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/cgroup.h"
#include "spawner/process/job.h"
#include "system/child_reset.h"
#include "system/log.h"
#include "spawner/process/process.h"

#define LIMIT (20 * SECOND)
#define PAUSE (SECOND / 20) /* minimum time between two scans */

/* What the scan looks for, and what it has found. The memory is shared with the
 * child. */
typedef struct target {
    uint64_t id, signals;
    int measured, found;
    int64_t memory;
    uint64_t cpu; /* clock ticks */
    /* for the child only */
    const process_t *p;
    struct target *next; /* in the list of those with the same session */
} target_t;

static job_t scan_job;
static target_t *targets;
static size_t n_targets;
static int asked;            /* a scan was asked for */
static int64_t began, again; /* us */
static int failed;           /* the last scan failed, and that was logged */

void sid_scan_ask(spawner_t *s, process_t *p, int sign)
{
    if (sign > 0)
        p->session.signals |= (uint64_t)1 << sign;
    p->session.wanted = asked = 1;
    state_wake(s, s->now);
}

void sid_scan_measure(spawner_t *s, process_t *p, int what)
{
    p->session.measure |= what;
    sid_scan_ask(s, p, 0);
}

/* ---- which processes belong to it? ---- */

static int runs(const procfs_t *info)
{
    return info->state != 'Z' && info->state != 'X';
}

int sid_scan_has(const process_t *p, const procfs_t *info)
{
    return runs(info) && info->session == p->is.pid &&
           info->start >= p->is.start &&
           (info->pid != p->is.pid || info->start == p->is.start) &&
           (!p->gone || info->start <= p->end.died_ticks);
}

typedef struct {
    const process_t *p;
    void (*each)(const procfs_t *info, void *ctx);
    void *ctx;
} visit_t;

/* While the leader lives, a process that has left its session does not count.
 * The pid was read a moment ago, so the cgroup of that pid is checked once more
 * after the start time is known. */
static void visit_pid(pid_t pid, void *ctx)
{
    const visit_t *v = ctx;
    procfs_t info;

    if (procfs_read(pid, &info) == 0 && runs(&info) &&
        (v->p->gone || sid_scan_has(v->p, &info)) &&
        cgroup_has(v->p->is.id, pid))
        v->each(&info, v->ctx);
}

static void visit_member(const procfs_t *info, void *ctx)
{
    const visit_t *v = ctx;

    if (sid_scan_has(v->p, info))
        v->each(info, v->ctx);
}

void sid_scan_each(const process_t *p,
                   void (*each)(const procfs_t *info, void *ctx), void *ctx)
{
    visit_t v = {p, each, ctx};

    if (cgroup_members(p->is.id, visit_pid, &v) != 0)
        procfs_each(visit_member, &v);
}

/* ---- in the child ---- */

/* The spawner has sent the signal to the leader itself. It cannot do that to a
 * leader that was adopted while there was no descriptor for it. */
static int was_signalled(const process_t *p, const procfs_t *info)
{
    return info->pid == p->is.pid && info->start == p->is.start &&
           (p->child || p->pidfd.fd >= 0);
}

static void add_found(const procfs_t *info, void *ctx)
{
    target_t *q = ctx;
    int sign;

    q->found = 1;
    q->memory += info->memory;
    q->cpu += info->family_cpu;
    if (was_signalled(q->p, info))
        return;
    for (sign = 1; sign < 64; sign++)
        if (q->signals >> sign & 1)
            procfs_signal(info->pid, info->start, sign);
}

static void count(const procfs_t *info, void *ctx)
{
    int32_t session = info->session;
    target_t *q = apr_hash_get(ctx, &session, sizeof session);

    for (; q; q = q->next)
        if (sid_scan_has(q->p, info))
            add_found(info, q);
}

static _Noreturn void work(const spawner_t *s)
{
    apr_hash_t *by_session = apr_hash_make(s->pool);
    size_t i;

    child_reset_descriptors(cgroup_descriptor());
    for (i = 0; i < n_targets; i++) {
        target_t *q = &targets[i];
        const int32_t *pid = &q->p->is.pid;
        visit_t v = {q->p, add_found, q};

        if (cgroup_members(q->id, visit_pid, &v) == 0)
            continue;
        q->next = apr_hash_get(by_session, pid, sizeof *pid);
        apr_hash_set(by_session, pid, sizeof *pid, q);
    }
    if (apr_hash_count(by_session) > 0)
        procfs_each(count, by_session);
    _exit(0);
}

/* ---- in the spawner ---- */

static void take_result(const spawner_t *s, process_t *p, const target_t *q)
{
    if (p->session.scanned) {
        p->session.found = q->found;
        /* The scan that sends SIGKILL finds processes before they die of it. So
         * only a later scan can find a survivor. */
        p->session.survived = p->session.sent_kill && q->found;
        p->session.sent_kill |= (int)(q->signals >> SIGKILL & 1);
        p->end.check_at = s->now;
    }
    if (q->measured & MEASURE_LIMIT)
        p->memory.bytes = q->memory;
    if (q->measured & MEASURE_USAGE && q->found) {
        p->usage.measured = 1;
        p->usage.memory = q->memory;
        p->usage.cpu = q->cpu * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    }
    p->session.scanned = 0;
}

static void ask_again(process_t *p, const target_t *q)
{
    p->session.signals |= q->signals;
    p->session.measure |= q->measured;
    p->session.scanned = 0;
    p->session.wanted = asked = 1;
}

static void forget(void)
{
    munmap(targets, (n_targets + 1) * sizeof *targets);
    targets = NULL;
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    int good = cause && cause->si_code == CLD_EXITED && cause->si_status == 0;
    int64_t took = s->now - began;
    size_t i;

    (void)job;
    for (i = 0; i < n_targets; i++) {
        process_t *p = process_find(s, targets[i].id);

        if (p && good)
            take_result(s, p, &targets[i]);
        else if (p)
            ask_again(p, &targets[i]);
    }
    forget();
    /* On a host with many processes, scans use at most half of a core. */
    again = s->now + (took > PAUSE ? took : PAUSE);
    if (!good && !failed)
        log_line(LOG_WARN,
                 "the search for processes of apps failed: it is tried again");
    failed = !good;
    state_wake(s, s->now);
}

/* @return -1: no memory */
static int note_targets(spawner_t *s)
{
    process_t *p;
    size_t n = 0;

    for (p = s->processes; p; p = p->next)
        n += p->session.wanted != 0;
    targets = mmap(NULL, (n + 1) * sizeof *targets, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (targets == MAP_FAILED)
        return -1;
    n_targets = 0;
    for (p = s->processes; p; p = p->next)
        if (p->session.wanted)
            targets[n_targets++] = (target_t){.id = p->is.id,
                                              .signals = p->session.signals,
                                              .measured = p->session.measure,
                                              .p = p};
    return 0;
}

/* The scan has begun: reset what was asked for. */
static void note_asked(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (!p->session.wanted)
            continue;
        /* While the leader lives, it may start more processes. So this scan is
         * no proof that nothing is left. */
        p->session.scanned = p->gone;
        p->session.signals = 0;
        p->session.wanted = p->session.measure = 0;
    }
    asked = 0;
    began = s->now;
}

void sid_scan_tick(spawner_t *s)
{
    pid_t pid;

    if (scan_job.pid != 0 || !asked)
        return;
    if (s->now < again) {
        state_wake(s, again);
        return;
    }
    again = s->now + PAUSE;
    state_wake(s, again);
    if (note_targets(s) != 0)
        return;
    pid = job_fork(s, &scan_job, LIMIT, ended);
    if (pid == 0)
        work(s);
    if (pid < 0)
        forget();
    else
        note_asked(s);
}
