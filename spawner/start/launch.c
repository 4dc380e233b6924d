/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/start/start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "spawner/report/reports.h"
#include "spawner/end/end.h"
#include "system/log.h"
#include "system/random.h"
#include "spawner/template/template.h"
#include "spawner/control/control.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"
#include "system/procfs.h"

#define AT_ONCE  8             /* maximum number of booting processes */
#define PATIENCE (10 * SECOND) /* a process that boots longer does not count */

static pid_t fork_app(spawner_t *s, process_t *p, const app_entry_t *app,
                      start_parts_t *x)
{
    boot_t boot = {.app = app,
                   .rt = &s->rt,
                   .instance = s->instance,
                   .helpers = s->helpers,
                   .id = p->is.id,
                   .is_template = state_is_template(p),
                   .port = p->is.wire.port,
                   .descriptors = s->descriptors,
                   .listener = x->listener,
                   .output = x->output,
                   .go = x->go[0],
                   .report = x->report[1]};
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    /* Only the spawner may hold the write end: its death must be seen as
     * EOF. */
    close(x->go[1]);
    boot_app(&boot);
}

/* The process gets into the registry, then into the segment, and then its
 * "go". */
static const char *let_go(spawner_t *s, process_t *p, const start_parts_t *x)
{
    apl_start_t start;
    procfs_t found;

    if (procfs_read(p->is.pid, &found) != 0)
        return "found";
    p->is.start = found.start;
    if (process_record(p, REGISTRY_BOOTING) != 0)
        return "registered";
    start = process_start(p);
    if (!state_is_template(p))
        apl_supervise_forked(&s->shm, p->is.id, &start, s->now);
    return write(x->go[1], "g", 1) == 1 ? NULL : "told to go";
}

static void launch(spawner_t *s, process_t *p, const app_entry_t *app)
{
    uint32_t unkillable = overdue_unkillable(s, app);
    start_parts_t x;
    const char *what;
    pid_t pid;

    if (unkillable > 0) {
        p->gone = 1;
        phase_fail(s, p, START_STEP_PREPARE,
                   "%u of its processes survive SIGKILL: more than "
                   "AppMaxUnkillable",
                   unkillable);
        return;
    }
    what = start_parts_make(s, p, &x, start_reports_ready);
    if (what) {
        int why = errno;

        p->gone = 1;
        phase_fail(s, p, START_STEP_PREPARE, "%s could not be made: %s", what,
                   strerror(why));
        start_parts_close(&x);
        return;
    }
    last_lines_keep(&p->output);
    pid = fork_app(s, p, app, &x);
    if (pid < 0) {
        int why = errno;

        p->gone = 1;
        phase_fail(s, p, START_STEP_PREPARE, "fork: %s", strerror(why));
        start_parts_close(&x);
        return;
    }
    process_forked(s, p, pid);
    what = let_go(s, p, &x);
    if (what)
        phase_fail(s, p, START_STEP_PREPARE,
                   "the new process could not be %s: %s (runtime directory: "
                   "%s)",
                   what, strerror(errno), s->rt.dir);
    /* This includes our copy of the listening socket: with it open, a
     * connection to a dead app would succeed. */
    start_parts_close(&x);
}

/* ---- by a template, or by its command ---- */

/* Copy what the table says about its app into its record. */
static void fill_in(spawner_t *s, process_t *p, const app_entry_t *app)
{
    apply_table_configure(s, p);
    p->is.wire.listen = (uint16_t)app->listen;
    p->is.wire.protocol = (uint16_t)app->protocol;
    p->is.print = app->print;
    p->is.owner = app->owner;
    p->is.began = s->now;
    p->is.deadline = p->deadline = s->now + app->start_timeout;
}

/* As many forked processes as an app may have at a time count as one. They cost
 * little, but may take long until they are ready. The starts of the other apps
 * do not wait for that. */
static int booting(const spawner_t *s)
{
    const process_t *p;
    int executed = 0, forked = 0;

    for (p = s->processes; p; p = p->next) {
        if (p->phase != PHASE_BOOTING || s->now - p->is.began >= PATIENCE)
            continue;
        if (p->forking.state == FORKING_ORDERED || p->is.template_id != 0)
            forked++;
        else
            executed += p->forking.state == FORKING_NOT;
    }
    return executed + (forked + APL_GROUP_FORKS - 1) / APL_GROUP_FORKS;
}

static void execute(spawner_t *s, process_t *p)
{
    const app_entry_t *app = app_table_find(s->table, p->is.name);

    if (fork_start_clear(s, p) != 0)
        return;
    p->forking.state = FORKING_NOT;
    if (app) {
        fill_in(s, p, app);
        launch(s, p, app);
        return;
    }
    p->gone = 1;
    phase_fail(s, p, START_STEP_PREPARE, "it is not configured any more");
}

/* @return -1: there can be none */
static int load_template(spawner_t *s, const app_entry_t *app)
{
    process_t *t = template_new(s, app);

    if (!t)
        return -1;
    fill_in(s, t, app);
    /* The segment knows of it before it looks at restart.txt. */
    template_has_begun(s, t);
    launch(s, t, app);
    template_has_begun(s, t);
    state_wake(s, s->now);
    return 0;
}

/* It waits for a template, or for its hello; or its command is to be
 * executed. */
static void advance(spawner_t *s, process_t *p)
{
    const app_entry_t *app = app_table_find(s->table, p->is.name);
    process_t *t;

    if (p->forking.state == FORKING_ORDERED)
        fork_start_check(s, p);
    if (p->forking.state == FORKING_WAITS) {
        int how = app && overdue_unkillable(s, app) == 0
                      ? template_for(s, app, &t)
                      : TEMPLATE_EXECUTE;

        if (how == TEMPLATE_FORK)
            fork_start_order(s, p, t);
        else if (how == TEMPLATE_EXECUTE ||
                 (how == TEMPLATE_LOAD && load_template(s, app) != 0))
            p->forking.state = FORKING_EXECUTE;
    }
    if (p->forking.state == FORKING_EXECUTE && booting(s) < AT_ONCE)
        execute(s, p);
}

static void advance_all(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->forking.state != FORKING_NOT && p->phase == PHASE_BOOTING &&
            !p->gone && !p->done)
            advance(s, p);
}

static void start(spawner_t *s, const apl_order_t *order)
{
    const app_entry_t *app = app_table_find(s->table, order->name);
    process_t *p;

    if (!app) {
        log_line(LOG_ERROR, "%s cannot be started: it is not configured",
                 order->name);
        apl_supervise_failed(&s->shm, order->id, 0, random_id(),
                             "the configuration knows no such app", s->now);
        return;
    }
    p = process_new(s, order->id, order->name);
    if (!p) {
        apl_supervise_failed(&s->shm, order->id, 0, random_id(),
                             "the spawner is out of memory", s->now);
        return;
    }
    p->slot.listed = 1;
    fill_in(s, p, app);
    if (!app->preload) {
        launch(s, p, app);
        return;
    }
    /* It has no time limit until it is forked or executed: the template or the
     * hello for which it waits has one. */
    p->deadline = 0;
    p->forking.state = FORKING_WAITS;
    advance(s, p);
}

void launch_orders(spawner_t *s)
{
    apl_order_t order;
    int n;

    template_tick(s);
    advance_all(s);
    n = booting(s);
    while (n++ < AT_ONCE &&
           apl_supervise_next_order(&s->shm, random_id(), s->now, &order) ==
               APR_SUCCESS) {
        start(s, &order);
        state_wake(s, s->now);
    }
}
