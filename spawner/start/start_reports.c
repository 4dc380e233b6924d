/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <apr_strings.h>
#include <string.h>
#include <unistd.h>

#include "spawner/start/start.h"
#include "spawner/process/state.h"
#include "spawner/end/end.h"
#include "spawner/template/template.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"

/* The registry comes first: if a process is LIVE in the segment, the next
 * spawner must know its protocol. */
static void found(spawner_t *s, process_t *p, const boot_report_t *got)
{
    apl_start_t start;

    p->is.wire.protocol = (uint16_t)got->protocol;
    p->is.wire.concurrency = got->concurrency;
    p->is.stamp = got->stamp;
    process_record(p, p->is.state);
    start = process_start(p);
    if (state_is_template(p))
        template_has_begun(s, p);
    else
        apl_supervise_forked(&s->shm, p->is.id, &start, s->now);
}

/* The reports come in this order, each once. The files are given to the user
 * that one of them names. */
static void report(spawner_t *s, process_t *p, boot_report_t *got)
{
    got->text[sizeof got->text - 1] = 0;
    switch (got->kind) {
    case BOOT_USER:
        if (p->start.user[0] || p->start.command)
            break;
        p->is.uid = got->uid;
        p->is.gid = got->gid;
        apr_cpystrn(p->start.user, got->text, sizeof p->start.user);
        process_record(p, p->is.state);
        break;
    case BOOT_COMMAND:
        if (p->start.command)
            break;
        p->start.command = strdup(got->text);
        found(s, p, got);
        app_log(p, LOG_INFO, "starts as %s: %s", p->start.user, got->text);
        break;
    case BOOT_NOTE:
        if (start_notes_is_new(p->is.name, got->text))
            app_log(p, LOG_WARN, "%s", got->text);
        break;
    default:
        phase_fail(s, p,
                   got->step < START_STEP_BOOT ? (int)got->step
                                               : START_STEP_PREPARE,
                   "%s", got->text);
    }
}

void start_reports_read(spawner_t *s, process_t *p)
{
    boot_report_t got;
    ssize_t n = -1;

    if (p->forking.state != FORKING_NOT)
        return; /* it is the hello that comes through this pipe */
    while (p->reports.fd >= 0 &&
           (n = read(p->reports.fd, &got, sizeof got)) == sizeof got)
        report(s, p, &got);
    if (n >= 0)
        loop_drop(&p->reports);
}

void start_reports_ready(void *owner, uint32_t events)
{
    (void)events;
    start_reports_read(state_spawner(), owner);
}

void start_reports_output(void *owner, uint32_t events)
{
    process_t *p = owner;

    (void)events;
    /* The child reports its user before it can print. So read the reports
     * first. */
    start_reports_read(state_spawner(), p);
    /* No process has the FIFO open any more, so none can write to it again. */
    if (!output_read(p))
        loop_drop(&p->fifo);
}
