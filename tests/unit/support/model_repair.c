/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The model after a repair: what only lists knew is lost. */

#include "shm/policy/retire.h"
#include "tests/unit/support/model_capacity.h"

/* The group waits, and for longer than another one. */
static int waits_longer(const model_t *m, int group, int than)
{
    int s = model_head(m, group), t = model_head(m, than);

    return s >= 0 && t >= 0 && m->sessions[s].ticket <= m->sessions[t].ticket;
}

/* Each group that waits has a turn, the one that waits longest the first. */
static void give_turns(model_t *m)
{
    int g, h;

    for (g = 0; g < MODEL_GROUPS; g++) {
        m->groups[g].turn = m->groups[g].above = 0;
        for (h = 0; h < MODEL_GROUPS; h++)
            m->groups[g].turn += (unsigned)waits_longer(m, h, g);
    }
}

/* A few, those that are idle for longest first. */
static void retire_forgotten(model_t *m)
{
    int seen[MODEL_PROCESSES] = {0}, left = APL_RETIRE_MISSED_MAX, i, best;

    do {
        for (best = -1, i = 0; i < m->n_processes; i++) {
            const m_process_t *p = &m->processes[i];

            if (!seen[i] && p->state == M_LIVE && p->sessions == 0 &&
                model_full(m, i) &&
                (best < 0 || model_idles_longer(m, i, best)))
                best = i;
        }
        if (best >= 0) {
            seen[best] = 1;
            model_retire_full(m, best);
        }
    } while (best >= 0 && --left > 0);
}

static int used_before(const m_process_t *a, const m_process_t *b)
{
    if (a->last_used != b->last_used)
        return a->last_used < b->last_used;
    return (a->id & 0xffff) < (b->id & 0xffff); /* by their slots */
}

/* Only the time of their last use and their age are left. */
static void order_processes(model_t *m)
{
    int i, k;

    for (i = 0; i < m->n_processes; i++) {
        m_process_t *p = &m->processes[i];

        p->enlisted = p->birth;
        p->idle_since = 1;
        for (k = 0; k < m->n_processes; k++)
            p->idle_since += (unsigned)used_before(&m->processes[k], p);
    }
}

void model_repair(model_t *m)
{
    int i;

    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].sessions == 0)
            m->processes[i].hung = 0;
    order_processes(m);
    give_turns(m);
    retire_forgotten(m);
    model_share_all(m);
    model_unlock(m);
}
