/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/model.h"

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

static unsigned size(const model_t *m, int group)
{
    return count(m, group, M_LIVE, M_LIVE);
}

static unsigned spawning(const model_t *m, int group)
{
    return count(m, group, M_WANTED, M_STARTING);
}

/* The session that waits longest, or -1. */
static int head(const model_t *m, int group)
{
    int i, best = -1;

    for (i = 0; i < m->n_sessions; i++)
        if (m->sessions[i].state == S_WAITING &&
            m->sessions[i].group == group &&
            (best < 0 || m->sessions[i].ticket < m->sessions[best].ticket))
            best = i;
    return best;
}

static unsigned waiting(const model_t *m, int group)
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
    m_sums_t s = {.count = size(m, -1),
                  .spawning = spawning(m, -1),
                  .waiting = waiting(m, -1),
                  .leaving = count(m, -1, M_LEAVING, M_LEAVING)};
    int i;

    for (i = 0; i < m->n_processes; i++)
        s.active +=
            m->processes[i].state == M_LIVE && m->processes[i].sessions > 0;
    return s;
}

static unsigned session_limit(const apl_options_t *o)
{
    if (o->concurrency == 0 || (!o->global_queue && o->max_queue == 0))
        return UINT32_MAX;
    return o->concurrency + (o->global_queue ? 0 : o->max_queue);
}

/* Idle first, the one that was used last; else the fewest sessions, then the
 * oldest. Or -1. */
static int pick(const model_t *m, int group)
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

/* ---- room ---- */

static int has_room(const model_t *m)
{
    return size(m, -1) + spawning(m, -1) < m->max;
}

static int may_spawn(const model_t *m, int group)
{
    const m_group_t *g = &m->groups[group];

    return spawning(m, group) == 0 &&
           (g->failures == 0 || m->now >= g->retry_at) &&
           (g->options.max_instances == 0 ||
            size(m, group) < g->options.max_instances);
}

static void reserve(model_t *m, int group)
{
    m_process_t *p = &m->processes[m->n_processes++];

    *p = (m_process_t){.state = M_WANTED, .group = group, .birth = ++m->clock};
}

static void want(model_t *m, int group)
{
    m_group_t *g = &m->groups[group];

    if (!may_spawn(m, group))
        return;
    if (has_room(m))
        reserve(m, group);
    else if (waiting(m, group) > 0 && g->turn == 0) {
        g->turn = ++m->clock;
        g->starved = size(m, group) == 0;
    }
}

/* The first of those that still want their turn; those before it lose it. */
static int next_turn(model_t *m, int starved)
{
    for (;;) {
        int g, first = -1;

        for (g = 0; g < MODEL_GROUPS; g++)
            if (m->groups[g].turn != 0 && m->groups[g].starved == starved &&
                (first < 0 || m->groups[g].turn < m->groups[first].turn))
                first = g;
        if (first < 0 || (waiting(m, first) > 0 && may_spawn(m, first)))
            return first;
        m->groups[first].turn = 0;
    }
}

static int older(const model_t *m, int a, int b)
{
    int sa = a < 0 ? -1 : head(m, a), sb = b < 0 ? -1 : head(m, b);

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
        b = &best[size(m, p->group) <=
                  m->groups[p->group].options.min_instances];
        if (*b < 0 || p->idle_since < m->processes[*b].idle_since)
            *b = i;
    }
    return best[0] >= 0 ? best[0] : best[1];
}

static void settle(model_t *m)
{
    for (;;) {
        int starved = next_turn(m, 1), hungry = next_turn(m, 0);
        int g = older(m, starved, hungry), v;

        if (g < 0)
            return;
        if (!has_room(m)) {
            g = starved;
            v = g >= 0 && size(m, -1) + spawning(m, -1) == m->max ? victim(m, g)
                                                                  : -1;
            if (v < 0)
                return;
            m->processes[v].state = M_LEAVING;
        }
        m->groups[g].turn = 0;
        reserve(m, g);
    }
}

static void give(model_t *m, int session, int process)
{
    m_process_t *p = &m->processes[process];

    m->sessions[session].state = S_HELD;
    m->sessions[session].process = process;
    p->sessions++;
    p->last_used = m->now;
}

static void share(model_t *m, int group)
{
    int starved = next_turn(m, 1);
    int s, p;

    if (starved >= 0 && older(m, starved, group) == starved)
        settle(m);
    while ((s = head(m, group)) >= 0 && (p = pick(m, group)) >= 0)
        give(m, s, p);
    if (waiting(m, group) > 0)
        want(m, group);
    settle(m);
}

/* ---- the verbs of httpd's children ---- */

int model_checkout(model_t *m, int group, apr_status_t *rv)
{
    const m_group_t *g = &m->groups[group];
    const apl_options_t *o = &g->options;
    m_session_t *s = &m->sessions[m->n_sessions];
    int p = waiting(m, group) == 0 ? pick(m, group) : -1;

    *s = (m_session_t){.group = group, .ticket = ++m->clock};
    if (p >= 0) {
        give(m, m->n_sessions, p);
        if (o->concurrency != 0 && m->processes[p].sessions > o->concurrency)
            want(m, group);
        *rv = APR_SUCCESS;
        return m->n_sessions++;
    }
    if (g->failures != 0 && m->now < g->retry_at &&
        size(m, group) + spawning(m, group) == 0) {
        *rv = APL_EBACKOFF;
        return -1;
    }
    if (o->max_queue != 0 && waiting(m, group) >= o->max_queue) {
        *rv = APL_EQUEUEFULL;
        return -1;
    }
    s->state = S_WAITING;
    m->n_sessions++;
    want(m, group);
    settle(m);
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

    if (p->state != M_LIVE || o->max_requests == 0 ||
        p->processed < o->max_requests)
        return;
    p->state = M_LEAVING;
    if (waiting(m, p->group) > 0 || size(m, p->group) < o->min_instances)
        want(m, p->group);
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
    p->last_used = m->now;
    p->sessions--;
    if (p->sessions == 0)
        p->idle_since = ++m->clock;
    if (p->state == M_LIVE && how == M_REFUSED)
        p->state = M_LEAVING;
    else
        retire(m, s->process);
    share(m, s->group);
}

void model_reclaim(model_t *m, int session)
{
    const m_session_t *s = &m->sessions[session];
    int had = s->state == S_HELD && m->processes[s->process].state != M_FREE;

    if (s->state == S_FREE)
        return;
    model_end(m, session, M_CLOSE);
    if (!had)
        share(m, s->group);
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
    }
    return first;
}

void model_ready(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];
    m_group_t *g = &m->groups[p->group];

    p->state = M_LIVE;
    p->ready_at = p->last_used = m->now;
    p->idle_since = ++m->clock;
    g->failures = 0;
    if (size(m, p->group) < g->options.min_instances)
        want(m, p->group);
    share(m, p->group);
}

static void back_off(model_t *m, m_group_t *g)
{
    static const int wait[] = {1, 2, 4, 8, 16, 32, 60};

    g->retry_at =
        m->now + wait[g->failures < 6 ? g->failures : 6] * MODEL_SECOND;
    g->failures++;
}

void model_failed(model_t *m, int process)
{
    int group = m->processes[process].group, s;

    m->processes[process].state = M_FREE;
    back_off(m, &m->groups[group]);
    while (size(m, group) == 0 && (s = head(m, group)) >= 0)
        m->sessions[s].state = S_FAILED;
    settle(m);
}

static void after_loss(model_t *m, int group)
{
    const m_group_t *g = &m->groups[group];

    if (size(m, group) < g->options.min_instances)
        want(m, group);
    share(m, group);
}

void model_configure(model_t *m, int group, const apl_options_t *options)
{
    m->groups[group].used = 1;
    m->groups[group].options = *options;
    after_loss(m, group);
}

void model_gone(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    if (p->state == M_LIVE && p->processed == 0 && p->sessions == 0 &&
        m->now - p->ready_at < MODEL_SECOND)
        back_off(m, &m->groups[p->group]);
    p->state = M_FREE;
    after_loss(m, p->group);
}

void model_detach(model_t *m, int process)
{
    m->processes[process].state = M_LEAVING;
    after_loss(m, m->processes[process].group);
}

void model_limit(model_t *m, unsigned max)
{
    int g;

    m->max = max;
    for (g = 0; g < MODEL_GROUPS; g++)
        if (m->groups[g].used)
            share(m, g);
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
        int above =
            (o->max_instances != 0 && size(m, group) > o->max_instances) ||
            size(m, -1) + spawning(m, -1) > m->max;
        int expired = o->idle_time > 0 && size(m, group) > o->min_instances &&
                      m->now - m->processes[i].last_used >= o->idle_time;

        if (!above && !expired)
            return;
        m->processes[i].state = M_LEAVING;
    }
}

void model_tick(model_t *m)
{
    int g;

    for (g = 0; g < MODEL_GROUPS; g++) {
        if (!m->groups[g].used)
            continue;
        trim(m, g);
        after_loss(m, g);
    }
}
