/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/life/template_failure.h"

#include <string.h>

#include "shm/verbs/template.h"
#include "spawner/child/start_step.h"
#include "spawner/life/fork_order.h"
#include "spawner/life/phase.h"
#include "spawner/life/template_note.h"
#include "spawner/output/app_log.h"
#include "spawner/output/output.h"
#include "spawner/shared/contract.h"
#include "spawner/state/process.h"

int template_failure_means(int step, int code, int executed)
{
    if (step < START_STEP_COMMAND)
        return TEMPLATE_FAILURE_AGAIN;
    if (step == START_STEP_BOOT && code == FORK_ORDER_BROKEN && !executed)
        return TEMPLATE_FAILURE_BROKEN;
    return TEMPLATE_FAILURE_REFUSED;
}

static int exit_code(const process_t *t)
{
    return t->gone && t->end.cause.si_code == CLD_EXITED
               ? t->end.cause.si_status
               : -1;
}

/* SIGKILL and SIGTERM come from others: where memory is short, from the
 * kernel. */
static int loading_ended_it(const process_t *t)
{
    const siginfo_t *end = &t->end.cause;

    if (!t->gone || !t->template.loading)
        return 0;
    if (end->si_code == CLD_EXITED)
        return end->si_status != FORK_ORDER_REFUSES;
    return (end->si_code == CLD_KILLED || end->si_code == CLD_DUMPED) &&
           end->si_status != SIGKILL && end->si_status != SIGTERM;
}

/* Does a process serve that has loaded this code by itself, after a template
 * had said that it does not load? */
static int is_executed(const spawner_t *s, const process_t *t)
{
    const template_note_t *n = template_note_find(t->is.name);
    const process_t *p;

    if (!n || n->broken_at == 0 || n->code != t->template.code ||
        n->print != t->is.print)
        return 0;
    for (p = s->processes; p; p = p->next)
        if (!state_is_template(p) && p->phase == PHASE_LIVE && !p->gone &&
            p->is.template_id == 0 && p->is.began > n->broken_at &&
            p->is.print == t->is.print && strcmp(p->is.name, t->is.name) == 0)
            return 1;
    return 0;
}

/* ---- the starts that wait ---- */

/* The template was what has failed to start. So the log and the error page say
 * what is known of it. */
static void fail_like(spawner_t *s, process_t *p, const process_t *t)
{
    p->forking.state = FORKING_NOT;
    p->gone = 1;
    process_started_as(p, t);
    output_copy_tail(&p->output, &t->output);
    phase_fail(s, p, t->start.step, "%s", t->start.failure);
}

static void end_waiting(spawner_t *s, const process_t *t, int fail)
{
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        if (p->forking.state != FORKING_WAITS || p->phase != PHASE_BOOTING ||
            p->gone || strcmp(p->is.name, t->is.name) != 0)
            continue;
        if (fail)
            fail_like(s, p, t);
        else
            p->forking.state = FORKING_EXECUTE;
    }
    state_wake(s, s->now);
}

/* With AppPreload auto, most apps have files for which there is no template. If
 * something else keeps a template from its command, the log says so about the
 * process that is executed. */
static int is_quiet(const process_t *t, const app_entry_t *a)
{
    return a->preload == CONTRACT_PRELOAD_AUTO && !t->start.command;
}

static void log_failure(const app_entry_t *a, const process_t *t)
{
    app_log_about(a, exit_code(t) == FORK_ORDER_REFUSES ? LOG_NOTICE : LOG_WARN,
                  "%s: no template, its command is executed: %s", a->label,
                  t->start.failure);
}

/* If not, the starts that wait will have another one loaded. */
static int is_current(spawner_t *s, const process_t *t, const app_entry_t *a)
{
    apl_template_need_t need;

    return t->is.print == a->print &&
           (apl_template_need(&s->shm, t->is.name, &need) != APR_SUCCESS ||
            t->template.code == need.code);
}

void template_failure_note(spawner_t *s, process_t *t)
{
    const app_entry_t *a = app_table_find(s->table, t->is.name);
    int code = loading_ended_it(t) ? FORK_ORDER_BROKEN : exit_code(t);
    int means = template_failure_means(t->start.step, code, is_executed(s, t));

    if (means == TEMPLATE_FAILURE_BROKEN)
        template_note_broken(t, s->now);
    else if (means == TEMPLATE_FAILURE_REFUSED)
        template_note_refuse(t);
    if (!a || !is_current(s, t, a))
        return;
    if (means != TEMPLATE_FAILURE_BROKEN && !is_quiet(t, a))
        log_failure(a, t);
    end_waiting(s, t, means == TEMPLATE_FAILURE_BROKEN);
}
