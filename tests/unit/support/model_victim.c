/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which process of the model makes room for another group. */

#include "tests/unit/support/model_capacity.h"

/* Does the process count against the limit, although it may be hung? */
static int counts(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return !p->hung || model_hung(m, p->group) > model_credit(m, p->group);
}

int model_forsaken(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return p->state == M_LIVE && p->sessions > 0 &&
           p->sessions == model_abandoned(m, process) && counts(m, process);
}

/* The longest idle process of another group. Processes of groups above their
 * minimum come first. The others only make room for an unserved group. */
int model_victim(const model_t *m, int newcomer, int unserved)
{
    int i, best[2] = {-1, -1};

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        int *b;

        if (p->state != M_LIVE || p->group == newcomer || p->sessions > 0)
            continue;
        b = &best[model_size(m, p->group) <=
                  m->groups[p->group].options.min_instances];
        if (*b < 0 || model_idles_longer(m, i, *b))
            *b = i;
    }
    return best[0] >= 0 || !unserved ? best[0] : best[1];
}

/* Of processes that several requests share, one makes room when it has a
 * place free. */
int model_shared_victim(const model_t *m, int freed, int newcomer)
{
    int p = freed < 0 || freed == newcomer ? -1 : model_pick(m, freed);

    return p < 0 || m->processes[p].sessions == 0 || m->processes[p].hung ? -1
                                                                          : p;
}
