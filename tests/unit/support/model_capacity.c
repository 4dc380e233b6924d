/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/model_capacity.h"

#include <string.h>

/* ---- searching ---- */

static int in(const m_process_t *p, int group, m_state_t from, m_state_t to)
{
    return (group < 0 || p->group == group) && p->state >= from &&
           p->state <= to;
}

static unsigned count(const model_t *m, int group, m_state_t from, m_state_t to)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < m->n_processes; i++)
        n += (unsigned)in(&m->processes[i], group, from, to);
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

unsigned model_waiting(const model_t *m, int group)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < MODEL_SESSIONS; i++)
        n += m->sessions[i].state == S_WAITING &&
             (group < 0 || m->sessions[i].group == group);
    return n;
}

unsigned model_hung(const model_t *m, int group)
{
    unsigned n = 0;
    int i;

    for (i = 0; i < m->n_processes; i++)
        n +=
            in(&m->processes[i], group, M_LIVE, M_LIVE) && m->processes[i].hung;
    return n;
}

unsigned model_credit(const model_t *m, int group)
{
    unsigned n = 0;
    int g;

    for (g = 0; g < MODEL_GROUPS; g++) {
        const apl_options_t *o = &m->groups[g].options;
        unsigned most = o->spawn_if_under > 0 ? o->hung_extra : 0;
        unsigned hung = model_hung(m, g);

        if (g == group || group < 0)
            n += hung < most ? hung : most;
    }
    return n;
}

int model_unserved(const model_t *m, int group)
{
    return model_size(m, group) == model_hung(m, group);
}

int model_too_many_unkillable(const model_t *m, int group)
{
    unsigned stop = m->groups[group].options.unkillable_stop, n = 0;
    int i;

    for (i = 0; i < m->n_processes; i++)
        n += in(&m->processes[i], group, M_LEAVING, M_LEAVING) &&
             m->processes[i].unkillable;
    return stop != 0 && n >= stop;
}

int model_outdated(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return p->state == M_LIVE && p->revision != m->groups[p->group].revision;
}

m_sums_t model_sums(const model_t *m, int group)
{
    m_sums_t s = {.count = model_size(m, group),
                  .spawning = model_spawning(m, group),
                  .waiting = model_waiting(m, group),
                  .leaving = count(m, group, M_LEAVING, M_LEAVING),
                  .hung = model_hung(m, group),
                  .credit = model_credit(m, group)};
    int i;

    for (i = 0; i < m->n_processes; i++) {
        if (!in(&m->processes[i], group, M_LIVE, M_LIVE))
            continue;
        s.active += m->processes[i].sessions > 0;
        s.outdated += (unsigned)model_outdated(m, i);
    }
    return s;
}

int model_head(const model_t *m, int group)
{
    int i, best = -1;

    for (i = 0; i < MODEL_SESSIONS; i++)
        if (m->sessions[i].state == S_WAITING &&
            m->sessions[i].group == group &&
            (best < 0 || m->sessions[i].ticket < m->sessions[best].ticket))
            best = i;
    return best;
}

int model_in_order(const model_t *m, int groups[MODEL_GROUPS])
{
    int g, i, n = 0;

    for (g = 0; g < MODEL_GROUPS; g++) {
        if (!m->groups[g].there)
            continue;
        for (i = n++;
             i > 0 && m->groups[groups[i - 1]].slot > m->groups[g].slot; i--)
            groups[i] = groups[i - 1];
        groups[i] = g;
    }
    return n;
}

int model_idles_longer(const model_t *m, int a, int b)
{
    return m->processes[a].idle_since < m->processes[b].idle_since;
}

unsigned model_concurrency(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    unsigned n = m->groups[p->group].options.concurrency;

    return n == APL_CONCURRENCY_AUTO ? p->made_for : n;
}

static unsigned session_limit(const model_t *m, int process)
{
    const apl_options_t *o = &m->groups[m->processes[process].group].options;
    unsigned n = model_concurrency(m, process);

    if (n == 0 || (!o->global_queue && o->max_queue == 0))
        return UINT32_MAX;
    return n + (o->global_queue ? 0 : o->max_queue);
}

static int before(const m_process_t *a, const m_process_t *b)
{
    if (a->hung != b->hung)
        return b->hung;
    return a->sessions < b->sessions ||
           (a->sessions == b->sessions && a->birth < b->birth);
}

/* Idle first, the one that was used last; else one that is not hung, with the
 * fewest sessions, then the oldest. */
int model_pick(const model_t *m, int group)
{
    int i, idle = -1, busy = -1;

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        const m_process_t *b = busy < 0 ? NULL : &m->processes[busy];

        if (!in(p, group, M_LIVE, M_LIVE))
            continue;
        if (p->sessions == 0) {
            if (idle < 0 || model_idles_longer(m, idle, i))
                idle = i;
        }
        else if (p->sessions < session_limit(m, i) && (!b || before(p, b)))
            busy = i;
    }
    return idle >= 0 ? idle : busy;
}

/* ---- changing ---- */

m_process_t *model_add(model_t *m, int group, m_state_t state)
{
    int i;

    for (i = 0; i < m->n_processes && m->processes[i].state != M_FREE; i++)
        ;
    if (i == MODEL_PROCESSES)
        return NULL;
    if (i == m->n_processes)
        m->n_processes++;
    m->processes[i] = (m_process_t){.state = state,
                                    .group = group,
                                    .last_used = m->now,
                                    .made_for = 1,
                                    .birth = ++m->clock};
    return &m->processes[i];
}

/* When it gets its first process that is not hung, or loses its last one, it
 * takes a new turn. */
static void turn_anew(model_t *m, int group, int was_unserved)
{
    if (m->groups[group].turn != 0 && was_unserved != model_unserved(m, group))
        m->groups[group].turn = ++m->clock;
}

void model_move(model_t *m, int process, m_state_t state)
{
    m_process_t *p = &m->processes[process];
    int was_unserved = model_unserved(m, p->group);

    p->state = state;
    if (state == M_LIVE) {
        p->enlisted = p->idle_since = ++m->clock;
        model_touch(m, p);
    }
    turn_anew(m, p->group, was_unserved);
}

void model_hang(model_t *m, int process, int hung)
{
    m_process_t *p = &m->processes[process];
    int was_unserved = model_unserved(m, p->group);

    p->hung = hung;
    turn_anew(m, p->group, was_unserved);
}

/* A verb may have read the clock before the last one did. */
void model_touch(const model_t *m, m_process_t *p)
{
    if (m->now > p->last_used)
        p->last_used = m->now;
}

void model_give(model_t *m, int session, int process)
{
    m_process_t *p = &m->processes[process];
    m_session_t *s = &m->sessions[session];

    s->state = S_OPEN;
    s->process = process;
    s->id = p->id;
    s->since = m->now;
    p->sessions++;
    model_touch(m, p);
}

void model_fail(model_t *m, int session, apr_status_t outcome)
{
    m->sessions[session].state = S_FAILED;
    m->sessions[session].outcome = outcome;
}

void model_found(model_t *m, int group, unsigned slot,
                 const apl_options_t *options)
{
    m->groups[group] = (m_group_t){
        .there = 1, .slot = slot, .options = *options, .revision = 1};
}

int model_options(model_t *m, int group, const apl_options_t *options)
{
    m_group_t *g = &m->groups[group];

    if (memcmp(&g->options, options, sizeof *options) == 0)
        return 0;
    g->options = *options;
    g->retired = 0;
    return 1;
}

void model_leave(model_t *m, int group, int live, int booting)
{
    int i;

    for (i = 0; i < m->n_processes; i++)
        if ((live && in(&m->processes[i], group, M_LIVE, M_LIVE)) ||
            (booting && in(&m->processes[i], group, M_STARTING, M_STARTING)))
            model_move(m, i, M_LEAVING);
        else if (booting && group >= 0 &&
                 (m->groups[group].retired || m->groups[group].drained) &&
                 in(&m->processes[i], group, M_WANTED, M_WANTED))
            model_move(m, i, M_FREE);
}

void model_reload(model_t *m, int group, int rolling)
{
    m->groups[group].failures = m->groups[group].young = 0;
    m->groups[group].responded_at = 0;
    m->groups[group].forks = m->groups[group].loads = 0;
    m->groups[group].revision += rolling != 0;
    model_leave(m, group, !rolling, 1);
    if (model_waiting(m, group) > 0)
        model_want(m, group);
    if (rolling)
        model_replace(m, group);
}

static uint64_t limit_of(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    const apl_options_t *o = &m->groups[p->group].options;

    return o->max_requests + (p->id >> 16) % (o->jitter + 1);
}

int model_full(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    return m->groups[p->group].options.max_requests != 0 &&
           p->processed >= limit_of(m, process);
}

/* A tenth of its requests is left. Or half is left, and at the present pace the
 * rest is used up before each process of the group, and one more, could be
 * replaced. */
static int nearly_full(const model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];
    int64_t limit = (int64_t)limit_of(m, process), left = limit - p->processed;

    if (m->groups[p->group].options.max_requests == 0 || limit < 10 ||
        left > p->processed)
        return 0;
    return left * 10 <= limit ||
           (m->now - p->ready_at) / p->processed * left /
                   (int64_t)(model_size(m, p->group) + 1) <
               p->ready_at - p->started;
}

/* What was to replace one of the group takes its place. */
static void retire(model_t *m, int process)
{
    int group = m->processes[process].group, i;

    for (i = 0; i < m->n_processes; i++)
        if (in(&m->processes[i], group, M_WANTED, M_STARTING) &&
            m->processes[i].replaces)
            m->processes[i].replaces = 0;
    model_move(m, process, M_LEAVING);
    if (model_waiting(m, group) > 0 ||
        model_size(m, group) < m->groups[group].options.min_instances)
        model_want(m, group);
}

static void outdate(model_t *m, int process)
{
    m->processes[process].revision = 0;
    model_replace(m, m->processes[process].group);
}

/* While starts fail it may be the last that works. */
void model_retire_full(model_t *m, int process)
{
    if (m->groups[m->processes[process].group].failures > 0)
        outdate(m, process);
    else
        retire(m, process);
}

void model_retire(model_t *m, int process)
{
    const m_process_t *p = &m->processes[process];

    if (p->state != M_LIVE)
        return;
    if (model_above(m, p->group))
        model_move(m, process, M_LEAVING);
    else if (m->groups[p->group].seen.always && model_waiting(m, p->group) > 0)
        retire(m, process);
    else if (model_full(m, process))
        model_retire_full(m, process);
    else if (nearly_full(m, process))
        outdate(m, process);
}
