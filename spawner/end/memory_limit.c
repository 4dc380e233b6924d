/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/end/end.h"

#include <unistd.h>

#include "spawner/process/sid_scan.h"
#include "system/cgroup.h"
#include "spawner/process/job.h"
#include "system/child_reset.h"
#include "spawner/process/process.h"
#include "system/procfs.h"
#include "spawner/output/output.h"

#define PAUSE    (10 * SECOND) /* between two scans of all processes */
#define PATIENCE (5 * SECOND)  /* for the exact measurement of one process */
#define MEGABYTE 1048576.0

static int64_t due;
static job_t measure_job;
static uint64_t measured_id; /* id of the process */

static int64_t limit_of(const spawner_t *s, const process_t *p)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);

    return a ? a->memory_limit : 0;
}

static int is_measured(const spawner_t *s, const process_t *p)
{
    return p->phase == PHASE_LIVE && p->slot.listed && !p->gone &&
           !p->memory.above_limit && !p->is.stops_itself &&
           s->now >= p->memory.check_at && limit_of(s, p) > 0;
}

/* Ask for an estimate of the memory of all processes. */
static void estimate(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        p->memory.bytes = -1;
        if (is_measured(s, p))
            sid_scan_measure(s, p, MEASURE_LIMIT);
    }
}

/* ---- one of them, exactly ---- */

static void add_own(const procfs_t *info, void *ctx)
{
    int64_t *used = ctx, own = procfs_own_memory(info->pid);

    *used += own >= 0 ? own : info->memory;
}

static _Noreturn void measure(const process_t *p)
{
    int64_t used = 0;

    child_reset_descriptors(cgroup_descriptor());
    sid_scan_each(p, add_own, &used);
    _exit(job_report(&used, sizeof used) != 0);
}

static void replace(spawner_t *s, process_t *p, int64_t used)
{
    if (apl_supervise_outdate(&s->shm, p->is.id, s->now) == APL_ELOCK)
        return; /* try again the next time */
    p->memory.above_limit = 1;
    app_log(p, LOG_NOTICE,
            "uses %.1f MB of memory, more than the %.1f MB of "
            "AppMemoryLimit: it will be replaced",
            (double)used / MEGABYTE, (double)limit_of(s, p) / MEGABYTE);
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    process_t *p = process_find(s, measured_id);
    int64_t used;

    (void)cause;
    if (job_read(job, &used, sizeof used) == 0 && p && is_measured(s, p) &&
        used > limit_of(s, p))
        replace(s, p, used);
}

/* Among the processes whose estimate is above their limit, find the one that
 * was measured longest ago. @return NULL: none */
static process_t *next_suspect(const spawner_t *s)
{
    process_t *p, *next = NULL;

    for (p = s->processes; p; p = p->next)
        if (is_measured(s, p) && p->memory.bytes > limit_of(s, p) &&
            (!next || p->memory.check_at < next->memory.check_at))
            next = p;
    return next;
}

void memory_limit_check(spawner_t *s)
{
    process_t *p;
    pid_t pid;

    if (s->now >= due) {
        due = s->now + PAUSE;
        estimate(s);
    }
    p = measure_job.pid == 0 ? next_suspect(s) : NULL;
    pid = p ? job_fork_reporting(s, &measure_job, PATIENCE, ended) : -1;
    if (pid == 0)
        measure(p);
    if (pid < 0)
        return;
    p->memory.bytes = -1;
    p->memory.check_at = s->now;
    measured_id = p->is.id;
}
