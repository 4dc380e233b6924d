/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    "ask",     "ask",     "poll", "close", "refuse",    "take",
    "ready",   "ready",   "fail", "gone",  "reap",      "detach",
    "outdate", "restart", "tick", "limit", "owner dies"};

const char *steps_word(kind_t kind)
{
    return words[kind];
}

int steps_differ(walk_t *w, const char *what, long pool, long model)
{
    snprintf(w->why, sizeof w->why, "%s: pool %ld, model %ld", what, pool,
             model);
    return 0;
}

static void configure(walk_t *w)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    int g;

    for (g = 0; g < MODEL_GROUPS; g++) {
        apl_options_t *o = &scene_app(w->s, names[g])->options;

        o->idle_time = (g + 1) * 3 * MODEL_SECOND;
        o->max_queue = 6;
        o->min_instances = g == 1;
        o->max_instances = g == 0 ? 3 : 0;
        o->max_requests = g == 2 ? 3 : 0;
        o->concurrency = g == 3 ? 3 : 1;
        o->global_queue = g != 2;
        /* In this order, in which both go through them. */
        apl_supervise_configure(&w->s->pool, &w->s->apps[g], 1, w->s->now);
        model_configure(w->m, g, o);
    }
}

void steps_begin(walk_t *w)
{
    int i;

    memset(w, 0, sizeof *w);
    w->s = scene_new(4);
    w->m = calloc(1, sizeof *w->m);
    w->m->max = 4;
    w->owners[0] = w->s->pool.self;
    for (i = 1; i < OWNERS; i++)
        w->owners[i] = scene_child(w->s);
    for (i = 0; i < HOLDS; i++)
        w->holds[i].session = -1;
    w->m->now = w->s->now;
    configure(w);
}

void steps_end(walk_t *w)
{
    free(w->s->memory);
    free(w->s);
    free(w->m);
}

/* ---- steps ---- */

/* The `n`-th of the model's processes in a state, or -1. */
static int nth_process(const walk_t *w, m_state_t state, unsigned n)
{
    int i, found = 0, total = 0;

    for (i = 0; i < w->m->n_processes; i++)
        total += w->m->processes[i].state == state;
    if (total == 0)
        return -1;
    for (i = 0; i < w->m->n_processes; i++)
        if (w->m->processes[i].state == state &&
            found++ == (int)(n % (unsigned)total))
            return i;
    return -1;
}

static int step_ask(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS), owner = (int)(n / 7 % OWNERS), i, session;
    apr_status_t rv, expected;

    for (i = 0; i < HOLDS && w->holds[i].session >= 0; i++)
        ;
    if (i == HOLDS || w->m->n_sessions == MODEL_SLOTS)
        return 1;
    scene_be(w->s, w->owners[owner]);
    rv = apl_checkout(&w->s->pool, &w->holds[i].hold, &w->s->apps[g], NULL,
                      NULL, w->s->now);
    session = model_checkout(w->m, g, &expected);
    if (rv != expected)
        return steps_differ(w, "status of checkout", rv, expected);
    w->holds[i].session = session;
    w->holds[i].owner = owner;
    if (rv == APR_SUCCESS &&
        w->holds[i].hold.id !=
            w->m->processes[w->m->sessions[session].process].id)
        return steps_differ(w, "process", (long)w->holds[i].hold.id, session);
    return 1;
}

/* A hold in use, from the n-th on; or -1. */
static int nth_hold(const walk_t *w, unsigned n)
{
    int i;

    for (i = 0; i < HOLDS; i++)
        if (w->holds[(n + (unsigned)i) % HOLDS].session >= 0)
            return (int)((n + (unsigned)i) % HOLDS);
    return -1;
}

static int poll_hold(walk_t *w, int i)
{
    apr_status_t rv, expected;
    int session = w->holds[i].session;

    scene_be(w->s, w->owners[w->holds[i].owner]);
    rv = apl_checkout_poll(&w->s->pool, &w->holds[i].hold, w->s->now);
    expected = model_poll(w->m, session);
    if (rv != expected)
        return steps_differ(w, "status of poll", rv, expected);
    if (rv == APL_ESTART)
        w->holds[i].session = -1;
    return 1;
}

static int step_end(walk_t *w, unsigned n, m_end_t how)
{
    int i = nth_hold(w, n);

    if (i < 0)
        return 1;
    if (how == M_REFUSED && w->m->sessions[w->holds[i].session].state != S_HELD)
        return poll_hold(w, i);
    scene_be(w->s, w->owners[w->holds[i].owner]);
    if (how == M_CLOSE)
        apl_checkin(&w->s->pool, &w->holds[i].hold, w->s->now);
    else
        apl_checkout_refused(&w->s->pool, &w->holds[i].hold, w->s->now);
    model_end(w->m, w->holds[i].session, how);
    w->holds[i].session = -1;
    return 1;
}

static int step_take(walk_t *w)
{
    apl_order_t order;
    apr_status_t rv = apl_supervise_take(
        &w->s->pool, (uint64_t)++w->s->pid << 20, w->s->now, &order);
    int p = model_take(w->m, order.id);

    if ((rv == APR_SUCCESS) != (p >= 0))
        return steps_differ(w, "order", rv == APR_SUCCESS, p);
    if (p >= 0 && strcmp(order.name, w->s->apps[w->m->processes[p].group].name))
        return steps_differ(w, "order of a group", order.name[0],
                            w->m->processes[p].group);
    return 1;
}

typedef apr_status_t verb_t(apl_pool_t *pool, uint64_t id, int64_t now);

static apr_status_t fail_start(apl_pool_t *pool, uint64_t id, int64_t now)
{
    return apl_supervise_failed(pool, id, 1, "no", now);
}

static apr_status_t detach(apl_pool_t *pool, uint64_t id, int64_t now)
{
    return apl_supervise_detach(pool, id, APL_EVENT_DETACHED, now);
}

/* A verb about a process in a state, on both sides. */
static int both(walk_t *w, m_state_t state, unsigned n, verb_t *verb,
                void (*model)(model_t *m, int process))
{
    int p = nth_process(w, state, n);
    apr_status_t rv;

    if (p < 0)
        return 1;
    rv = verb(&w->s->pool, w->m->processes[p].id, w->s->now);
    model(w->m, p);
    return rv == APR_SUCCESS || steps_differ(w, "status of a verb", rv, 0);
}

static int step_reap(walk_t *w)
{
    int i;

    for (i = 0; i < w->m->n_processes; i++) {
        m_process_t *p = &w->m->processes[i];

        if (p->state != M_LEAVING || p->sessions > 0)
            continue;
        if (apl_supervise_gone(&w->s->pool, p->id, w->s->now) != APR_SUCCESS)
            return steps_differ(w, "reap", i, 0);
        model_gone(w->m, i);
    }
    return 1;
}

static int step_owner_dies(walk_t *w, unsigned n)
{
    unsigned owner = n % OWNERS;
    apl_watch_t watch;
    uint32_t slot;
    int i;

    /* In the order of the pool's slots, as it goes through them. */
    for (slot = 1; slot < w->s->pool.n.sessions; slot++)
        for (i = 0; i < HOLDS; i++)
            if (w->holds[i].session >= 0 && w->holds[i].owner == (int)owner &&
                w->holds[i].hold.session == slot) {
                model_reclaim(w->m, w->holds[i].session);
                w->holds[i].session = -1;
            }
    if (apl_supervise_child(&w->s->pool, w->owners[owner], &watch) !=
            APR_SUCCESS ||
        apl_supervise_child_gone(&w->s->pool, &watch, w->s->now) != APR_SUCCESS)
        return steps_differ(w, "an owner's death", 0, 1);
    w->owners[owner] = scene_child(w->s);
    return 1;
}

static int step_tick(walk_t *w, unsigned n)
{
    int64_t next;

    w->s->now += n % 9 * MODEL_SECOND / 2;
    w->m->now = w->s->now;
    model_tick(w->m);
    return apl_supervise_tick(&w->s->pool, w->s->now, &next) == APR_SUCCESS;
}

static int step_restart(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS), rolling = n / 7 % 4 != 0;

    model_restart(w->m, g, rolling);
    return apl_supervise_restart(&w->s->pool, w->s->apps[g].name, rolling,
                                 w->s->now) == APR_SUCCESS;
}

static int step_limit(walk_t *w, unsigned n)
{
    apl_supervise_limits(&w->s->pool, 1 + n % 6, 1, w->s->now);
    if (w->m->max != 1 + n % 6)
        model_limit(w->m, 1 + n % 6);
    return 1;
}

int steps_do(walk_t *w, const step_t *step)
{
    unsigned n = step->what;

    switch (step->kind) {
    case ASK:
    case ASK_MORE:
        return step_ask(w, n);
    case POLL:
        return nth_hold(w, n) < 0 || poll_hold(w, nth_hold(w, n));
    case CLOSE:
        return step_end(w, n, M_CLOSE);
    case REFUSE:
        return step_end(w, n, M_REFUSED);
    case TAKE:
        return step_take(w);
    case READY:
    case READY_MORE:
        return both(w, M_STARTING, n, apl_supervise_ready, model_ready);
    case FAIL:
        return n % 4 || both(w, M_STARTING, n, fail_start, model_failed);
    case GONE:
        return both(w, n % 2 ? M_LIVE : M_LEAVING, n, apl_supervise_gone,
                    model_gone);
    case REAP:
        return step_reap(w);
    case DETACH:
        return both(w, M_LIVE, n, detach, model_detach);
    case OUTDATE:
        return n % 3 || both(w, n % 2 ? M_LIVE : M_STARTING, n / 6,
                             apl_supervise_outdate, model_outdate);
    case RESTART:
        return n % 5 || step_restart(w, n / 5);
    case TICK:
        return step_tick(w, n);
    case LIMIT:
        return n % 5 || step_limit(w, n / 5);
    default:
        return n % 10 || step_owner_dies(w, n / 10);
    }
}
