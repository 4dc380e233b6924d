/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/slots/group.h"

static const char *const words[KINDS] = {
    [ASK] = "ask",
    [LOOK] = "look",
    [POLL] = "poll",
    [GIVE_UP] = "give up",
    [CLOSE] = "close",
    [REFUSE] = "refuse",
    [LAST] = "last",
    [UNANSWERED] = "unanswered",
    [JOIN] = "join",
    [TAKE] = "take",
    [READY] = "ready",
    [FAIL] = "fail",
    [GONE] = "gone",
    [REAP] = "reap",
    [DETACH] = "detach",
    [OUTDATE] = "outdate",
    [ADOPT] = "adopt",
    [RESTART] = "restart",
    [TICK] = "tick",
    [LIMIT] = "limit",
    [REMOVE] = "remove",
    [CONFIGURE] = "configure",
    [TEAR] = "tear",
    [OWNER_DIES] = "owner dies",
    [ROLL] = "roll",
    [LATE] = "late",
    [CLOCK] = "clock",
    [KILL] = "kill",
    [UNKILLABLE] = "unkillable",
    [LONG_LIVED] = "long_lived",
    [DRAIN] = "drain",
    [TEMPLATE] = "template",
    [ABANDON] = "abandon",
    [ENDED] = "ended",
    [START] = "start",
};

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

uint32_t steps_slot(const walk_t *w, int group)
{
    const apl_app_t *a = &w->s->apps[group];

    return apl_group_index(&w->s->pool, a->key, a->name);
}

static void configure(walk_t *w)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    int g;

    for (g = 0; g < MODEL_GROUPS; g++) {
        apl_app_t *a = scene_app(w->s, names[g]);
        apl_options_t *o = &a->options;

        o->idle_time = (g + 1) * 3 * MODEL_SECOND;
        o->max_queue = 6;
        o->min_instances = g == 1;
        o->max_instances = g == 0 ? 3 : 0;
        o->max_requests = g == 2 ? 10 : 0;
        o->concurrency = g == 3 ? 3 : 1;
        o->global_queue = g != 2;
        o->hung_after = g == 1 ? 0 : (g + 1) * MODEL_SECOND;
        o->kill_after = g == 2 ? 0 : 3 * o->hung_after;
        o->spawn_if_under = (uint32_t)(3 - g);
        o->hung_extra = g != 3 ? 2 : 1;
        o->unkillable_stop = g == 0 ? 2 : 0;
        w->old[g] = *o;
        apl_configure_group(&w->s->pool, a, 1, w->s->now);
        model_configure(w->m, g, steps_slot(w, g), o, 1);
    }
}

void steps_begin(walk_t *w)
{
    int i;

    memset(w, 0, sizeof *w);
    w->s = scene_new(4);
    w->s->pool.n.processes = 1 + MODEL_PROCESSES;
    w->m = calloc(1, sizeof *w->m);
    w->m->max = 4;
    w->clock = w->m->now = w->s->now;
    w->m->clock = 1 << 16; /* above all numbers of slots */
    w->config = 1;
    w->owners[0] = w->s->pool.self;
    for (i = 1; i < OWNERS; i++)
        w->owners[i] = scene_child(w->s);
    configure(w);
}

void steps_end(walk_t *w)
{
    scene_drop(w->s);
    free(w->m);
}

/* ---- steps of httpd's children ---- */

void steps_drop(walk_t *w, int hold)
{
    w->late_owner = w->holds[hold].owner;
    w->late = w->holds[hold].hold;
    w->holds[hold].used = 0;
}

/* What a child saw. Now and then it was slow, or saw an old file. */
static void see(const walk_t *w, int group, unsigned n, m_look_t *seen,
                apl_restart_seen_t *look)
{
    const apl_group_t *g = &w->s->pool.groups[steps_slot(w, group)];

    *seen = (m_look_t){.stale = n % 5 == 0 && g->stamp_seq != 0,
                       .file = n / 5 % 4 == 0 ? M_NO_FILE : 2 + n / 160 % 3,
                       .always = n / 20 % 8 == 0};
    memset(look, 0, sizeof *look);
    look->seq = g->stamp_seq - (uint32_t)seen->stale;
    look->stamp.file = seen->file;
    look->stamp.always = (uint32_t)seen->always;
}

static int step_ask(walk_t *w, unsigned n, int looks)
{
    int g = (int)(n % MODEL_GROUPS), i;
    apl_app_t app = w->s->apps[g];
    apl_session_ref_t *h;
    apl_restart_seen_t look;
    m_look_t seen;
    apr_status_t rv, expected;

    for (i = 0; i < HOLDS && w->holds[i].used; i++)
        ;
    if (i == HOLDS)
        return 1;
    h = &w->holds[i].hold;
    w->holds[i].owner = (int)(n / 7 % OWNERS);
    scene_be(w->s, w->owners[w->holds[i].owner]);
    if (n / 21 % 8 == 0) /* a child of the last configuration */
        app.options = w->old[g];
    see(w, g, n / 168, &seen, &look);
    rv = apl_checkout(&w->s->pool, h, &app, NULL, looks ? &look : NULL,
                      w->s->now);
    expected = model_checkout(w->m, i, g, steps_slot(w, g), &app.options,
                              looks ? &seen : NULL);
    if (rv != expected)
        return steps_differ(w, "status of checkout", rv, expected);
    if (rv == APL_EBACKOFF &&
        h->retry_after != w->m->groups[g].retry_at - w->m->now)
        return steps_differ(w, "time to the next try", (long)h->retry_after,
                            (long)(w->m->groups[g].retry_at - w->m->now));
    if (rv == APR_SUCCESS && h->id != w->m->sessions[i].id)
        return steps_differ(w, "process", (long)h->id,
                            (long)w->m->sessions[i].id);
    w->holds[i].used = rv == APR_SUCCESS || rv == APL_EWAIT;
    return 1;
}

/* A hold in use, from the n-th on; its owner is the one that acts. -1: none. */
static int nth_hold(walk_t *w, unsigned n)
{
    unsigned i;

    for (i = 0; i < HOLDS; i++)
        if (w->holds[(n + i) % HOLDS].used &&
            w->holds[(n + i) % HOLDS].owner >= 0) {
            i = (n + i) % HOLDS;
            scene_be(w->s, w->owners[w->holds[i].owner]);
            return (int)i;
        }
    return -1;
}

static int step_poll(walk_t *w, unsigned n)
{
    int i = nth_hold(w, n);
    apl_session_ref_t *h;
    apr_status_t rv, expected;

    if (i < 0)
        return 1;
    h = &w->holds[i].hold;
    rv = apl_checkout_poll(&w->s->pool, h, w->s->now);
    expected = model_poll(w->m, i);
    if (rv != expected)
        return steps_differ(w, "status of poll", rv, expected);
    if (rv == APR_SUCCESS && h->id != w->m->sessions[i].id)
        return steps_differ(w, "process handed off", (long)h->id,
                            (long)w->m->sessions[i].id);
    w->holds[i].used = rv == APR_SUCCESS || rv == APL_EWAIT;
    return 1;
}

static int step_end(walk_t *w, unsigned n, m_end_t how)
{
    static void (*const verbs[])(apl_pool_t *, apl_session_ref_t *, int64_t) = {
        [M_CLOSE] = apl_checkin,
        [M_LAST] = apl_checkin_last,
        [M_UNANSWERED] = apl_checkin_unanswered,
        [M_REFUSED] = apl_checkin_refused};
    int i = nth_hold(w, n);

    if (i < 0)
        return 1;
    /* Few leave while they wait. */
    if (w->m->sessions[i].state != S_OPEN && (how != M_CLOSE || n / 64 % 8))
        return step_poll(w, n);
    steps_drop(w, i);
    verbs[how](&w->s->pool, &w->holds[i].hold, w->s->now);
    model_end(w->m, i, how);
    return 1;
}

static int step_late(walk_t *w)
{
    apl_session_ref_t copy = w->late;

    scene_be(w->s, w->owners[w->late_owner]);
    apl_checkin(&w->s->pool, &copy, w->s->now);
    return 1;
}

static int step_give_up(walk_t *w, unsigned n)
{
    int i = nth_hold(w, n);
    apr_status_t rv, expected;

    if (i < 0)
        return 1;
    rv = apl_checkout_wait(&w->s->pool, &w->holds[i].hold, 0, NULL, NULL);
    expected = model_poll(w->m, i);
    if (expected == APL_EWAIT) {
        model_end(w->m, i, M_CLOSE);
        expected = APL_ETIMEOUT;
    }
    w->holds[i].used = expected == APR_SUCCESS;
    return rv == expected || steps_differ(w, "status of wait", rv, expected);
}

static int step_join(walk_t *w, unsigned n)
{
    int owner = (int)(n % OWNERS), i;

    scene_be(w->s, w->owners[owner]);
    apl_child_unregister(&w->s->pool);
    for (i = 0; i < HOLDS; i++)
        if (w->holds[i].used && w->holds[i].owner == owner)
            return 1; /* it cannot go yet */
    w->owners[owner] = scene_child(w->s);
    return 1;
}

static int do_step(walk_t *w, kind_t kind, unsigned n)
{
    switch (kind) {
    case ASK:
    case LOOK:
        return step_ask(w, n, kind == LOOK);
    case POLL:
        return step_poll(w, n);
    case GIVE_UP:
        return step_give_up(w, n);
    case CLOSE:
        return step_end(w, n, M_CLOSE);
    case REFUSE:
        return step_end(w, n, M_REFUSED);
    case LAST:
        return step_end(w, n, M_LAST);
    case UNANSWERED:
        return step_end(w, n, M_UNANSWERED);
    case LATE:
        return step_late(w);
    case JOIN:
        return step_join(w, n);
    default:
        return steps_spawner(w, kind, n);
    }
}

int steps_served(walk_t *w, unsigned i)
{
    if (!w->holds[i].used || w->holds[i].owner < 0 ||
        w->m->sessions[i].state != S_OPEN)
        return 0;
    scene_be(w->s, w->owners[w->holds[i].owner]);
    return 1;
}

/* Abandoned ones end with their process, or when the spawner says so. */
static void drop_ended(walk_t *w)
{
    int i;

    for (i = 0; i < HOLDS; i++)
        if (w->holds[i].owner < 0 && w->m->sessions[i].state == S_FREE)
            w->holds[i].used = 0;
}

int steps_do(walk_t *w, const step_t *step)
{
    unsigned late = step->what >> 27 == 0 ? step->what >> 22 & 31 : 0;

    /* The first process that reads the clock is not always the first that has
     * the lock. */
    w->clock += 5;
    w->m->now = w->s->now = w->clock - late;
    if (!do_step(w, step->kind, step->what))
        return 0;
    drop_ended(w);
    return steps_same(w, step->kind);
}
