/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Steps of the clock, and their consequences. */

#include "shm/verbs/timeouts.h"
#include "tests/unit/support/steps.h"

static int step_clock(walk_t *w, unsigned n)
{
    apl_session_peek_t overdue[MODEL_PROCESSES];
    unsigned pool, model;

    w->clock += n % 9 * MODEL_SECOND / 4;
    w->m->now = w->s->now = w->clock;
    pool = apl_timeouts_find(&w->s->pool, w->s->now, overdue, MODEL_PROCESSES);
    model = model_clock(w->m);
    return pool == model || steps_differ(w, "overdue ones", pool, model);
}

static int step_kill(walk_t *w, unsigned n)
{
    int p = steps_nth(w, n % 4 ? M_LIVE : M_LEAVING, n / 4);
    apr_status_t rv, expected;

    if (p < 0)
        return 1;
    rv = apl_timeouts_kill(&w->s->pool, w->m->processes[p].id, 0, w->s->now);
    expected = model_kill(w->m, p);
    return rv == expected || steps_differ(w, "kill", rv, expected);
}

static int step_unkillable(walk_t *w, unsigned n)
{
    int p = steps_nth(w, M_LEAVING, n);
    apr_status_t rv, expected;

    if (p < 0)
        return 1;
    rv = apl_timeouts_mark_unkillable(&w->s->pool, w->m->processes[p].id,
                                      w->s->now);
    expected = model_unkillable(w->m, p);
    return rv == expected || steps_differ(w, "unkillable", rv, expected);
}

static int step_long_lived(walk_t *w, unsigned n)
{
    unsigned i = n % HOLDS;

    if (!steps_served(w, i))
        return 1;
    apl_checkout_set_long_lived(&w->s->pool, &w->holds[i].hold,
                                APL_LONG_LIVED_RESPONSE);
    w->m->sessions[i].long_lived = 1;
    return 1;
}

static int step_abandon(walk_t *w, unsigned n)
{
    unsigned i = n % HOLDS;
    apl_session_ref_t hold = w->holds[i].hold;

    if (!steps_served(w, i))
        return 1;
    w->late = hold;
    w->late_owner = w->holds[i].owner;
    apl_checkin_abandon(&w->s->pool, &hold, w->s->now);
    if (model_abandon(w->m, (int)i))
        w->holds[i].owner = -1;
    else
        w->holds[i].used = 0;
    return 1;
}

static int step_ended(walk_t *w, unsigned n)
{
    int p = steps_nth(w, n % 4 ? M_LIVE : M_LEAVING, n / 4);
    apr_status_t rv, expected;

    if (p < 0)
        return 1;
    rv = apl_timeouts_end_abandoned(&w->s->pool, w->m->processes[p].id,
                                    1 + n / 64 % 3, w->s->now);
    expected = model_ended(w->m, p, 1 + n / 64 % 3);
    return rv == expected || steps_differ(w, "ended", rv, expected);
}

int steps_clock(walk_t *w, kind_t kind, unsigned n)
{
    switch (kind) {
    case CLOCK:
        return step_clock(w, n);
    case KILL:
        return step_kill(w, n);
    case UNKILLABLE:
        return step_unkillable(w, n);
    case ABANDON:
        return step_abandon(w, n);
    case ENDED:
        return step_ended(w, n);
    default:
        return step_long_lived(w, n);
    }
}
