/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/template/template.h"

#include <stdio.h>
#include <string.h>

#include "shm/verbs/group_start.h"
#include "system/random.h"
#include "spawner/end/end.h"
#include "spawner/report/reports.h"
#include "spawner/process/process.h"
#include "spawner/control/control.h"
#include "spawner/output/output.h"

#define WRITE_AGAIN  SECOND
#define NO_SLOT_MASK ((uint64_t)0xffff)
#define OUTPUT_PAUSE SECOND /* between two looks whether a process is left */

/* ---- which one ---- */

int template_choose(const template_case_t *known)
{
    if (!known->wanted)
        return TEMPLATE_EXECUTE;
    if (!known->exists || known->its_code != known->code ||
        known->its_print != known->print)
        return TEMPLATE_LOAD;
    return known->ready ? TEMPLATE_FORK : TEMPLATE_WAIT;
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
    process_t *its = a->preload ? find(s, a->app.name) : NULL;
    template_case_t known = {.print = a->print};
    apl_template_need_t need;

    *t = its;
    if (!a->preload ||
        apl_template_need(&s->shm, a->app.name, &need) != APR_SUCCESS)
        return TEMPLATE_EXECUTE;
    known.wanted = need.usable && !template_failure_forbids(a, need.code);
    known.code = need.code;
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

static void write_figures(spawner_t *s, const process_t *t)
{
    const apl_template_t is = {.pid = t->is.pid,
                               .state = t->phase == PHASE_LIVE
                                            ? APL_TEMPLATE_READY
                                            : APL_TEMPLATE_LOADING,
                               .started = t->is.began,
                               .forked = t->template.forked,
                               .code = t->template.code,
                               .stamp = t->is.stamp};

    apl_template_write(&s->shm, t->is.name, &is);
}

static void write_end(spawner_t *s, const process_t *t)
{
    static const apl_template_t none;
    const process_t *other = find(s, t->is.name);

    if (other)
        write_figures(s, other);
    else
        apl_template_write(&s->shm, t->is.name, &none);
}

/* ---- its life ---- */

/* At most one template of an app may take its time to end. So restarts in a row
 * do not fill the memory with templates that ignore SIGTERM. The list has the
 * youngest first. */
static void end_older(spawner_t *s, const char *app)
{
    process_t *p;
    int n = 0;

    for (p = s->processes; p; p = p->next)
        if (state_is_template(p) && p->phase == PHASE_ENDING && !p->gone &&
            strcmp(p->is.name, app) == 0 && n++ > 0)
            phase_end_now(s, p, "a younger one has to end, too");
}

process_t *template_new(spawner_t *s, const app_entry_t *a)
{
    apl_template_need_t need;
    process_t *t, *old = find(s, a->app.name);

    if (apl_template_need(&s->shm, a->app.name, &need) != APR_SUCCESS)
        return NULL;
    if (old)
        phase_stop(s, old, "its code or its configuration changed");
    end_older(s, a->app.name);
    /* The low bits would name a slot, but a template has none. */
    t = process_new(s, random_id() & ~NO_SLOT_MASK, a->app.name);
    if (!t)
        return NULL;
    t->is.kind = REGISTRY_TEMPLATE;
    t->template.code = need.code;
    t->template.preload = a->preload;
    return t;
}

static void is_ready(spawner_t *s, process_t *t)
{
    t->phase = PHASE_LIVE;
    t->deadline = 0;
    t->has_stayed = 1; /* the app can start without the template */
    t->live_since = t->template.used_at = s->now;
    process_record(t, REGISTRY_LIVE);
    app_log(t, LOG_INFO, "ready after %.2f s",
            (double)(s->now - t->is.began) / 1e6);
    write_figures(s, t);
}

static void note_failure(spawner_t *s, process_t *t)
{
    t->template.noted = 1;
    write_end(s, t);
    template_failure_to_load(s, t);
}

/* A template that could not even be forked is gone before the next tick. */
void template_has_begun(spawner_t *s, process_t *t)
{
    if (is_current(t))
        write_figures(s, t);
    else if (t->start.failure)
        note_failure(s, t);
}

/* Starts at one time fail together, and a template that dies over an order has
 * failed once.
 * @return 1: it was the last one */
static int has_failed(const spawner_t *s, process_t *t)
{
    if (t->template.failed_at != 0 && s->now - t->template.failed_at < SECOND)
        return 0;
    t->template.failed_at = s->now;
    return template_failure_when_ready(s, t);
}

static void note_death(spawner_t *s, process_t *t)
{
    t->template.noted = 1;
    write_end(s, t);
    has_failed(s, t);
}

void template_has_forked(spawner_t *s, process_t *t)
{
    t->template.forked++;
    t->template.used_at = s->now;
    t->template.failed_at = 0;
    template_failure_row_ends(t->is.name);
    write_figures(s, t);
}

void template_has_missed(spawner_t *s, process_t *t)
{
    if (!has_failed(s, t))
        return;
    phase_end_now(s, t, "it forked no process");
    write_end(s, t);
}

void template_has_lied(spawner_t *s, process_t *t, pid_t pid, const char *what)
{
    char text[160];

    if (pid > 0)
        snprintf(text, sizeof text,
                 "it said that it forked process %d, which %s", (int)pid, what);
    else
        snprintf(text, sizeof text, "%s", what);
    phase_end_now(s, t, text);
    has_failed(s, t);
    write_end(s, t);
}

/* ---- its end ---- */

/* Count the processes of the app that serve or will serve. */
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
        write_end(s, t); /* the figures are those of the last spawner */
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
            write_end(s, t);
        }
    }
}

void template_tick(spawner_t *s)
{
    static int64_t again;
    int due = s->now >= again;
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (!state_is_template(p) || p->is.output_only)
            continue;
        check(s, p);
        if (due && is_current(p)) /* damage may have changed it */
            write_figures(s, p);
    }
    if (due) {
        template_failure_sweep(s);
        again = s->now + WRITE_AGAIN;
    }
}

/* ---- its output, when it has ended ---- */

static int has_forks(const spawner_t *s, const process_t *t)
{
    const process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->is.template_id == t->is.id && !p->done)
            return 1;
    return 0;
}

/* From here on, the end of the FIFO or of the last process is waited for. */
static int begin_to_keep(const spawner_t *s, process_t *t)
{
    if (!t->gone || !has_forks(s, t) || !output_read(t))
        return 0;
    t->is.output_only = 1;
    process_record(t, REGISTRY_ENDING);
    last_lines_forget(&t->output);
    app_log(t, LOG_INFO,
            "has ended, and a process that it has forked has its output open: "
            "that is read on");
    return 1;
}

int template_keeps_output(spawner_t *s, process_t *p)
{
    if (!state_is_template(p) || p->fifo.fd < 0)
        return 0;
    if (p->is.output_only && s->now < p->end.check_at && !s->stopping) {
        state_wake(s, p->end.check_at);
        return 1;
    }
    if (!(p->is.output_only ? has_forks(s, p) : begin_to_keep(s, p)))
        return 0;
    state_wake(s, p->end.check_at = s->now + OUTPUT_PAUSE);
    return 1;
}
