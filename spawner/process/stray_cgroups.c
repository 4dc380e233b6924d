/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/stray_cgroups.h"

#include "system/cgroup.h"
#include "spawner/process/job.h"
#include "system/log.h"
#include "spawner/process/process.h"

#define PAUSE     (SECOND / 50) /* SIGKILL works at once, or much later */
#define PAUSE_MAX (2 * SECOND)

static int64_t due = INT64_MAX; /* us */
static int64_t rest;            /* us: from the next try to the one after it */
static int loud, left;

void stray_cgroups_check(spawner_t *s, int say)
{
    due = s->now;
    rest = PAUSE;
    loud |= say;
    state_wake(s, due);
}

static int is_owned(const spawner_t *s, uint64_t id)
{
    const process_t *p = process_find(s, id);

    return (p && !p->done) || job_has_cgroup(id);
}

static void end(uint64_t id, void *ctx)
{
    if (is_owned(ctx, id))
        return;
    if (loud && cgroup_populated(id) > 0)
        log_line(LOG_WARN,
                 "process " CONTRACT_ID_FMT
                 " belongs to an app, but has no record: SIGKILL to its cgroup",
                 id);
    cgroup_kill(id);
    left |= cgroup_remove(id) != 0;
}

void stray_cgroups_tick(spawner_t *s)
{
    if (s->now >= due) {
        left = 0;
        cgroup_each(end, s);
        loud = 0;
        due = left ? s->now + rest : INT64_MAX;
        rest = 2 * rest < PAUSE_MAX ? 2 * rest : PAUSE_MAX;
    }
    state_wake(s, due);
}
