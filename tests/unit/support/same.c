/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Pool and model after a step: are they the same, and does the pool keep its
 * invariants? */

#include <stdio.h>

#include "shm/recovery/recovery.h"
#include "shm/slots/hung.h"
#include "shm/format/list.h"
#include "tests/unit/support/steps.h"

static int broken(walk_t *w, int number, const char *what)
{
    snprintf(w->why, sizeof w->why, "I%d: %s", number, what);
    return 0;
}

/* ---- sums ---- */

static int same_sums(walk_t *w, const char *whose, const m_sums_t *pool,
                     const m_sums_t *model)
{
    static const char *const names[] = {"count",   "active",  "spawning",
                                        "waiting", "leaving", "outdated",
                                        "hung",    "credit"};
    const unsigned *p = &pool->count, *m = &model->count;
    char what[64];
    int i;

    for (i = 0; i < 8; i++)
        if (p[i] != m[i]) {
            snprintf(what, sizeof what, "%s of %s", names[i], whose);
            return steps_differ(w, what, p[i], m[i]);
        }
    return 1;
}

static int sums(walk_t *w)
{
    const apl_pool_t *pool = &w->s->pool;
    const apl_header_t *h = pool->header;
    m_sums_t model, is = {h->count,   h->active, h->spawning, h->waiting,
                          h->leaving, 0,         h->hung,     h->credit};
    uint32_t i;
    int g;

    for (g = 0; g < MODEL_GROUPS; g++) {
        const apl_group_t *pg = &pool->groups[steps_slot(w, g)];
        m_sums_t its = {
            pg->size,     0,        pg->spawning,       pg->waiting, 0,
            pg->outdated, pg->hung, apl_hung_credit(pg)};

        if ((steps_slot(w, g) != 0) != w->m->groups[g].there)
            return steps_differ(w, "group", steps_slot(w, g), g);
        if (!w->m->groups[g].there)
            continue;
        if (pg->drained != (uint32_t)w->m->groups[g].drained)
            return steps_differ(w, "is it drained", pg->drained,
                                w->m->groups[g].drained);
        if (pg->failures != w->m->groups[g].failures)
            return steps_differ(w, "failed starts", pg->failures,
                                w->m->groups[g].failures);
        if (pg->young != w->m->groups[g].young)
            return steps_differ(w, "early ends", pg->young,
                                w->m->groups[g].young);
        for (i = 1; i <= h->top_process; i++) {
            const apl_process_t *p = &pool->processes[i];

            if (p->group != steps_slot(w, g))
                continue;
            its.active += p->state == APL_PROCESS_LIVE && p->sessions > 0;
            its.leaving += p->state == APL_PROCESS_LEAVING;
        }
        is.outdated += pg->outdated;
        model = model_sums(w->m, g);
        if (!same_sums(w, w->s->apps[g].name, &its, &model))
            return 0;
    }
    model = model_sums(w->m, -1);
    return same_sums(w, "all", &is, &model);
}

/* ---- one by one ---- */

static const m_process_t *by_id(const walk_t *w, uint64_t id)
{
    int i;

    for (i = 0; i < w->m->n_processes; i++)
        if (w->m->processes[i].state > M_WANTED && w->m->processes[i].id == id)
            return &w->m->processes[i];
    return NULL;
}

static int processes(walk_t *w)
{
    const apl_pool_t *pool = &w->s->pool;
    uint32_t i;

    for (i = 1; i <= pool->header->top_process; i++) {
        const apl_process_t *p = &pool->processes[i];
        const m_process_t *m;

        if (p->state <= APL_PROCESS_WANTED)
            continue;
        m = by_id(w, p->id);
        if (!m)
            return steps_differ(w, "unknown process", i, 0);
        if (p->state != (uint32_t)m->state) /* in the same order */
            return steps_differ(w, "state of a process", p->state, m->state);
        if (p->sessions != m->sessions)
            return steps_differ(w, "its sessions", p->sessions, m->sessions);
        if (p->state == APL_PROCESS_LIVE && p->hung != (uint32_t)m->hung)
            return steps_differ(w, "is it hung", p->hung, m->hung);
        if (p->state == APL_PROCESS_LIVE && p->trial != (uint32_t)m->trial)
            return steps_differ(w, "is it on trial", p->trial, m->trial);
        if (p->unkillable != (uint32_t)m->unkillable)
            return steps_differ(w, "is it unkillable", p->unkillable,
                                m->unkillable);
        if (p->processed != m->processed)
            return steps_differ(w, "its requests", (long)p->processed,
                                m->processed);
        if (p->last_used != m->last_used)
            return steps_differ(w, "its last use", (long)p->last_used,
                                (long)m->last_used);
    }
    return 1;
}

static int sessions(walk_t *w)
{
    uint32_t i, used = 0;
    int k;

    for (k = 0; k < HOLDS; k++) {
        const m_session_t *m = &w->m->sessions[k];
        const apl_session_t *s = &w->s->pool.sessions[w->holds[k].hold.session];

        if (!w->holds[k].used)
            continue;
        used++;
        if (s->state != (uint32_t)m->state) /* in the same order */
            return steps_differ(w, "state of a session", s->state, m->state);
        if (s->killed != (uint32_t)m->killed)
            return steps_differ(w, "is it killed", s->killed, m->killed);
        if ((s->child == 0) != (w->holds[k].owner < 0))
            return steps_differ(w, "is it abandoned", s->child,
                                w->holds[k].owner);
        if (m->state == S_OPEN && s->id != m->id)
            return steps_differ(w, "process of a session", (long)s->id,
                                (long)m->id);
    }
    for (i = 1; i <= w->s->pool.header->top_session; i++)
        used -= w->s->pool.sessions[i].state != APL_SESSION_FREE;
    return used == 0 || steps_differ(w, "sessions in use", 0, (int)used);
}

static int queue(walk_t *w, int group)
{
    apl_pool_t *pool = &w->s->pool;
    const apl_group_t *g = &pool->groups[steps_slot(w, group)];
    apl_walk_t it = apl_list_walk(pool, &g->queue, pool->n.sessions);
    uint64_t last = 0;
    uint32_t at;

    while ((at = apl_list_next(pool, &it)) != 0) {
        const apl_session_t *s = APL_SESSION_OF(pool, at, link);
        const m_session_t *m;
        int k;

        for (k = 0; k < HOLDS; k++)
            if (w->holds[k].used &&
                w->holds[k].hold.session == APL_SESSION_INDEX(pool, s))
                break;
        m = &w->m->sessions[k];
        if (k == HOLDS || m->state != S_WAITING || m->group != group ||
            m->ticket < last)
            return steps_differ(w, "place in a queue", k, (long)m->ticket);
        last = m->ticket;
    }
    return 1;
}

/* Would the next request get the same process? */
static int next(walk_t *w, int group)
{
    apl_pool_t *pool = &w->s->pool;
    const apl_group_t *g = &pool->groups[steps_slot(w, group)];
    uint32_t at = apl_list_first(pool, &g->idle);
    const apl_process_t *p =
        at ? APL_PROCESS_OF(pool, at, idle) : apl_process_at(pool, g->order);
    int m = model_pick(w->m, group);

    if ((p == NULL) != (m < 0) || (p && p->id != w->m->processes[m].id))
        return steps_differ(w, "next process", p ? (long)p->id : 0,
                            m < 0 ? 0 : (long)w->m->processes[m].id);
    return 1;
}

/* ---- the step before ---- */

/* A step may begin with a start, and end with fewer above the limit. */
static unsigned swap_extra(unsigned *past, unsigned now)
{
    unsigned most = *past > now ? *past : now;

    *past = now;
    return most;
}

static unsigned trials(const apl_pool_t *pool)
{
    uint32_t i;
    unsigned n = 0;

    for (i = 1; i <= pool->header->top_process; i++)
        n += pool->processes[i].state == APL_PROCESS_LIVE &&
             pool->processes[i].trial;
    return n;
}

/* Above a limit it may only fall. The end of a trial is no start. An adopted
 * process already existed. */
static int limits(walk_t *w, kind_t kind)
{
    const apl_header_t *h = w->s->pool.header;
    past_t *past = &w->past;
    unsigned all = h->count + h->spawning, regular = all - h->replacing;
    unsigned max = h->max + swap_extra(&past->credit, h->credit);
    unsigned on_trial = trials(&w->s->pool);
    int g, ok = 1;

    if (all > max + 1 && all > past->all && kind != ADOPT)
        ok = broken(w, 11, "more than one above the limit");
    if (regular > max && regular + on_trial > past->regular + past->trials &&
        kind != ADOPT && kind != READY)
        ok = broken(w, 11, "above the limit");
    for (g = 0; g < MODEL_GROUPS; g++) {
        const apl_group_t *pg = &w->s->pool.groups[steps_slot(w, g)];
        unsigned its = pg->size + pg->spawning;

        max = pg->options.max_instances + (pg->outdated > 0 || kind == READY) +
              swap_extra(&past->group_credit[g], apl_hung_credit(pg));
        if (pg->options.max_instances != 0 && its > max &&
            its > past->group_all[g] && kind != ADOPT)
            ok = broken(w, 12, "above a group's limit");
        past->group_all[g] = its;
    }
    past->all = all;
    past->regular = regular;
    past->trials = on_trial;
    return ok;
}

static int monotone(walk_t *w)
{
    const apl_pool_t *pool = &w->s->pool;
    uint32_t i;

    for (i = 1; i <= pool->header->top_process; i++) {
        const apl_process_t *p = &pool->processes[i];

        if (p->generation < w->past.processes[i].generation)
            return broken(w, 13, "a process's generation went back");
        if (p->generation == w->past.processes[i].generation &&
            (p->processed < w->past.processes[i].processed ||
             p->last_used < w->past.processes[i].last_used))
            return broken(w, 15, "processed or last_used went back");
        w->past.processes[i].generation = p->generation;
        w->past.processes[i].processed = p->processed;
        w->past.processes[i].last_used = p->last_used;
    }
    for (i = 1; i <= pool->header->top_session && i < 2 * MODEL_SESSIONS; i++) {
        if (pool->sessions[i].generation < w->past.sessions[i])
            return broken(w, 13, "a session's generation went back");
        w->past.sessions[i] = pool->sessions[i].generation;
    }
    return 1;
}

int steps_same(walk_t *w, kind_t kind)
{
    apl_finding_t finding;
    int g;

    if (!apl_check(&w->s->pool, &finding))
        return broken(w, finding.number, finding.text);
    if (scene_overtaken(&w->s->pool) != 0)
        return broken(w, 14, "a session was overtaken");
    if (w->s->pool.header->counters.repairs != w->repairs)
        return steps_differ(w, "repairs",
                            (long)w->s->pool.header->counters.repairs,
                            w->repairs);
    for (g = 0; g < MODEL_GROUPS; g++)
        if (w->m->groups[g].there && !(queue(w, g) && next(w, g)))
            return 0;
    return sums(w) && processes(w) && sessions(w) && limits(w, kind) &&
           monotone(w);
}
