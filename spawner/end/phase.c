/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/end/end.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shm/verbs/reconcile.h"
#include "spawner/report/reports.h"
#include "system/random.h"
#include "base/contract.h"
#include "base/panic.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"
#include "spawner/process/process_signal.h"

#define HURRY_LIMIT (5 * SECOND) /* maximum stop timeout when httpd is dead */

void phase_fail(spawner_t *s, process_t *p, int step, const char *format, ...)
{
    char text[START_FAILURE_MAX];
    va_list args;

    if (p->start.failure || p->phase != PHASE_BOOTING)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->start.failure = strdup(text);
    p->start.step = step;
    p->start.error_id = random_id();
    p->phase = PHASE_KILLED;
    p->deadline = s->now + PHASE_KILL_LIMIT;
    p->is.deadline = s->now;
    process_record(p, REGISTRY_ENDING);
    process_signal(s, p, SIGKILL);
    output_finish(p);
    start_failure_read(p);
    state_wake(s, s->now);
    if (state_is_template(p))
        return; /* template.c says what follows from that */
    if (p->is.template_id == 0)
        template_failure_row_ends(p->is.name);
    start_failure_log(s, p);
    start_failure_keep(s, p, step, p->start.error_id, text);
}

void phase_ready(spawner_t *s, process_t *p)
{
    apr_status_t rv = apl_supervise_ready(&s->shm, p->is.id, s->now);

    if (rv != APR_SUCCESS)
        return; /* detached (life.c), or no lock: try later */
    PANIC_UNLESS(p->phase == PHASE_BOOTING && !p->done);
    p->phase = PHASE_LIVE;
    p->deadline = 0;
    process_record(p, REGISTRY_LIVE);
    app_log(p, LOG_INFO, "ready after %.2f s",
            (double)(s->now - p->is.began) / 1e6);
    p->live_since = s->now;
    p->memory.check_at = s->now + MEMORY_LIMIT_REST * (s->now - p->is.began);
}

int phase_ended_early(const spawner_t *s, const process_t *p)
{
    return p->phase == PHASE_LIVE &&
           apl_reconcile_ends_early(&s->shm, p->is.id, s->now);
}

static int has_responded(const spawner_t *s, const process_t *p)
{
    apl_condition_t is;

    return apl_reconcile_condition(&s->shm, p->is.id, &is) == APR_SUCCESS &&
           is.responded;
}

void phase_check_start(spawner_t *s, process_t *p)
{
    int grown = s->now - p->live_since >= APL_YOUNG;

    if (p->phase != PHASE_LIVE)
        return;
    if (!p->has_stayed && (grown || has_responded(s, p))) {
        p->has_stayed = 1;
        start_failure_forget(s, p);
    }
    if (grown)
        last_lines_forget(&p->output);
    else
        state_wake(s, p->live_since + APL_YOUNG);
}

static void stop(spawner_t *s, process_t *p, const char *why, int sign,
                 int64_t limit)
{
    struct pollfd parent = {CONTRACT_PARENT_FD, POLLIN, 0};

    if (p->phase >= PHASE_ENDING)
        return;
    process_end_forking(p);
    if (p->is.pid == 0) { /* it waits to be forked: nothing runs */
        p->phase = PHASE_ENDING;
        p->gone = 1;
        state_wake(s, s->now);
        return;
    }
    if (limit > HURRY_LIMIT && poll(&parent, 1, 0) == 1)
        limit = HURRY_LIMIT;
    app_log(p, LOG_INFO, "is stopped: %s", why);
    p->phase = PHASE_ENDING;
    p->is.deadline = p->deadline = s->now + limit;
    process_record(p, REGISTRY_ENDING);
    process_signal(s, p, SIGCONT); /* or it handles no other */
    process_signal(s, p, sign);
    /* Then the connections end. A server that looks for the signal when one has
     * ended could otherwise wait for the next one, which never comes. */
    process_end_probe(p);
    connection_cut_ask(s, p);
    state_wake(s, s->now);
}

void phase_stop(spawner_t *s, process_t *p, const char *why)
{
    stop(s, p, why, p->app.stop_signal, p->app.stop_timeout);
}

void phase_end_now(spawner_t *s, process_t *p, const char *why)
{
    if (p->phase == PHASE_KILLED)
        return;
    app_log(p, LOG_WARN, "is killed: %s", why);
    p->phase = PHASE_KILLED;
    p->deadline = s->now + PHASE_KILL_LIMIT;
    p->is.deadline = s->now;
    process_record(p, REGISTRY_ENDING);
    process_end_forking(p);
    process_signal(s, p, SIGKILL);
    state_wake(s, s->now);
}

void phase_kill(spawner_t *s, process_t *p, const char *why)
{
    stop(s, p, why, SIGTERM, p->app.hung_stop_timeout);
}
