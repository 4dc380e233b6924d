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
    if (g->options.max_instances > 0 &&
        facts->processes + facts->starting >= g->options.max_instances)
        facts->app_max = g->options.max_instances;
    if (h->count + h->spawning >= h->max)
        facts->pool_max = h->max;
    return 1;
}

static void say_processes(sentence_t *s, const apl_wait_facts_t *is)
{
    int one = is->processes == 1, all_hung = is->hung == is->processes;

    if (one)
        sentence_add(s, "its only process ");
    else
        sentence_add(s, "all %u processes ", is->processes);
    if (all_hung)
        sentence_add(s, "%s hung", one ? "is" : "are");
    else if (is->busy > 0)
        sentence_add(s, "%s been busy for %d s", one ? "has" : "have",
                     (int)(is->busy / 1000000));
    else
        sentence_add(s, "%s busy", one ? "is" : "are");
    if (is->hung > 0 && !all_hung)
        sentence_add(s, ", %u of them hung", is->hung);
}

static void say_start(sentence_t *s, const apl_wait_facts_t *is,
                      const char *start)
{
    if (*start)
        sentence_add(s, "%s", start);
    else if (is->starting == 1)
        sentence_add(s, "a process is being started");
    else
        sentence_add(s, "%u processes are being started", is->starting);
}

void apl_wait_facts_say(sentence_t *s, const apl_wait_facts_t *facts,
                        const char *start)
{
    if (facts->processes > 0)
        say_processes(s, facts);
    else if (facts->starting == 0)
        sentence_add(s, "it has no process");
    if (facts->starting > 0) {
        sentence_add(s, "%s", facts->processes > 0 ? ", and " : "");
        say_start(s, facts, start);
    }
    else if (facts->app_max > 0)
        sentence_add(s, " (MaxInstances %u)", facts->app_max);
    else if (facts->pool_max > 0)
        sentence_add(s, ", and the pool is full (MaxPoolSize %u)",
                     facts->pool_max);
}
