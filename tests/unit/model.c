/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/model.h"

#include "tests/unit/model_room.h"

/* ---- the verbs of httpd's children ---- */

int model_checkout(model_t *m, int group, apr_status_t *rv)
{
    const m_group_t *g = &m->groups[group];
    const apl_options_t *o = &g->options;
    m_session_t *s = &m->sessions[m->n_sessions];
    int p = model_waiting(m, group) == 0 ? model_pick(m, group) : -1;

    *s = (m_session_t){.group = group, .ticket = ++m->clock};
    if (p >= 0) {
        model_give(m, m->n_sessions, p);
        if (o->concurrency != 0 && m->processes[p].sessions > o->concurrency)
            model_want(m, group);
        *rv = APR_SUCCESS;
        return m->n_sessions++;
    }
    if (g->failures != 0 && m->now < g->retry_at &&
        model_size(m, group) + model_spawning(m, group) == 0) {
        *rv = APL_EBACKOFF;
        return -1;
    }
    if (o->max_queue != 0 && model_waiting(m, group) >= o->max_queue) {
        *rv = APL_EQUEUEFULL;
        return -1;
    }
    s->state = S_WAITING;
    m->n_sessions++;
    model_want(m, group);
    model_settle(m);
    *rv = APL_EWAIT;
    return m->n_sessions - 1;
}

apr_status_t model_poll(model_t *m, int session)
{
    m_session_t *s = &m->sessions[session];

    if (s->state == S_WAITING)
        return APL_EWAIT;
    if (s->state == S_HELD)
        return APR_SUCCESS;
    s->state = S_FREE;
    return APL_ESTART;
}

static void retire(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];
    const apl_options_t *o = &m->groups[p->group].options;

    if (p->state != M_LIVE)
        return;
    if (model_above(m, p->group)) {
        model_move(m, process, M_LEAVING);
        return;
    }
    if (o->max_requests == 0 || p->processed < o->max_requests)
        return;
    model_move(m, process, M_LEAVING);
    if (model_waiting(m, p->group) > 0 ||
        model_size(m, p->group) < o->min_instances)
        model_want(m, p->group);
}

void model_end(model_t *m, int session, m_end_t how)
{
    m_session_t *s = &m->sessions[session];
    m_session_state_t was = s->state;
    m_process_t *p = was == S_HELD ? &m->processes[s->process] : NULL;

    s->state = S_FREE;
    if (!p || p->state == M_FREE)
        return;
    p->processed += how == M_CLOSE;
    if (how == M_CLOSE)
        m->groups[s->group].young = 0;
    p->last_used = m->now;
    p->sessions--;
    if (p->sessions == 0)
        p->idle_since = ++m->clock;
    if (p->state == M_LIVE && how == M_REFUSED)
        model_move(m, s->process, M_LEAVING);
    else
        retire(m, s->process);
    model_share(m, s->group);
}

void model_reclaim(model_t *m, int session)
{
    const m_session_t *s = &m->sessions[session];
    int had = s->state == S_HELD && m->processes[s->process].state != M_FREE;

    if (s->state == S_FREE)
        return;
    model_end(m, session, M_CLOSE);
    if (!had)
        model_share(m, s->group);
}

/* ---- the verbs of the spawner ---- */

int model_take(model_t *m, uint64_t id)
{
    int i, first = -1;

    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state == M_WANTED &&
            (first < 0 || m->processes[i].birth < m->processes[first].birth))
            first = i;
    if (first >= 0) {
        m->processes[first].state = M_STARTING;
        m->processes[first].id = id;
        m->processes[first].revision =
            m->groups[m->processes[first].group].revision;
    }
    return first;
}

/* An outdated one leaves: the oldest idle one, else the oldest. */
static void replaced(model_t *m, int by)
{
    int i, best = -1;

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        const m_process_t *b = best < 0 ? NULL : &m->processes[best];

        if (i == by || p->group != m->processes[by].group ||
            !model_outdated(m, i))
            continue;
        if (!b || (p->sessions == 0) > (b->sessions == 0) ||
            ((p->sessions == 0) == (b->sessions == 0) &&
             p->enlisted < b->enlisted))
            best = i;
    }
    if (best >= 0)
        model_move(m, best, M_LEAVING);
}

void model_ready(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];
    m_group_t *g = &m->groups[p->group];

    model_move(m, process, M_LIVE);
    p->ready_at = p->last_used = m->now;
    p->idle_since = ++m->clock;
    g->failures = 0;
    if (p->replaces)
        replaced(m, process);
    if (model_size(m, p->group) < g->options.min_instances)
        model_want(m, p->group);
    model_replace(m, p->group);
    model_share(m, p->group);
}

static void back_off(model_t *m, m_group_t *g)
{
    static const int wait[] = {1, 2, 4, 8, 16, 32, 60};

    unsigned n = g->failures > g->young ? g->failures : g->young;

    g->retry_at = m->now + wait[n < 6 ? n : 6] * MODEL_SECOND;
    g->failures++;
}

void model_failed(model_t *m, int process)
{
    int group = m->processes[process].group, s;

    m->processes[process].state = M_FREE;
    back_off(m, &m->groups[group]);
    while (model_size(m, group) == 0 && (s = model_head(m, group)) >= 0)
        m->sessions[s].state = S_FAILED;
    model_settle(m);
}

static void after_loss(model_t *m, int group)
{
    const m_group_t *g = &m->groups[group];

    if (model_size(m, group) < g->options.min_instances)
        model_want(m, group);
    model_share(m, group);
}

void model_configure(model_t *m, int group, const apl_options_t *options)
{
    m->groups[group].used = 1;
    m->groups[group].revision = 1;
    m->groups[group].options = *options;
    after_loss(m, group);
}

void model_gone(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    if (p->state == M_LIVE && p->processed == 0 && p->sessions == 0 &&
        m->now - p->ready_at < MODEL_SECOND) {
        back_off(m, &m->groups[p->group]);
        m->groups[p->group].young++;
    }
    model_move(m, process, M_FREE);
    after_loss(m, p->group);
}

void model_detach(model_t *m, int process)
{
    model_move(m, process, M_LEAVING);
    after_loss(m, m->processes[process].group);
}

void model_outdate(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    if (p->state == M_STARTING)
        model_move(m, process, M_LEAVING);
    else
        p->revision = 0;
    model_replace(m, p->group);
    after_loss(m, p->group);
}

void model_restart(model_t *m, int group, int rolling)
{
    int i;

    m->groups[group].failures = 0;
    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].group == group &&
            (m->processes[i].state == M_STARTING ||
             (!rolling && m->processes[i].state == M_LIVE)))
            model_move(m, i, M_LEAVING);
    m->groups[group].revision += rolling != 0;
    if (model_waiting(m, group) > 0)
        model_want(m, group);
    if (rolling)
        model_replace(m, group);
    model_share(m, group);
}

void model_limit(model_t *m, unsigned max)
{
    int g;

    m->max = max;
    for (g = 0; g < MODEL_GROUPS; g++)
        if (m->groups[g].used)
            model_share(m, g);
}

/* The process of a group that is idle for longest, or -1. */
static int longest_idle(const model_t *m, int group)
{
    int i, best = -1;

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];

        if (p->state == M_LIVE && p->group == group && p->sessions == 0 &&
            (best < 0 || p->idle_since < m->processes[best].idle_since))
            best = i;
    }
    return best;
}

static void trim(model_t *m, int group)
{
    const apl_options_t *o = &m->groups[group].options;
    int i;

    while ((i = longest_idle(m, group)) >= 0) {
        int above = model_above(m, group);
        int expired = o->idle_time > 0 &&
                      model_size(m, group) > o->min_instances &&
                      m->now - m->processes[i].last_used >= o->idle_time;

        if (!above && !expired)
            return;
        model_move(m, i, M_LEAVING);
    }
}

void model_tick(model_t *m)
{
    int g;

    for (g = 0; g < MODEL_GROUPS; g++) {
        if (!m->groups[g].used)
            continue;
        trim(m, g);
        if (model_size(m, g) < m->groups[g].options.min_instances)
            model_want(m, g);
        model_replace(m, g);
        model_share(m, g);
    }
}
