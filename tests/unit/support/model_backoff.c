/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The model's starts that fail, and processes that end early. */

#include "tests/unit/support/model_capacity.h"

int model_fails(const model_t *m, int group)
{
    return m->groups[group].failures > 0 || m->groups[group].young > 0;
}

int model_young(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return !p->responded && m->now - p->ready_at < MODEL_SECOND;
}

unsigned model_early(const model_t *m, int group)
{
    unsigned young = m->groups[group].young;

    return young > 0 ? young - 1 : 0;
}

void model_back_off(model_t *m, int group, uint64_t id)
{
    static const int wait[] = {1, 2, 4, 8, 16, 32, 60};
    m_group_t *g = &m->groups[group];
    unsigned n = g->failures > model_early(m, group) ? g->failures
                                                     : model_early(m, group);

    g->failed_at = m->now;
    g->retry_at = m->now + wait[n < 6 ? n : 6] * MODEL_SECOND;
    g->failures++;
    g->blamed = id;
}

/* Was its start not under way at the last early end? */
int model_later(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    const m_group_t *g = &m->groups[p->group];

    return p->started >= g->young_at || g->young_at > m->now;
}

int model_is_blamed(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    const m_group_t *g = &m->groups[p->group];

    return g->young > 1 && g->failures > 0 && g->blamed == p->id;
}

static void forget_row(model_t *m, int group)
{
    if (m->groups[group].failures <= model_early(m, group))
        m->groups[group].failures = 0;
    m->groups[group].young = 0;
}

void model_end_row(model_t *m, int group)
{
    int i;

    forget_row(m, group);
    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state == M_LIVE && m->processes[i].group == group)
            m->processes[i].trial = 0;
    model_return(m, group);
}

/* Is it old enough, and was it started after the last early end? */
static int has_stayed(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return m->now - p->ready_at >= MODEL_SECOND &&
           (p->trial ||
            (m->groups[p->group].young > 0 && model_later(m, process)));
}

void model_check_start(model_t *m, int group)
{
    int i;

    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state == M_LIVE && m->processes[i].group == group &&
            has_stayed(m, i)) {
            model_end_row(m, group);
            return;
        }
}

void model_note_response(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    p->responded = 1;
    if (p->state == M_LIVE && p->revision == m->groups[p->group].revision)
        m->groups[p->group].responded_at = m->now;
}

static int has_responded_lately(const m_group_t *g, int64_t now)
{
    return g->responded_at != 0 && now - g->responded_at < 3 * MODEL_SECOND;
}

void model_early_end(model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    m_group_t *g = &m->groups[p->group];

    if (has_stayed(m, process))
        forget_row(m, p->group);
    if (!model_young(m, process) || (g->young > 0 && !model_later(m, process)))
        return;
    if (g->young == 0)
        g->young = 1;
    else if (!has_responded_lately(g, m->now)) {
        model_back_off(m, p->group, p->id);
        g->young++;
    }
    g->young_at = m->now;
}
