/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs of the clock. */

#include "tests/unit/support/model_capacity.h"

/* Has a process a request of this age that can be too old? */
static int has_older(const model_t *m, int process, int64_t limit)
{
    int i, n = 0;

    for (i = 0; i < MODEL_SESSIONS && limit > 0; i++) {
        const m_session_t *s = &m->sessions[i];

        n += model_process_of(m, s) == process && !s->long_lived &&
             m->now - s->since >= limit;
    }
    return n > 0;
}

int model_next_slot(const model_t *m, unsigned above)
{
    int i, best = -1;

    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state >= M_LIVE &&
            (m->processes[i].id & 0xffff) > above &&
            (best < 0 ||
             (m->processes[i].id & 0xffff) < (m->processes[best].id & 0xffff)))
            best = i;
    return best;
}

/* Begin with those that have recovered. */
static void mark_all(model_t *m, int hung)
{
    int i;

    for (i = model_next_slot(m, 0); i >= 0;
         i = model_next_slot(m, m->processes[i].id & 0xffff)) {
        const m_process_t *p = &m->processes[i];

        if (p->state != M_LIVE || p->hung == hung ||
            has_older(m, i, m->groups[p->group].options.hung_after) != hung)
            continue;
        model_hang(m, i, hung);
        model_share(m, p->group);
        model_unlock(m);
    }
}

unsigned model_clock(model_t *m)
{
    unsigned overdue = 0;
    int i;

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];

        overdue += p->state >= M_LIVE && !p->killed &&
                   has_older(m, i, m->groups[p->group].options.kill_after);
    }
    mark_all(m, 0);
    mark_all(m, 1);
    return overdue;
}

apr_status_t model_kill(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];
    int i;

    if (p->killed)
        return APL_ESTALE;
    if (p->sessions == 0)
        return APL_EIDLE;
    for (i = 0; i < MODEL_SESSIONS; i++)
        if (model_process_of(m, &m->sessions[i]) == process)
            m->sessions[i].killed = 1;
    p->killed = 1;
    if (p->state == M_LIVE)
        model_move(m, process, M_LEAVING);
    if (model_size(m, p->group) < m->groups[p->group].options.min_instances)
        model_want(m, p->group);
    model_share(m, p->group);
    model_unlock(m);
    return APR_SUCCESS;
}

static int is_abandoned(const model_t *m, int session, int process)
{
    const m_session_t *s = &m->sessions[session];

    return s->abandoned && model_process_of(m, s) == process;
}

unsigned model_abandoned(const model_t *m, int process)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < MODEL_SESSIONS; i++)
        n += (unsigned)is_abandoned(m, i, process);
    return n;
}

void model_forget(model_t *m, int process)
{
    int i;

    for (i = 0; i < MODEL_SESSIONS; i++)
        if (is_abandoned(m, i, process))
            m->sessions[i].state = S_FREE;
}

apr_status_t model_ended(model_t *m, int process, unsigned n)
{
    unsigned left;

    for (left = n; left > 0; left--) {
        int i, first = -1;

        for (i = 0; i < MODEL_SESSIONS; i++)
            if (is_abandoned(m, i, process) &&
                (first < 0 ||
                 m->sessions[i].ticket < m->sessions[first].ticket))
                first = i;
        if (first < 0)
            break;
        model_reclaim(m, first);
        model_unlock(m);
    }
    return left < n ? APR_SUCCESS : APL_EIDLE;
}

apr_status_t model_unkillable(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    if (p->unkillable)
        return APL_ESTALE;
    p->unkillable = 1;
    return APR_SUCCESS;
}
