/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/leftovers.h"

#include <stdlib.h>
#include <unistd.h>

#include "spawner/process/job.h"
#include "system/child_reset.h"
#include "system/log.h"
#include "spawner/process/process.h"
#include "system/cgroup.h"

#define LIMIT            (10 * SECOND)
#define PAUSE            (60 * SECOND)
#define CGROUP_PAUSE     (SECOND / 50) /* SIGKILL works at once, or late */
#define CGROUP_PAUSE_MAX (2 * SECOND)

/* ---- cgroups, which are stray when no process or job has their id ---- */

static int64_t cgroups_due = INT64_MAX; /* us */
static int64_t rest; /* us: from the next try to the one after it */
static int loud, cgroups_left;

void leftovers_check_cgroups(spawner_t *s, int say)
{
    cgroups_due = s->now;
    rest = CGROUP_PAUSE;
    loud |= say;
    state_wake(s, cgroups_due);
}

static int is_owned(const spawner_t *s, uint64_t id)
{
    const process_t *p = process_find(s, id);

    return (p && !p->done) || job_has_cgroup(id);
}

static void end_cgroup(uint64_t id, void *ctx)
{
    if (is_owned(ctx, id))
        return;
    if (loud && cgroup_populated(id) > 0)
        log_line(LOG_WARN,
                 "process " CONTRACT_ID_FMT
                 " belongs to an app, but has no record: SIGKILL to its cgroup",
                 id);
    cgroup_kill(id);
    cgroups_left |= cgroup_remove(id) != 0;
}

static void tick_cgroups(spawner_t *s)
{
    if (s->now >= cgroups_due) {
        cgroups_left = 0;
        cgroup_each(end_cgroup, s);
        loud = 0;
        cgroups_due = cgroups_left ? s->now + rest : INT64_MAX;
        rest = 2 * rest < CGROUP_PAUSE_MAX ? 2 * rest : CGROUP_PAUSE_MAX;
    }
    state_wake(s, cgroups_due);
}

/* ---- directories ---- */

static job_t clear_job;
static int64_t due = INT64_MAX; /* us */
static int warned; /* the log says that something cannot be removed */

/* The ids whose directories the job removes. */
static uint64_t *ids;
static size_t n_ids;

void leftovers_note_dir(spawner_t *s)
{
    due = s->now;
    state_wake(s, due);
}

/* The spawner collects the ids, not the job: the job would not know the
 * processes that start meanwhile. */
static void collect(uint64_t id, void *ctx)
{
    const spawner_t *s = ctx;
    const process_t *p = process_find(s, id);
    uint64_t *more;

    if (p && !p->done)
        return;
    more = realloc(ids, (n_ids + 1) * sizeof *ids);
    if (!more)
        return;
    ids = more;
    ids[n_ids++] = id;
}

static _Noreturn void clear(const spawner_t *s)
{
    int left = 0;

    child_reset_descriptors(s->rt.fd);
    while (n_ids > 0)
        left |= process_files_clear(&s->rt, ids[--n_ids]) != 0;
    _exit(left);
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    int all_removed =
        cause && cause->si_code == CLD_EXITED && cause->si_status == 0;

    (void)job;
    if (all_removed) {
        warned = 0;
        state_wake(s, due);
        return;
    }
    if (!warned)
        log_line(LOG_WARN,
                 "%s/" CONTRACT_OWN ": files that an app left could not be "
                 "removed yet (too many, or a mount)",
                 s->rt.dir);
    warned = 1;
    if (due > s->now + PAUSE)
        due = s->now + PAUSE;
    state_wake(s, due);
}

static void tick_dirs(spawner_t *s)
{
    if (s->now >= due && clear_job.pid == 0) {
        due = INT64_MAX;
        n_ids = 0;
        process_files_each(&s->rt, collect, s);
        switch (job_fork(s, &clear_job, LIMIT, ended)) {
        case 0:
            clear(s);
        case -1:
            due = s->now + PAUSE;
        }
    }
    if (clear_job.pid == 0)
        state_wake(s, due);
}

void leftovers_tick(spawner_t *s)
{
    tick_cgroups(s);
    tick_dirs(s);
}
