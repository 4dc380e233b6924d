/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/life/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/verbs/template.h"
#include "spawner/common/random.h"
#include "spawner/life/fork_order.h"
#include "spawner/life/phase.h"
#include "spawner/output/app_log.h"
#include "spawner/state/process.h"
#include "spawner/upkeep/apply_table.h"

#define DEATHS       3 /* within a PERIOD */
#define PERIOD       (60 * SECOND)
#define MISSES       2 /* in a row */
#define TELL_AGAIN   SECOND
#define NO_SLOT_MASK ((uint64_t)0xffff)

/* What has to be remembered of the templates of an app. */
typedef struct note {
    struct note *next;
    char app[APL_NAME_MAX];
    int refused; /* none is loaded for this code and configuration */
    uint64_t code, print;
    int64_t deaths[DEATHS]; /* us: of templates that were ready, as a ring */
    unsigned died;
} note_t;

static note_t *notes;

/* ---- which one ---- */

int template_choose(const template_case_t *known)
{
    if (!known->wanted ||
        (known->refused && known->refused_code == known->code &&
         known->refused_print == known->print))
        return TEMPLATE_EXECUTE;
    if (!known->exists || known->its_code != known->code ||
        known->its_print != known->print)
        return TEMPLATE_LOAD;
    return known->ready ? TEMPLATE_FORK : TEMPLATE_WAIT;
}

static note_t *find_note(const char *app)
{
    note_t *n;

    for (n = notes; n; n = n->next)
        if (strcmp(n->app, app) == 0)
            return n;
    return NULL;
}

/* @return NULL: no memory */
static note_t *note_of(const char *app)
{
    note_t *n = find_note(app);

    if (n)
        return n;
    n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    snprintf(n->app, sizeof n->app, "%s", app);
    n->next = notes;
    notes = n;
    return n;
}

static int is_current(const process_t *p)
{
    return state_is_template(p) && p->phase <= PHASE_LIVE && !p->gone &&
           !p->done;
}

static process_t *find(const spawner_t *s, const char *app)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (is_current(p) && strcmp(p->is.name, app) == 0)
            return p;
    return NULL;
}

int template_for(spawner_t *s, const app_entry_t *a, process_t **t)
{
    const note_t *n = find_note(a->app.name);
    process_t *its = a->preload ? find(s, a->app.name) : NULL;
    template_case_t known = {.wanted = a->preload, .print = a->print};
    apl_template_need_t need;

    *t = its;
    if (!a->preload ||
        apl_template_need(&s->shm, a->app.name, &need) != APR_SUCCESS)
        return TEMPLATE_EXECUTE;
    known.wanted = need.usable;
    known.code = need.code;
    if (n) {
        known.refused = n->refused;
        known.refused_code = n->code;
        known.refused_print = n->print;
    }
    if (its) {
        known.exists = 1;
        known.ready = its->phase == PHASE_LIVE;
        known.its_code = its->template.code;
        known.its_print = its->is.print;
    }
    return template_choose(&known);
}

process_t *template_find(const spawner_t *s, uint64_t id)
{
    process_t *t = process_find(s, id);

    return t && is_current(t) && t->phase == PHASE_LIVE ? t : NULL;
}

/* ---- what the status says ---- */

static void tell(spawner_t *s, const process_t *t)
{
    const apl_template_t is = {.pid = t->is.pid,
                               .state = t->phase == PHASE_LIVE
                                            ? APL_TEMPLATE_READY
                                            : APL_TEMPLATE_LOADING,
                               .started = t->is.began,
                               .forked = t->template.forked};

    apl_template_tell(&s->shm, t->is.name, &is);
}

static void tell_end(spawner_t *s, const process_t *t)
{
    static const apl_template_t none;
    const process_t *other = find(s, t->is.name);

    if (other)
        tell(s, other);
    else
        apl_template_tell(&s->shm, t->is.name, &none);
}

/* ---- its life ---- */

process_t *template_new(spawner_t *s, const app_entry_t *a)
{
    apl_template_need_t need;
    process_t *t, *old = find(s, a->app.name);

    if (apl_template_need(&s->shm, a->app.name, &need) != APR_SUCCESS)
        return NULL;
    if (old)
        phase_stop(s, old, "its code or its configuration changed");
    /* The low bits are those of a slot, which it has not. */
    t = process_new(s, random_id() & ~NO_SLOT_MASK, a->app.name);
    if (!t)
        return NULL;
    t->is.kind = REGISTRY_TEMPLATE;
    t->template.code = need.code;
    return t;
}

/* For this code and this configuration there is no template any more. */
static void refuse(const process_t *t)
{
    note_t *n = note_of(t->is.name);

    if (!n)
        return;
    n->refused = 1;
    n->code = t->template.code;
    n->print = t->is.print;
}

static void is_ready(spawner_t *s, process_t *t)
{
    t->phase = PHASE_LIVE;
    t->deadline = 0;
    t->has_stayed = 1; /* a start of the app is a success without it */
    t->live_since = t->template.used_at = s->now;
    process_record(t, REGISTRY_LIVE);
    app_log(t, LOG_INFO, "ready after %.2f s",
            (double)(s->now - t->is.began) / 1e6);
    tell(s, t);
}

static int refuses(const process_t *t)
{
    return t->gone && t->end.cause.si_code == CLD_EXITED &&
           t->end.cause.si_status == FORK_ORDER_REFUSES;
}

static void note_failure(spawner_t *s, process_t *t)
{
    const app_entry_t *a = app_table_find(s->table, t->is.name);

    t->template.noted = 1;
    refuse(t);
    tell_end(s, t);
    if (a)
        app_log_about(a, refuses(t) ? LOG_NOTICE : LOG_WARN,
                      "%s: no template, its command is executed: %s", a->label,
                      t->start.failure);
}

/* What could not even be forked is gone before the next tick. */
void template_has_begun(spawner_t *s, process_t *t)
{
    if (is_current(t))
        tell(s, t);
    else if (t->start.failure)
        note_failure(s, t);
}

static void note_death(spawner_t *s, process_t *t)
{
    note_t *n = note_of(t->is.name);
    int64_t oldest;

    t->template.noted = 1;
    tell_end(s, t);
    if (!n)
        return;
    n->deaths[n->died++ % DEATHS] = s->now;
    oldest = n->deaths[n->died % DEATHS];
    if (oldest == 0 || s->now - oldest > PERIOD)
        return;
    memset(n->deaths, 0, sizeof n->deaths);
    refuse(t);
    app_log(t, LOG_WARN,
            "was the last one of %d that died within %d s: no template, its "
            "command is executed",
            DEATHS, (int)(PERIOD / SECOND));
}

void template_has_forked(spawner_t *s, process_t *t)
{
    t->template.forked++;
    t->template.used_at = s->now;
    t->template.missed = 0;
    tell(s, t);
}

void template_has_missed(spawner_t *s, process_t *t)
{
    if (++t->template.missed < MISSES)
        return;
    phase_end_now(s, t, "it forked no process, twice in a row");
    tell_end(s, t);
}

void template_has_lied(spawner_t *s, process_t *t, pid_t pid, const char *what)
{
    char text[160];

    if (pid > 0)
        snprintf(text, sizeof text,
                 "it said that it forked process %d, which %s", (int)pid, what);
    else
        snprintf(text, sizeof text, "%s", what);
    refuse(t);
    phase_end_now(s, t, text);
    tell_end(s, t);
}

/* ---- its end ---- */

/* Processes of the app that serve, or will. */
static int count_processes(const spawner_t *s, const char *app)
{
    const process_t *p;
    int n = 0;

    for (p = s->processes; p; p = p->next)
        n += !state_is_template(p) && !p->gone && !p->done &&
             p->phase <= PHASE_LIVE && strcmp(p->is.name, app) == 0;
    return n;
}

static int is_idle(spawner_t *s, const process_t *t, const app_entry_t *a)
{
    int64_t until = t->template.used_at + a->preload_idle;

    if (a->preload_idle == 0 || t->phase != PHASE_LIVE)
        return 0;
    if (s->now < until) {
        state_wake(s, until);
        return 0;
    }
    return count_processes(s, t->is.name) < 2;
}

/* @return NULL: it stays */
static const char *why_it_ends(spawner_t *s, const process_t *t)
{
    const app_entry_t *a = app_table_find(s->table, t->is.name);
    apl_template_need_t need;

    if (!a)
        return "its app is not configured any more";
    if (!a->preload)
        return "AppPreload is Off now";
    if (apply_table_is_outdated(t, a))
        return "its configuration changed";
    if (s->damaged_at > t->is.began)
        return "the pool was damaged, so it is not known whether its code is "
               "the present one";
    if (apl_template_need(&s->shm, t->is.name, &need) == APR_SUCCESS) {
        if (!need.usable)
            return "its app has no use for it now";
        if (need.code != t->template.code)
            return "its code changed";
    }
    return is_idle(s, t, a) ? "nothing was forked for AppPreloadIdleTime"
                            : NULL;
}

static void check(spawner_t *s, process_t *t)
{
    const char *why;

    if (t->adopted_at != 0)
        tell_end(s, t); /* the figures are those of the last spawner */
    if (t->template.noted)
        return;
    if (t->start.failure)
        note_failure(s, t);
    else if (t->gone && t->phase == PHASE_LIVE)
        note_death(s, t);
    else if (is_current(t)) {
        if (t->phase == PHASE_BOOTING && t->is.says_ready)
            is_ready(s, t);
        why = why_it_ends(s, t);
        if (why) {
            phase_stop(s, t, why);
            tell_end(s, t);
        }
    }
}

/* Apps that are not configured any more. */
static void forget_notes(const spawner_t *s)
{
    note_t **at = &notes, *n;

    while ((n = *at) != NULL)
        if (app_table_find(s->table, n->app))
            at = &n->next;
        else {
            *at = n->next;
            free(n);
        }
}

void template_tick(spawner_t *s)
{
    static int64_t again;
    int due = s->now >= again;
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (!state_is_template(p))
            continue;
        check(s, p);
        if (due && is_current(p)) /* damage may have changed it */
            tell(s, p);
    }
    if (due) {
        forget_notes(s);
        again = s->now + TELL_AGAIN;
    }
}
