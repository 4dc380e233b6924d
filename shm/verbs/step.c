/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/step.h"

#include <string.h>

#include "shm/format/timing.h"
#include "shm/slots/numbers.h"

/* ---- CPU time ---- */

APL_UNLOCKED uint32_t apl_step_add_cpu(apl_pool_t *pool, uint64_t id,
                                       uint64_t us, int64_t now)
{
    const apl_process_t *p = apl_process_at(pool, (uint32_t)(id & 0xffff));
    apl_group_t *g = p ? apl_group_at(pool, p->group) : NULL;

    if (!p || !g || p->state == APL_PROCESS_FREE || p->id != id ||
        g->state != APL_GROUP_USED)
        return 0;
    __atomic_fetch_add(&apl_numbers_use(pool, g, now)->cpu, us,
                       __ATOMIC_RELAXED);
    return APL_GROUP_INDEX(pool, g);
}

/* ---- one step ---- */

APL_UNLOCKED static void count_processes(const apl_pool_t *pool,
                                         apl_step_use_t *use)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);

    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];
        const apl_group_t *g = apl_group_at(pool, p->group);
        apl_step_use_t *its = g ? &use[APL_GROUP_INDEX(pool, g)] : NULL;

        if (!its)
            continue;
        its->starting +=
            p->state == APL_PROCESS_WANTED || p->state == APL_PROCESS_STARTING;
        if (p->state == APL_PROCESS_LIVE) {
            its->hung += p->hung != 0;
            its->busy += !p->hung && p->sessions > 0;
            its->idle += !p->hung && p->sessions == 0;
        }
    }
}

static uint16_t small(uint32_t n)
{
    return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

static uint32_t limited(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX - 1;
}

/* KiB. Without processes there is no memory. */
static uint32_t memory_of(const apl_step_use_t *use)
{
    if (use->measured == 0 && use->idle + use->busy + use->hung > 0)
        return APL_MEMORY_UNKNOWN;
    return limited(use->memory / 1024);
}

static void count_requests(apl_step_t *step, const apl_window_t *is)
{
    static const uint32_t parts[] = {50, 95, 99};
    int i;

    for (i = 0; i < APL_CLASSES; i++)
        step->requests += is->responses[i];
    memcpy(step->responses, &is->responses[1], sizeof step->responses);
    for (i = 0; i < 3; i++)
        step->percentiles[i] =
            (uint8_t)apl_timing_percentile(is->times, parts[i]);
    step->span = is->span > 0 ? limited((uint64_t)is->span / 1000) : 0;
}

/* A maximum that a child notes at this moment may be lost. */
APL_UNLOCKED static uint32_t take_peak(apl_group_t *g)
{
    uint32_t waiting = g->waiting, peak = g->peak;

    g->peak = waiting;
    return peak > waiting ? peak : waiting;
}

static uint64_t take_cpu(apl_numbers_t *n)
{
    uint64_t now = __atomic_load_n(&n->cpu, __ATOMIC_RELAXED);
    uint64_t more = now - n->cpu_then;

    n->cpu_then = now;
    return more;
}

static void sample(apl_pool_t *pool, apl_group_t *g, const apl_step_use_t *use,
                   int64_t now)
{
    apl_numbers_t *n = apl_numbers_use(pool, g, now);
    apl_step_t step = {.time = now,
                       .idle = small(use->idle),
                       .busy = small(use->busy),
                       .hung = small(use->hung),
                       .starting = small(use->starting),
                       .memory = memory_of(use),
                       .queue = take_peak(g),
                       .cpu = limited(take_cpu(n) / 1000)};
    apl_window_t is;

    apl_numbers_step(n, now, &is);
    count_requests(&step, &is);
    apl_numbers_write(&n->steps[(uint64_t)now / APL_STEP_PERIOD % APL_STEPS],
                      &step, sizeof step);
    apl_numbers_keep(n, now);
}

/* All applications are looked at in the same moment. */
static int is_due(const apl_numbers_t *n, int64_t now)
{
    int64_t last = n->sampled;

    return last > now || last / APL_STEP_PERIOD != now / APL_STEP_PERIOD;
}

APL_UNLOCKED static int is_used(const apl_group_t *g)
{
    return g->state == APL_GROUP_USED &&
           (g->counted == 1 || g->size + g->spawning + g->waiting > 0);
}

void apl_step_sample(apl_pool_t *pool, apl_step_use_t *use, int64_t now)
{
    uint32_t i, top = apl_top(&pool->header->top_group, pool->n.groups);

    count_processes(pool, use);
    for (i = 1; i <= top; i++) {
        apl_group_t *g = &pool->groups[i];

        if (is_used(g) && is_due(&pool->numbers[i], now))
            sample(pool, g, &use[i], now);
    }
}
