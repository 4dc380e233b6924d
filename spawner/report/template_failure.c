/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/verbs/group_start.h"
#include "spawner/report/reports.h"
#include "spawner/process/state.h"
#include "spawner/process/fork_order.h"
#include "spawner/output/output.h"
#include "base/contract.h"

#define ROW 2 /* failures: no template is loaded any more */

/* The failures of one app. */
typedef struct note {
    struct note *next;
    char app[APL_NAME_MAX];
    uint64_t code, print; /* of this code and configuration */
    int preload;          /* CONTRACT_PRELOAD_*, by then */
    int failures;         /* in a row */
} note_t;

static note_t *notes;

static note_t *find(const char *app)
{
    note_t *n;

    for (n = notes; n; n = n->next)
        if (strcmp(n->app, app) == 0)
            return n;
    return NULL;
}

/* @return NULL: no memory */
static note_t *find_or_add(const char *app)
{
    note_t *n = find(app);

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

/* @return 1: there is no template any more; 0 */
static int count(const process_t *t, int failures)
{
    note_t *n = find_or_add(t->is.name);

    if (!n)
        return 0;
    if (n->code != t->template.code || n->print != t->is.print ||
        n->preload != t->template.preload)
        n->failures = 0;
    n->code = t->template.code;
    n->print = t->is.print;
    n->preload = t->template.preload;
    n->failures += failures;
    return n->failures >= ROW;
}

int template_failure_forbids(const app_entry_t *a, uint64_t code)
{
    const note_t *n = find(a->app.name);

    return n && n->failures >= ROW && n->code == code && n->print == a->print &&
           n->preload == a->preload;
}

void template_failure_row_ends(const char *app)
{
    note_t *n = find(app);

    if (n && n->failures < ROW)
        n->failures = 0;
}

void template_failure_sweep(const spawner_t *s)
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

/* ---- what follows ---- */

static void log_failure(const app_entry_t *a, int level, int is_last,
                        const char *why)
{
    app_log_about(
        a, level, "%s: no template, its command is executed%s: %s", a->label,
        is_last ? " until its code or its configuration changes" : "", why);
}

static int refuses(const process_t *t)
{
    return t->gone && t->end.cause.si_code == CLD_EXITED &&
           t->end.cause.si_status == FORK_ORDER_REFUSES;
}

/* The files show no command of a template. */
static int has_none(const process_t *t)
{
    return t->start.step == START_STEP_COMMAND && !t->start.command;
}

/* With AppPreload auto, most apps have files for which there is no template. If
 * something else keeps a template from its command, the log says so about the
 * process that is executed. */
static int is_quiet(const process_t *t, const app_entry_t *a)
{
    return a->preload == CONTRACT_PRELOAD_AUTO && !t->start.command;
}

/* If not, the starts that wait will have another one loaded. */
static int is_current(spawner_t *s, const process_t *t, const app_entry_t *a)
{
    apl_template_need_t need;

    return t->is.print == a->print &&
           (apl_template_need(&s->shm, t->is.name, &need) != APR_SUCCESS ||
            t->template.code == need.code);
}

void template_failure_to_load(spawner_t *s, const process_t *t)
{
    const app_entry_t *a = app_table_find(s->table, t->is.name);
    int is_last = count(t, refuses(t) || has_none(t) ? ROW : 1);
    char why[START_FAILURE_MAX];
    process_t *p;

    if (!a || !is_current(s, t, a))
        return;
    start_failure_brief(t, why, sizeof why);
    if (!is_quiet(t, a))
        log_failure(a, refuses(t) ? LOG_NOTICE : LOG_WARN, is_last, why);
    for (p = s->processes; p; p = p->next)
        if (p->forking.state == FORKING_WAITS && p->phase == PHASE_BOOTING &&
            !p->gone && strcmp(p->is.name, t->is.name) == 0)
            p->forking.state = FORKING_EXECUTE;
    state_wake(s, s->now);
}

int template_failure_when_ready(const spawner_t *s, const process_t *t)
{
    const app_entry_t *a = app_table_find(s->table, t->is.name);
    int is_last = count(t, 1);

    if (is_last && a)
        log_failure(a, LOG_WARN, is_last, "templates failed twice in a row");
    return is_last;
}
