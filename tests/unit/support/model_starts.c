/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* May the model start one more process of a group? */

#include "tests/unit/support/model_capacity.h"

/* Too few of its processes are not hung: it may start some above the limits. */
int model_is_short(const model_t *m, int group)
{
    return model_size(m, group) + model_spawning(m, group) -
               model_hung(m, group) <
           m->groups[group].options.spawn_if_under;
}

/* Requests that the next process takes. */
static unsigned next_takes(const model_t *m, int group)
{
    unsigned n = m->groups[group].options.concurrency;
    int i, oldest = -1;

    if (n != APL_CONCURRENCY_AUTO)
        return n;
    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state == M_LIVE && m->processes[i].group == group &&
            (oldest < 0 ||
             m->processes[i].enlisted < m->processes[oldest].enlisted))
            oldest = i;
    return oldest < 0 ? 1 : model_concurrency(m, oldest);
}

/* Its template forks them, and the starts that run are too few. */
static int may_start_more(const model_t *m, int group)
{
    unsigned n = model_spawning(m, group), each = next_takes(m, group);

    return m->groups[group].forks && !model_fails(m, group) && n < 8 &&
           each != 0 && model_waiting(m, group) > n * each;
}

/* The last process that became live has not shown yet that it stays, after two
 * that did not. */
static int is_probing(const model_t *m, int group)
{
    int i, newest = -1;

    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state == M_LIVE && m->processes[i].group == group &&
            (newest < 0 ||
             m->processes[i].enlisted > m->processes[newest].enlisted))
            newest = i;
    return m->groups[group].young > 1 && newest >= 0 && model_young(m, newest);
}

int model_may_start(const model_t *m, int group)
{
    const m_group_t *g = &m->groups[group];

    return !g->retired && !g->drained &&
           (model_spawning(m, group) == 0 || may_start_more(m, group)) &&
           !model_too_many_unkillable(m, group) &&
           (g->failures == 0 || m->now >= g->retry_at) && !is_probing(m, group);
}

int model_may_grow(const model_t *m, int group)
{
    unsigned max = m->groups[group].options.max_instances;
    unsigned n = model_size(m, group) + model_spawning(m, group);

    return model_may_start(m, group) &&
           (max == 0 || n < max ||
            (model_is_short(m, group) && n < max + model_credit(m, group)));
}
