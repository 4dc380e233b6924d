/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/model_room.h"

/* ---- searching ---- */

static unsigned count(const model_t *m, int group, m_state_t from, m_state_t to)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < m->n_processes; i++)
        n += (group < 0 || m->processes[i].group == group) &&
             m->processes[i].state >= from && m->processes[i].state <= to;
    return n;
}

unsigned model_size(const model_t *m, int group)
{
    return count(m, group, M_LIVE, M_LIVE);
}

unsigned model_spawning(const model_t *m, int group)
{
    return count(m, group, M_WANTED, M_STARTING);
}

/* The session that waits longest, or -1. */
int model_head(const model_t *m, int group)
{
    int i, best = -1;

    for (i = 0; i < m->n_sessions; i++)
        if (m->sessions[i].state == S_WAITING &&
            m->sessions[i].group == group &&
            (best < 0 || m->sessions[i].ticket < m->sessions[best].ticket))
            best = i;
    return best;
}

unsigned model_waiting(const model_t *m, int group)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < m->n_sessions; i++)
        n += m->sessions[i].state == S_WAITING &&
             (group < 0 || m->sessions[i].group == group);
    return n;
}

m_sums_t model_sums(const model_t *m)
{
    m_sums_t s = {.count = model_size(m, -1),
                  .spawning = model_spawning(m, -1),
                  .waiting = model_waiting(m, -1),
                  .leaving = count(m, -1, M_LEAVING, M_LEAVING)};
    int i;

    for (i = 0; i < m->n_processes; i++) {
        s.active +=
            m->processes[i].state == M_LIVE && m->processes[i].sessions > 0;
        s.outdated += (unsigned)model_outdated(m, i);
    }
    return s;
}

int model_outdated(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return p->state == M_LIVE && p->revision != m->groups[p->group].revision;
}

static unsigned session_limit(const apl_options_t *o)
{
    if (o->concurrency == 0 || (!o->global_queue && o->max_queue == 0))
        return UINT32_MAX;
    return o->concurrency + (o->global_queue ? 0 : o->max_queue);
}

/* Idle first, the one that was used last; else the fewest sessions, then the
 * oldest. Or -1. */
int model_pick(const model_t *m, int group)
{
    const apl_options_t *o = &m->groups[group].options;
    int shares = o->concurrency != 1 || !o->global_queue;
    int i, idle = -1, busy = -1;

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        const m_process_t *b = busy < 0 ? NULL : &m->processes[busy];

        if (p->state != M_LIVE || p->group != group)
            continue;
        if (p->sessions == 0) {
            if (idle < 0 || p->idle_since > m->processes[idle].idle_since)
                idle = i;
        }
        else if (shares && p->sessions < session_limit(o) &&
                 (!b || p->sessions < b->sessions ||
                  (p->sessions == b->sessions && p->birth < b->birth)))
            busy = i;
    }
    return idle >= 0 ? idle : busy;
}

void model_move(model_t *m, int process, m_state_t state)
{
    m_process_t *p = &m->processes[process];
    m_group_t *g = &m->groups[p->group];
    unsigned before = model_size(m, p->group);

    if (state == M_LIVE)
        p->enlisted = ++m->clock;
    p->state = state;
    /* With its first process, or without its last, it takes its turn anew. */
    if (g->turn != 0 && (before == 0) != (model_size(m, p->group) == 0))
        g->turn = ++m->clock;
}

/* ---- room ---- */

/* All processes, and all but those that only replace one. */
static unsigned all(const model_t *m)
{
    return model_size(m, -1) + model_spawning(m, -1);
}

static unsigned regular(const model_t *m)
{
    unsigned n = all(m);
    int i;

    for (i = 0; i < m->n_processes; i++)
        n -= m->processes[i].replaces && (m->processes[i].state == M_WANTED ||
                                          m->processes[i].state == M_STARTING);
    return n;
}

static int has_room(const model_t *m, unsigned fewer)
{
    return regular(m) - fewer < m->max && all(m) - fewer <= m->max;
}

int model_above(const model_t *m, int group)
{
    unsigned max = m->groups[group].options.max_instances;

    return (max != 0 && model_size(m, group) > max) || regular(m) > m->max;
}

static int may_start(const model_t *m, int group)
{
    const m_group_t *g = &m->groups[group];

    return model_spawning(m, group) == 0 &&
           (g->failures == 0 || m->now >= g->retry_at);
}

static int may_grow(const model_t *m, int group)
{
    unsigned max = m->groups[group].options.max_instances;

    return may_start(m, group) && (max == 0 || model_size(m, group) < max);
}

static void reserve(model_t *m, int group, int replaces)
{
    m_process_t *p = &m->processes[m->n_processes++];

    *p = (m_process_t){.state = M_WANTED,
                       .group = group,
                       .birth = ++m->clock,
                       .replaces = replaces};
}

void model_replace(model_t *m, int group)
{
    unsigned max = m->groups[group].options.max_instances, i, outdated = 0;

    for (i = 0; i < (unsigned)m->n_processes; i++)
        outdated += m->processes[i].group == group && model_outdated(m, (int)i);
    if (outdated > 0 && may_start(m, group) &&
        (max == 0 || model_size(m, group) <= max) && all(m) <= m->max)
        reserve(m, group, 1);
}

void model_want(model_t *m, int group)
{
    m_group_t *g = &m->groups[group];

    if (!may_grow(m, group))
        return;
    if (has_room(m, 0))
        reserve(m, group, 0);
    else if (model_waiting(m, group) > 0 && g->turn == 0)
        g->turn = ++m->clock;
}

/* The first of those that still want their turn; those before it lose it. */
static int next_turn(model_t *m, int starved)
{
    for (;;) {
        int g, first = -1;

        for (g = 0; g < MODEL_GROUPS; g++)
            if (m->groups[g].turn != 0 && (model_size(m, g) == 0) == starved &&
                (first < 0 || m->groups[g].turn < m->groups[first].turn))
                first = g;
        if (first < 0 || (model_waiting(m, first) > 0 && may_grow(m, first)))
            return first;
        m->groups[first].turn = 0;
    }
}

static int older(const model_t *m, int a, int b)
{
    int sa = a < 0 ? -1 : model_head(m, a), sb = b < 0 ? -1 : model_head(m, b);

    if (sa < 0 || sb < 0)
        return sa >= 0 ? a : b;
    return m->sessions[sb].ticket < m->sessions[sa].ticket ? b : a;
}

/* The longest idle of another group; one above its minimum before others. */
static int victim(const model_t *m, int newcomer)
{
    int i, best[2] = {-1, -1};

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        int *b;

        if (p->state != M_LIVE || p->sessions > 0 || p->group == newcomer)
            continue;
        b = &best[model_size(m, p->group) <=
                  m->groups[p->group].options.min_instances];
        if (*b < 0 || p->idle_since < m->processes[*b].idle_since)
            *b = i;
    }
    return best[0] >= 0 ? best[0] : best[1];
}

/* Of processes that requests share, one gives way when a place is freed. */
static int shared_victim(const model_t *m, int freed, int newcomer)
{
    const apl_options_t *o = freed < 0 ? NULL : &m->groups[freed].options;

    return !o || freed == newcomer || (o->concurrency == 1 && o->global_queue)
               ? -1
               : model_pick(m, freed);
}

static void settle(model_t *m, int freed)
{
    for (;;) {
        int starved = next_turn(m, 1), hungry = next_turn(m, 0);
        int g = older(m, starved, hungry), v;

        if (g < 0)
            return;
        if (!has_room(m, 0)) {
            g = starved;
            v = g >= 0 && has_room(m, 1) ? victim(m, g) : -1;
            if (v < 0 && g >= 0 && has_room(m, 1))
                v = shared_victim(m, freed, g);
            if (v < 0)
                return;
            model_move(m, v, M_LEAVING);
        }
        m->groups[g].turn = 0;
        reserve(m, g, 0);
    }
}

void model_settle(model_t *m)
{
    settle(m, -1);
}

void model_give(model_t *m, int session, int process)
{
    m_process_t *p = &m->processes[process];

    m->sessions[session].state = S_HELD;
    m->sessions[session].process = process;
    p->sessions++;
    p->last_used = m->now;
}

void model_share(model_t *m, int group)
{
    int starved = next_turn(m, 1);
    int s, p;

    if (starved >= 0 && older(m, starved, group) == starved)
        settle(m, group);
    while ((s = model_head(m, group)) >= 0 && (p = model_pick(m, group)) >= 0)
        model_give(m, s, p);
    if (model_waiting(m, group) > 0 && may_grow(m, group) &&
        m->groups[group].turn == 0)
        m->groups[group].turn = ++m->clock;
    model_settle(m);
}
