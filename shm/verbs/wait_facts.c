/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/wait_facts.h"

#include <string.h>

#include "shm/lock/lock_token.h"

/* When one of its processes has got or ended a request last. */
APL_UNLOCKED static int64_t last_use(const apl_pool_t *pool, uint32_t group)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);
    int64_t last = 0;

    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];
        int64_t used = p->last_used;

        if (p->group == group && p->state == APL_PROCESS_LIVE && used > last)
            last = used;
    }
    return last;
}

/* If the processes work at the same rate as so far. */
APL_UNLOCKED static int64_t time_to_clear(const apl_group_t *g,
                                          const apl_wait_facts_t *is)
{
    uint64_t n = 0;
    int i;

    for (i = 0; i <= APL_HISTOGRAM_BOUNDS; i++)
        n += g->app_time.counts[i];
    if (n == 0 || is->processes <= is->hung)
        return 0;
    return (int64_t)((double)g->app_time.sum / (double)n * is->waiting /
                     (is->processes - is->hung));
}

APL_UNLOCKED int apl_wait_facts_read(apl_pool_t *pool, const apl_app_t *app,
                                     apl_wait_facts_t *facts, int64_t now)
{
    const apl_header_t *h = pool->header;
    uint32_t i = apl_group_index(pool, app->key, app->name);
    const apl_group_t *g = apl_group_at(pool, i);

    memset(facts, 0, sizeof *facts);
    if (!g)
        return 0;
    facts->processes = g->size;
    facts->hung = g->hung;
    facts->starting = g->spawning;
    facts->waiting = g->waiting;
    facts->busy = facts->processes > 0 ? apl_since(now, last_use(pool, i)) : 0;
    facts->clears = time_to_clear(g, facts);
    facts->app_is_full =
        g->options.max_instances > 0 &&
        facts->processes + facts->starting >= g->options.max_instances;
    facts->pool_max = h->max;
    facts->pool_is_full = h->count + h->spawning >= facts->pool_max;
    return 1;
}
