/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The verbs of httpd's children. */

#include "tests/unit/support/model.h"

#include "tests/unit/support/model_capacity.h"

/* ---- asking ---- */

/* Did anything of the group start under another stamp? @param unheard 1: is
 * there anything of which that is not known yet? */
static int started_otherwise(const model_t *m, int group, uint64_t file,
                             int unheard)
{
    const m_group_t *g = &m->groups[group];
    int i, has = g->loads || g->forks;
    int n = has && (unheard ? g->loaded == M_UNKNOWN
                            : g->loaded != M_UNKNOWN && g->loaded != file);

    for (i = 0; i < m->n_processes; i++) {
        const m_process_t *p = &m->processes[i];
        int boots = p->state == M_STARTING;

        if (p->group != group || (!boots && p->state != M_LIVE))
            continue;
        if (unheard)
            n += boots && p->forked && p->stamp == M_UNKNOWN;
        else
            n += p->stamp != file && !(boots && p->stamp == M_UNKNOWN);
    }
    return n > 0;
}

static int restart_due(const model_t *m, int group, const m_look_t *look)
{
    const m_group_t *g = &m->groups[group];

    if (look->stale || look->file == M_NO_FILE || look->file == g->seen.file)
        return 0;
    return g->seen.file != M_UNKNOWN || g->failures != 0 || g->young != 0 ||
           started_otherwise(m, group, look->file, 0);
}

static void note(model_t *m, int group, const m_look_t *look)
{
    m_group_t *g = &m->groups[group];
    int first = g->seen.file == M_UNKNOWN;

    if (look->stale)
        return;
    g->seen = *look;
    if (first && look->file != M_NO_FILE &&
        started_otherwise(m, group, look->file, 1))
        g->seen.file = M_UNKNOWN;
}

static void restart(model_t *m, int group, const m_look_t *look)
{
    m_group_t *g = &m->groups[group];
    int i, due = look && restart_due(m, group, look);

    if (due)
        model_reload(m, group, g->options.rolling != 0);
    if (look)
        note(m, group, look);
    for (i = 0; i < m->n_processes && g->seen.always; i++) {
        const m_process_t *p = &m->processes[i];

        if (p->state == M_LIVE && p->group == group &&
            p->processed + p->sessions > 0)
            model_move(m, i, M_LEAVING);
    }
    if (g->seen.always && model_waiting(m, group) > 0)
        model_want(m, group);
    if (due || g->seen.always)
        model_settle(m);
}

static apr_status_t queue(model_t *m, int session, int group)
{
    const m_group_t *g = &m->groups[group];
    const apl_options_t *o = &g->options;

    if (g->retired && model_size(m, group) + model_spawning(m, group) == 0)
        return APL_ESTOPPING;
    if (g->failures != 0 && m->now < g->retry_at &&
        model_size(m, group) + model_spawning(m, group) == 0)
        return APL_EBACKOFF;
    if (model_too_many_unkillable(m, group) &&
        model_size(m, group) + model_spawning(m, group) == 0)
        return APL_EUNKILLABLE;
    if (o->max_queue != 0 && model_waiting(m, group) >= o->max_queue)
        return APL_EQUEUEFULL;
    m->sessions[session].state = S_WAITING;
    model_want(m, group);
    model_settle(m);
    return APL_EWAIT;
}

static apr_status_t ask(model_t *m, int session, int group)
{
    const m_group_t *g = &m->groups[group];
    unsigned most;
    int p;

    if (g->drained)
        return APL_EDRAINED;
    m->sessions[session] = (m_session_t){.group = group, .ticket = ++m->clock};
    p = model_waiting(m, group) == 0 ? model_pick(m, group) : -1;
    if (p < 0)
        return queue(m, session, group);
    model_give(m, session, p);
    most = model_concurrency(m, p);
    if ((most != 0 && m->processes[p].sessions > most) || m->processes[p].hung)
        model_want(m, group);
    return APR_SUCCESS;
}

apr_status_t model_checkout(model_t *m, int session, int group, unsigned slot,
                            const apl_options_t *options, const m_look_t *look)
{
    m_group_t *g = &m->groups[group];
    apr_status_t rv;

    if (!g->there)
        model_found(m, group, slot, options);
    else if (options->config >= g->options.config &&
             model_options(m, group, options))
        model_share(m, group);
    g->used = 1;
    restart(m, group, look);
    rv = ask(m, session, group);
    model_unlock(m);
    return rv;
}

apr_status_t model_poll(model_t *m, int session)
{
    m_session_t *s = &m->sessions[session];

    if (s->state == S_WAITING)
        return APL_EWAIT;
    if (s->state == S_OPEN)
        return APR_SUCCESS;
    s->state = S_FREE;
    return s->outcome;
}

/* ---- giving back ---- */

int model_process_of(const model_t *m, const m_session_t *s)
{
    const m_process_t *p = &m->processes[s->process];

    return s->state == S_OPEN && p->state != M_FREE && p->id == s->id
               ? s->process
               : -1;
}

static void end(model_t *m, int session, m_end_t how)
{
    m_session_t *s = &m->sessions[session];
    int process = model_process_of(m, s);
    int responded = s->state == S_OPEN && how <= M_LAST;
    m_process_t *p;

    s->state = S_FREE;
    if (responded && process >= 0)
        model_note_response(m, process);
    if (responded && (m->groups[s->group].young > 0 ||
                      (process >= 0 && m->processes[process].trial))) {
        model_end_row(m, s->group);
        model_share(m, s->group);
    }
    if (process < 0)
        return;
    p = &m->processes[process];
    p->processed += how != M_REFUSED;
    model_touch(m, p);
    p->sessions--;
    if (p->sessions == 0) {
        p->idle_since = ++m->clock;
        model_hang(m, process, 0);
    }
    if (p->state == M_LIVE && (how == M_REFUSED || how == M_LAST)) {
        model_early_end(m, process);
        model_move(m, process, M_LEAVING);
    }
    else
        model_retire(m, process);
    model_share(m, s->group);
}

void model_end(model_t *m, int session, m_end_t how)
{
    end(m, session, how);
    model_unlock(m);
}

/* @return 0: it is to be closed */
static int abandon(model_t *m, int session, int responded)
{
    m_session_t *s = &m->sessions[session];
    int process = model_process_of(m, s);
    unsigned most;

    if (process < 0 || m->processes[process].state != M_LIVE)
        return 0;
    most = model_concurrency(m, process);
    if ((s->long_lived && (most == 0 || !responded)) ||
        model_abandoned(m, process) >= (most != 0 ? most : 1))
        return 0;
    if (s->long_lived)
        s->since = m->now;
    s->long_lived = 0;
    s->abandoned = 1;
    model_touch(m, &m->processes[process]);
    model_yield(m, process);
    return 1;
}

static int leave(model_t *m, int session, int responded)
{
    int abandoned = abandon(m, session, responded);

    if (!abandoned)
        end(m, session, M_CLOSE);
    return abandoned;
}

int model_orphan(model_t *m, int session)
{
    return leave(m, session, 0);
}

int model_abandon(model_t *m, int session)
{
    int abandoned = leave(m, session, 1);

    model_unlock(m);
    return abandoned;
}

void model_lose(model_t *m, int session)
{
    int process = model_process_of(m, &m->sessions[session]);

    m->sessions[session].state = S_FREE;
    if (process < 0)
        return;
    m->processes[process].processed++;
    m->processes[process].sessions--;
}

void model_reclaim(model_t *m, int session)
{
    end(m, session, M_CLOSE);
}
