/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/memory.h"

#include "spawner/log.h"
#include "spawner/process.h"
#include "spawner/procfs.h"

#define PAUSE    (10 * SECOND) /* between two costly looks at one process */
#define MEGABYTE 1048576.0

static int64_t limit_of(const spawner_t *s, const process_t *p)
{
    const table_app_t *a = table_find(s->table, p->is.name);

    return a ? a->memory_limit : 0;
}

static int is_weighed(const spawner_t *s, const process_t *p)
{
    return p->phase == PHASE_LIVE && p->listed && !p->gone && !p->heavy &&
           !p->is.stops_itself && s->now >= p->weigh_at && limit_of(s, p) > 0;
}

static int belongs(const procfs_t *who, const process_t *p)
{
    return who->session == p->is.pid && who->start >= p->is.start;
}

static void add_resident(const procfs_t *who, void *ctx)
{
    const spawner_t *s = ctx;
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->weight >= 0 && belongs(who, p))
            p->weight += who->memory;
}

static void add_own(const procfs_t *who, void *ctx)
{
    process_t *p = ctx;
    int64_t own;

    if (!belongs(who, p))
        return;
    own = procfs_own_memory(who->pid);
    p->weight += own >= 0 ? own : who->memory;
}

static void replace(spawner_t *s, process_t *p)
{
    if (apl_supervise_outdate(&s->shm, p->is.id, s->now) == APL_ELOCK)
        return; /* the next time */
    p->heavy = 1;
    log_line(LOG_NOTICE,
             PROCESS_FMT " uses %.1f MB of memory, more than the %.1f MB of "
                         "AppMemoryLimit: it is to be replaced",
             PROCESS_NAME(p), (double)p->weight / MEGABYTE,
             (double)limit_of(s, p) / MEGABYTE);
}

void memory_look(spawner_t *s)
{
    process_t *p;
    int any = 0;

    for (p = s->processes; p; p = p->next) {
        p->weight = is_weighed(s, p) ? 0 : -1;
        any |= p->weight == 0;
    }
    if (!any)
        return;
    procfs_each(add_resident, s);
    for (p = s->processes; p; p = p->next) {
        if (p->weight <= limit_of(s, p) || p->weight < 0)
            continue;
        p->weight = 0;
        procfs_each(add_own, p);
        if (p->weight > limit_of(s, p))
            replace(s, p);
        else
            p->weigh_at = s->now + PAUSE;
    }
}
