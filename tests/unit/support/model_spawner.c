/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs of the spawner. */

#include "tests/unit/support/model.h"

#include "tests/unit/support/model_capacity.h"

/* ---- processes ---- */

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
        m->processes[first].started = m->now;
        m->processes[first].revision =
            m->groups[m->processes[first].group].revision;
    }
    return first;
}

void model_born(model_t *m, int process, unsigned made_for, uint64_t stamp)
{
    m->processes[process].made_for = made_for;
    m->processes[process].forked = 1;
    m->processes[process].stamp = stamp;
}

/* An outdated process leaves: the oldest idle one, else the oldest.
 * @return 0: there is none */
static int replaced(model_t *m, int by)
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
    return best >= 0;
}

/* Fewer than its minimum: one more. */
static void keep_minimum(model_t *m, int group)
{
    if (model_size(m, group) < m->groups[group].options.min_instances)
        model_want(m, group);
}

void model_ready(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    p->trial = p->replaces && m->groups[p->group].young > 0 &&
               model_sums(m, p->group).outdated == 0;
    model_move(m, process, M_LIVE);
    p->ready_at = m->now;
    m->groups[p->group].failures = model_early(m, p->group);
    if (p->replaces && !replaced(m, process))
        model_return(m, p->group);
    keep_minimum(m, p->group);
    model_replace(m, p->group);
    model_share(m, p->group);
    model_unlock(m);
}

/* It failed for the reason of the last failure, as it began before that. */
static int is_late(const m_group_t *g, const m_process_t *p)
{
    return g->failures > 0 && p->started <= g->failed_at;
}

static void fail_waiters(model_t *m, int group)
{
    int s;

    while (model_size(m, group) + model_spawning(m, group) == 0 &&
           (s = model_head(m, group)) >= 0)
        model_fail(m, s, APL_ESTART);
}

void model_failed(model_t *m, int process)
{
    int group = m->processes[process].group;

    m->processes[process].state = M_FREE;
    if (!is_late(&m->groups[group], &m->processes[process]))
        model_back_off(m, group, 1);
    fail_waiters(m, group);
    model_settle(m);
}

static void keep_used(model_t *m, int group)
{
    if (m->groups[group].used)
        keep_minimum(m, group);
}

static void after_loss(model_t *m, int group)
{
    keep_used(m, group);
    model_replace(m, group);
    model_share(m, group);
}

void model_gone(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];
    int fails;

    if (p->state == M_LIVE)
        model_early_end(m, process);
    fails = p->state >= M_LIVE && model_is_blamed(m, process);
    model_forget(m, process);
    model_move(m, process, M_FREE);
    if (fails)
        fail_waiters(m, p->group);
    after_loss(m, p->group);
    model_unlock(m);
}

void model_template(model_t *m, int group, int ready, uint64_t stamp)
{
    m->groups[group].forks = ready;
    m->groups[group].loads = !ready;
    m->groups[group].loaded = stamp;
}

void model_detach(model_t *m, int process)
{
    model_move(m, process, M_LEAVING);
    after_loss(m, m->processes[process].group);
    model_unlock(m);
}

void model_outdate(model_t *m, int process)
{
    m_process_t *p = &m->processes[process];

    if (p->state == M_STARTING)
        model_move(m, process, M_LEAVING);
    else {
        p->revision = 0;
        model_replace(m, p->group);
    }
    after_loss(m, p->group);
    model_unlock(m);
}

void model_adopt(model_t *m, int group, uint64_t id, unsigned made_for,
                 uint64_t stamp, int live)
{
    m_process_t *p = model_add(m, group, M_STARTING);
    int i;

    p->id = id;
    p->made_for = made_for;
    p->forked = 1;
    p->stamp = stamp;
    p->started = m->now;
    for (i = 0; i < MODEL_SESSIONS; i++) {
        m_session_t *s = &m->sessions[i];

        if (s->state == S_OPEN && s->id == id && s->group == group) {
            s->process = (int)(p - m->processes);
            p->sessions++;
        }
    }
    /* A live process may run any code that the app ever had. */
    p->revision = live ? 0 : m->groups[group].revision;
    if (live) {
        model_move(m, (int)(p - m->processes), M_LIVE);
        p->ready_at = m->now;
        p->responded = 1;
    }
    model_share(m, group);
    model_unlock(m);
}

/* ---- groups ---- */

void model_configure(model_t *m, int group, unsigned slot,
                     const apl_options_t *options, int prestart)
{
    m_group_t *g = &m->groups[group];

    if (!g->there && !prestart)
        return;
    if (g->there)
        model_options(m, group, options);
    else
        model_found(m, group, slot, options);
    g->retired = 0;
    g->used |= prestart;
    keep_used(m, group);
    model_share(m, group);
    model_unlock(m);
}

/* If no process will come, the waits end. */
static void give_up(model_t *m, int group, apr_status_t why)
{
    int s, n = MODEL_WAKES;

    while (model_size(m, group) + model_spawning(m, group) == 0 && n-- > 0 &&
           (s = model_head(m, group)) >= 0)
        model_fail(m, s, why);
}

/* Waiters are served first, but not if the app is drained. */
static void wind_up(model_t *m, int group)
{
    int drained = m->groups[group].drained;

    if (drained || model_waiting(m, group) == 0)
        model_leave(m, group, 1, 1);
    give_up(m, group, drained ? APL_EDRAINED : APL_ESTOPPING);
}

void model_remove(model_t *m, int group)
{
    m_group_t *g = &m->groups[group];

    g->retired = 1;
    wind_up(m, group);
    model_settle(m);
}

apr_status_t model_start(model_t *m, int group, unsigned slot,
                         const apl_options_t *options)
{
    m_group_t *g = &m->groups[group];
    int runs;

    if (!g->there)
        model_found(m, group, slot, options);
    runs = !g->drained && !model_too_many_unkillable(m, group);
    if (runs) {
        g->used = 1;
        if (g->retry_at > m->now)
            g->retry_at = m->now;
        if (model_size(m, group) < g->options.min_instances)
            model_want(m, group);
        runs = model_size(m, group) + model_spawning(m, group) > 0 ||
               model_demand(m, group);
    }
    model_settle(m);
    return g->drained                            ? APL_EDRAINED
           : model_too_many_unkillable(m, group) ? APL_EUNKILLABLE
           : runs                                ? APR_SUCCESS
                                                 : APL_EWAIT;
}

void model_drain(model_t *m, int group, unsigned slot,
                 const apl_options_t *options)
{
    if (!m->groups[group].there)
        model_found(m, group, slot, options);
    m->groups[group].drained = 1;
    wind_up(m, group);
    model_settle(m);
}

void model_restart(model_t *m, int group, int rolling)
{
    m->groups[group].drained = 0;
    model_reload(m, group, rolling);
    model_share(m, group);
    model_unlock(m);
}

void model_limit(model_t *m, unsigned max)
{
    m->max = max;
    model_share_all(m);
    model_unlock(m);
}

/* The process of a group, or of all, that is idle for longest, or -1. */
static int longest_idle(const model_t *m, int group)
{
    int i, best = -1;

    for (i = 0; i < m->n_processes; i++)
        if (m->processes[i].state == M_LIVE &&
            (group < 0 || m->processes[i].group == group) &&
            m->processes[i].sessions == 0 &&
            (best < 0 || model_idles_longer(m, i, best)))
            best = i;
    return best;
}

static void trim(model_t *m, int group)
{
    const apl_options_t *o = &m->groups[group].options;
    int i;

    while ((i = longest_idle(m, group)) >= 0) {
        int expired = o->idle_time > 0 &&
                      model_size(m, group) > o->min_instances &&
                      m->now - m->processes[i].last_used >= o->idle_time;

        if (!model_above(m, group) && !expired)
            return;
        model_move(m, i, M_LEAVING);
    }
}

static int in_use(const model_t *m, int group)
{
    int i, n = 0;

    for (i = 0; i < m->n_processes; i++)
        n += m->processes[i].state != M_FREE && m->processes[i].group == group;
    for (i = 0; i < MODEL_SESSIONS; i++)
        n += m->sessions[i].state != S_FREE && m->sessions[i].group == group;
    return n > 0;
}

void model_tick(model_t *m)
{
    int groups[MODEL_GROUPS], i, n = model_in_order(m, groups), spare = 0;

    for (i = 0; i < n; i++) {
        int g = groups[i];

        model_check_start(m, g);
        trim(m, g);
        if (m->groups[g].retired || m->groups[g].drained)
            wind_up(m, g);
        else if (model_too_many_unkillable(m, g))
            give_up(m, g, APL_EUNKILLABLE);
        keep_used(m, g);
        model_replace(m, g);
        model_share(m, g);
        if (m->groups[g].retired && !in_use(m, g))
            m->groups[g].there = 0;
        spare |= model_size(m, g) > m->groups[g].options.min_instances;
        model_unlock(m); /* after each group */
    }
    while (!spare && model_exceeded(m) && (i = longest_idle(m, -1)) >= 0)
        model_move(m, i, M_LEAVING);
    model_settle(m);
    for (i = model_next_slot(m, 0); i >= 0;
         i = model_next_slot(m, m->processes[i].id & 0xffff))
        model_yield(m, i);
}
