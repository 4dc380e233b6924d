/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which process of the model gives way to another group. */

#include "tests/unit/model_room.h"

/* Is it there instead of a hung one of those who wait for it? */
static int is_needed(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return p->stands_in == p->group + 1 && model_waiting(m, p->group) > 0;
}

/* Has any process such requests? */
int model_are_abandoned(const model_t *m)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < m->n_processes; i++)
        n += model_abandoned(m, i);
    return n > 0;
}

/* If it hangs and goes, does its credit go on to cover who stands in? */
static int is_spare(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    unsigned most = m->groups[p->group].options.hung_extra;
    unsigned left = model_hung(m, p->group) - (unsigned)p->hung;

    return !p->hung ||
           model_stand_ins(m, p->group) <= (left < most ? left : most);
}

/* Used longer ago, or older. */
static int is_staler(const m_process_t *a, const m_process_t *b)
{
    return a->last_used < b->last_used ||
           (a->last_used == b->last_used && a->birth < b->birth);
}

/* The longest idle of another group; one above its minimum before others,
 * which only give way to who starves; then one that works for nobody. */
int model_victim(const model_t *m, int newcomer)
{
    int i, best[2] = {-1, -1}, forsaken = -1;

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        int *b;

        if (p->state != M_LIVE || p->group == newcomer)
            continue;
        if (p->sessions > 0) {
            if (p->sessions == model_abandoned(m, i) && is_spare(m, i) &&
                (forsaken < 0 || is_staler(p, &m->processes[forsaken])))
                forsaken = i;
            continue;
        }
        if (is_needed(m, i))
            continue;
        b = &best[model_size(m, p->group) <=
                  m->groups[p->group].options.min_instances];
        if (*b < 0 || model_idles_longer(m, i, *b))
            *b = i;
    }
    if (best[0] >= 0 || !model_starves(m, newcomer))
        return best[0];
    return best[1] >= 0 ? best[1] : forsaken;
}

/* Of processes that requests share, one gives way when a place is freed. */
int model_shared_victim(const model_t *m, int freed, int newcomer)
{
    const apl_options_t *o = freed < 0 ? NULL : &m->groups[freed].options;

    int p = freed < 0 ? -1 : model_pick(m, freed);

    return !o || freed == newcomer ||
                   (o->concurrency == 1 && o->global_queue) || p < 0 ||
                   m->processes[p].hung || is_needed(m, p)
               ? -1
               : p;
}
