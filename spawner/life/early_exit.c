/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/life/early_exit.h"

#include "spawner/alert/start_failure.h"
#include "spawner/output/output.h"

int early_exit_failed(const spawner_t *s, const process_t *p)
{
    apl_condition_t is;

    return p->phase == PHASE_LIVE && !p->is.stops_itself &&
           s->now - p->live_since < APL_YOUNG &&
           apl_supervise_condition(&s->shm, p->is.id, &is) == APR_SUCCESS &&
           is.state == APL_PROCESS_LIVE && is.processed + is.sessions == 0;
}

static int has_served(const spawner_t *s, const process_t *p)
{
    apl_condition_t is;

    return apl_supervise_condition(&s->shm, p->is.id, &is) == APR_SUCCESS &&
           is.processed > 0;
}

void early_exit_check(spawner_t *s, process_t *p)
{
    int grown = s->now - p->live_since >= APL_YOUNG;

    if (p->phase != PHASE_LIVE)
        return;
    if (!p->has_stayed && (grown || has_served(s, p))) {
        p->has_stayed = 1;
        start_failure_forget(s, p);
    }
    if (grown)
        output_forget_tail(&p->output);
    else
        state_wake(s, p->live_since + APL_YOUNG);
}
