/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/wait_facts.h"

#include <string.h>

#include "shm/verbs/enter.h"

/* When one of its processes has got or ended a request last. */
static int64_t last_use(const apl_pool_t *pool, const apl_group_t *g)
{
    uint32_t i, top = apl_top(&pool->header->top_process, pool->n.processes);
    int64_t last = 0;

    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->group == APL_GROUP_INDEX(pool, g) &&
            p->state == APL_PROCESS_LIVE && p->last_used > last)
            last = p->last_used;
    }
    return last;
}

/* If the processes work at the same rate as so far. */
static int64_t time_to_clear(const apl_group_t *g)
{
    uint64_t n = 0;
    int i;

    for (i = 0; i <= APL_HISTOGRAM_BOUNDS; i++)
        n += g->app_time.counts[i];
    if (n == 0 || g->size <= g->hung)
        return 0;
    return (int64_t)((double)g->app_time.sum / (double)n * g->waiting /
                     (g->size - g->hung));
}

int apl_wait_facts_read(apl_pool_t *pool, const apl_app_t *app,
                        apl_wait_facts_t *facts, int64_t now)
{
    const apl_header_t *h = pool->header;
    const apl_group_t *g;
    apl_lock_token_t token;

    memset(facts, 0, sizeof *facts);
    if (apl_enter(&token, pool, now, APL_FOREVER) != APR_SUCCESS)
        return 0;
    g = apl_group_find(&token, app->key, app->name);
    if (g) {
        facts->processes = g->size;
        facts->hung = g->hung;
        facts->starting = g->spawning;
        facts->waiting = g->waiting;
        facts->busy = g->size > 0 ? apl_since(now, last_use(pool, g)) : 0;
        facts->clears = time_to_clear(g);
        facts->app_is_full = g->options.max_instances > 0 &&
                             g->size + g->spawning >= g->options.max_instances;
        facts->pool_is_full = h->count + h->spawning >= h->max;
        facts->pool_max = h->max;
    }
    apl_leave(&token);
    return g != NULL;
}
