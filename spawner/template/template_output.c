/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/template/template_output.h"

#include "spawner/output/app_log.h"
#include "spawner/output/last_lines.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"

#define PAUSE SECOND /* between two looks whether a process is left */

static int has_forks(const spawner_t *s, const process_t *t)
{
    const process_t *p;

    for (p = s->processes; p; p = p->next)
        if (p->is.template_id == t->is.id && !p->done)
            return 1;
    return 0;
}

/* From here on, the end of the FIFO or of the last process is waited for. */
static int begin(const spawner_t *s, process_t *t)
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

int template_output_stays(spawner_t *s, process_t *p)
{
    if (!state_is_template(p) || p->fifo.fd < 0)
        return 0;
    if (p->is.output_only && s->now < p->end.check_at && !s->stopping) {
        state_wake(s, p->end.check_at);
        return 1;
    }
    if (!(p->is.output_only ? has_forks(s, p) : begin(s, p)))
        return 0;
    state_wake(s, p->end.check_at = s->now + PAUSE);
    return 1;
}
