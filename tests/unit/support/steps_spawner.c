/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Steps of the spawner. */

#include "tests/unit/support/steps.h"

#include <string.h>

#include "shm/verbs/group_start.h"

/* ---- processes ---- */

/* A process that is made for so many requests at a time, and has seen this
 * restart.txt. */
static apl_start_t start_of(const walk_t *w, unsigned made_for, uint64_t stamp)
{
    apl_start_t start = scene_start(w->s->pid);

    start.wire.concurrency = made_for;
    start.stamp = stamp;
    return start;
}

/* Of the same files as in steps.c; M_UNKNOWN now and then. */
static uint64_t stamp_of(unsigned n)
{
    return n % 5;
}

static int step_take(walk_t *w, unsigned n)
{
    apl_order_t order;
    apl_start_t start;
    apr_status_t rv = apl_supervise_next_order(
        &w->s->pool, (uint64_t)++w->s->pid << 20, w->s->now, &order);
    int p = model_take(w->m, order.id);

    if ((rv == APR_SUCCESS) != (p >= 0))
        return steps_differ(w, "order", rv == APR_SUCCESS, p);
    if (p < 0)
        return 1;
    if (strcmp(order.name, w->s->apps[w->m->processes[p].group].name) != 0)
        return steps_differ(w, "order of a group", order.name[0],
                            w->m->processes[p].group);
    if (n % 8 == 0)
        return 1; /* now and then it cannot be forked */
    start = start_of(w, n / 8 % 4, stamp_of(n / 32));
    model_born(w->m, p, start.wire.concurrency, start.stamp);
    return apl_supervise_forked(&w->s->pool, order.id, &start, w->s->now) ==
           APR_SUCCESS;
}

int steps_nth(const walk_t *w, m_state_t state, unsigned n)
{
    unsigned total = 0;
    int i;

    for (i = 0; i < w->m->n_processes; i++)
        total += w->m->processes[i].state == state;
    if (total == 0)
        return -1;
    for (i = 0, n %= total; i < w->m->n_processes; i++)
        if (w->m->processes[i].state == state && n-- == 0)
            return i;
    return -1;
}

typedef apr_status_t verb_t(apl_pool_t *pool, uint64_t id, int64_t now);

static apr_status_t fail_start(apl_pool_t *pool, uint64_t id, int64_t now)
{
    return apl_supervise_failed(pool, id, 1, 1, "no", now);
}

static apr_status_t detach(apl_pool_t *pool, uint64_t id, int64_t now)
{
    return apl_supervise_detach(pool, id, APL_EVENT_DETACHED, now);
}

/* A verb about a process in a state, on both sides. */
static int both(walk_t *w, m_state_t state, unsigned n, verb_t *verb,
                void (*model)(model_t *m, int process))
{
    int p = steps_nth(w, state, n);
    apr_status_t rv;

    if (p < 0)
        return 1;
    rv = verb(&w->s->pool, w->m->processes[p].id, w->s->now);
    model(w->m, p);
    return rv == APR_SUCCESS || steps_differ(w, "status of a verb", rv, 0);
}

static int step_gone(walk_t *w, unsigned n)
{
    static const m_state_t dying[] = {M_LIVE, M_LEAVING, M_STARTING};

    return both(w, dying[n % 3], n / 3, apl_supervise_gone, model_gone);
}

static int step_reap(walk_t *w)
{
    int i;

    for (i = 0; i < w->m->n_processes; i++) {
        m_process_t *p = &w->m->processes[i];

        if (p->state != M_LEAVING || p->sessions > model_abandoned(w->m, i))
            continue;
        if (apl_supervise_gone(&w->s->pool, p->id, w->s->now) != APR_SUCCESS)
            return steps_differ(w, "reap", i, 0);
        model_gone(w->m, i);
    }
    return 1;
}

static int adopt(walk_t *w, int g, uint64_t id, unsigned made_for,
                 uint64_t stamp, int live)
{
    const apl_pool_t *pool = &w->s->pool;
    uint32_t slot = (uint32_t)(id & 0xffff);
    const apl_start_t start = start_of(w, made_for, stamp);
    int expected = w->m->groups[g].there && slot <= MODEL_PROCESSES &&
                   pool->processes[slot].state == APL_PROCESS_FREE;
    apr_status_t rv = apl_reconcile_adopt(&w->s->pool, id, &start,
                                          w->s->apps[g].name, live, w->s->now);

    if (expected)
        model_adopt(w->m, g, id, made_for, stamp, live);
    return rv == (expected ? APR_SUCCESS : APL_ESTALE) ||
           steps_differ(w, "adopt", rv, expected);
}

/* A process whose slot is lost is put back, with its requests; or an unknown
 * process. */
static int step_adopt(walk_t *w, unsigned n)
{
    int live = n / 2 % 2 != 0, p = steps_nth(w, M_LIVE, n / 4);
    const m_process_t lost = w->m->processes[p < 0 ? 0 : p];
    uint32_t slot = 1 + n / 16 % (w->s->pool.header->top_process + 2);

    if (n % 2 != 0)
        return adopt(w, (int)(n / 4 % MODEL_GROUPS),
                     (uint64_t)++w->s->pid << 20 | slot, n / 256 % 4,
                     stamp_of(n / 1024), live);
    return p < 0 ||
           (both(w, M_LIVE, n / 4, apl_supervise_gone, model_gone) &&
            adopt(w, lost.group, lost.id, lost.made_for, lost.stamp, live));
}

/* ---- groups and limits ---- */

static int step_tick(walk_t *w, unsigned n)
{
    int64_t next;

    w->clock += n % 9 * MODEL_SECOND / 2;
    w->m->now = w->s->now = w->clock;
    model_tick(w->m);
    return apl_housekeeping_tick(&w->s->pool, w->s->now, &next) == APR_SUCCESS;
}

static int step_drain(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS);
    const apl_app_t *a = &w->s->apps[g];
    apr_status_t rv = apl_admin_drain(&w->s->pool, a, w->s->now);

    model_drain(w->m, g, steps_slot(w, g), &a->options);
    return rv == APR_SUCCESS || steps_differ(w, "drain", rv, 0);
}

static int step_start(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS);
    const apl_app_t *a = &w->s->apps[g];
    apr_status_t rv = apl_admin_start(&w->s->pool, a, w->s->now);
    apr_status_t expected = model_start(w->m, g, steps_slot(w, g), &a->options);

    return rv == expected || steps_differ(w, "start", rv, expected);
}

static int step_restart(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS), rolling = (int)(n / 4 % 4) - 1;
    int there = w->m->groups[g].there;
    apr_status_t expected = !there                    ? APL_ESTALE
                            : w->m->groups[g].drained ? APL_EDRAINED
                                                      : APR_SUCCESS;
    apr_status_t rv =
        apl_admin_restart(&w->s->pool, w->s->apps[g].name, rolling, w->s->now);

    if (there)
        model_restart(w->m, g,
                      rolling < 0 ? w->m->groups[g].options.rolling != 0
                                  : rolling > 0);
    return rv == expected || steps_differ(w, "restart", rv, expected);
}

static int step_template(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS);
    apl_template_t is = {.pid = 4711,
                         .state = n / 4 % 4 ? APL_TEMPLATE_READY
                                            : APL_TEMPLATE_LOADING};
    apl_template_need_t need;

    if (!w->m->groups[g].there)
        return 1;
    if (apl_template_need(&w->s->pool, w->s->apps[g].name, &need) !=
        APR_SUCCESS)
        return steps_differ(w, "its template", 0, 1);
    is.code = need.code;
    is.stamp = stamp_of(n / 16);
    apl_template_write(&w->s->pool, w->s->apps[g].name, &is);
    model_template(w->m, g, is.state == APL_TEMPLATE_READY, is.stamp);
    return 1;
}

static int step_limit(walk_t *w, unsigned n)
{
    unsigned max = 1 + n % 6;
    int news = max != w->m->max || w->config != w->s->pool.header->config;

    apl_configure_limits(&w->s->pool, max, w->config, w->s->now);
    if (news)
        model_limit(w->m, max);
    return 1;
}

/* Another configuration of an app. The spawner learns of it, or the first
 * request of a new child brings it. */
static int step_configure(walk_t *w, unsigned n)
{
    static const uint32_t sessions[] = {1, APL_CONCURRENCY_AUTO, 3, 0},
                          queue[] = {6, 2, 0}, requests[] = {0, 2, 10};
    int g = (int)(n % MODEL_GROUPS);
    apl_options_t *o = &w->s->apps[g].options;
    int by_spawner = n / 4 % 2 != 0, prestart = n / 8 % 4 == 0;

    if (n / 32 % 4 != 0) {
        unsigned k = n / 128;

        w->old[g] = *o;
        o->config = ++w->config;
        o->min_instances = k % 4 % 3;
        o->max_instances = k / 4 % 4;
        o->max_requests = requests[k / 16 % 3];
        o->jitter = k / 5 % 3;
        o->concurrency = sessions[k / 48 % 4];
        o->global_queue = k / 192 % 3 != 0;
        o->max_queue = queue[k / 576 % 3];
        o->idle_time = k / 1728 % 4 * MODEL_SECOND;
        o->rolling = k / 6912 % 2;
        o->hung_after = k / 13824 % 3 * MODEL_SECOND;
        o->kill_after = k / 41472 % 3 * o->hung_after;
        o->spawn_if_under = k / 124416 % 4;
        o->hung_extra = k / 497664 % 3;
        o->unkillable_stop = k / 1492992 % 3;
    }
    if (!by_spawner)
        return 1;
    apl_configure_group(&w->s->pool, &w->s->apps[g], prestart, w->s->now);
    model_configure(w->m, g, steps_slot(w, g), o, prestart);
    return 1;
}

static int step_remove(walk_t *w, unsigned n)
{
    int g = (int)(n % MODEL_GROUPS), there = w->m->groups[g].there;
    apr_status_t rv =
        apl_configure_remove(&w->s->pool, w->s->apps[g].name, w->s->now);

    if (there)
        model_remove(w->m, g);
    return (rv == APR_SUCCESS) == there || steps_differ(w, "remove", rv, there);
}

int steps_spawner(walk_t *w, kind_t kind, unsigned n)
{
    switch (kind) {
    case TAKE:
        return step_take(w, n);
    case READY:
        return both(w, M_STARTING, n, apl_supervise_ready, model_ready);
    case FAIL:
        return both(w, M_STARTING, n, fail_start, model_failed);
    case GONE:
        return step_gone(w, n);
    case REAP:
        return step_reap(w);
    case DETACH:
        return both(w, n % 8 ? M_LIVE : M_STARTING, n / 8, detach,
                    model_detach);
    case OUTDATE:
        return both(w, n % 2 ? M_LIVE : M_STARTING, n / 2,
                    apl_supervise_outdate, model_outdate);
    case ADOPT:
        return step_adopt(w, n);
    case DRAIN:
        return step_drain(w, n);
    case START:
        return step_start(w, n);
    case RESTART:
        return step_restart(w, n);
    case TEMPLATE:
        return step_template(w, n);
    case TICK:
        return step_tick(w, n);
    case LIMIT:
        return step_limit(w, n);
    case CONFIGURE:
        return step_configure(w, n);
    case REMOVE:
        return step_remove(w, n);
    case CLOCK:
    case KILL:
    case UNKILLABLE:
    case LONG_LIVED:
    case ABANDON:
    case ENDED:
        return steps_clock(w, kind, n);
    default:
        return steps_death(w, kind, n);
    }
}
