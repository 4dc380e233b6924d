/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/reports.h"

#include <stdlib.h>

#include "shm/verbs/step.h"
#include "spawner/process/sid_scan.h"

static int64_t asked; /* the step for which a scan was asked for */
static int64_t due;   /* us: its results are there by then; 0: it is recorded */

/* A template has no place in the pool. */
static int is_measured(const process_t *p)
{
    return !p->gone && !p->done && p->is.pid > 0 && !state_is_template(p);
}

static void ask(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (is_measured(p))
            sid_scan_measure(s, p, MEASURE_USAGE);
    due = s->now + SECOND;
}

/* @return the index of its group; 0: it has none (any more) */
static uint32_t count(spawner_t *s, process_t *p, uint64_t cpu)
{
    uint64_t more = 0;

    if (p->usage.is_begun || p->adopted_at == 0)
        more = cpu > p->usage.known ? cpu - p->usage.known : 0;
    p->usage.is_begun = 1;
    p->usage.known = cpu;
    return apl_step_add_cpu(&s->shm, p->is.id, more, s->now);
}

static void record(spawner_t *s)
{
    apl_step_use_t *use = calloc(s->shm.n.groups, sizeof *use);
    process_t *p;

    if (!use)
        return;
    for (p = s->processes; p; p = p->next)
        if (is_measured(p) && p->usage.measured) {
            uint32_t group = count(s, p, p->usage.cpu);

            use[group].memory += (uint64_t)p->usage.memory;
            use[group].measured++;
        }
    apl_step_sample(&s->shm, use, s->now);
    free(use);
}

void usage_check(spawner_t *s)
{
    if (s->now / APL_STEP_PERIOD != asked) {
        asked = s->now / APL_STEP_PERIOD;
        ask(s);
    }
    else if (due != 0 && s->now >= due) {
        due = 0;
        record(s);
    }
}

void usage_end(spawner_t *s, process_t *p, uint64_t cpu)
{
    if (cpu > p->usage.known && !state_is_template(p))
        count(s, p, cpu);
}
