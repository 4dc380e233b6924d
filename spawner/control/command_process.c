/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/command_process.h"

#include <stdio.h>

#include "shm/verbs/timeouts.h"
#include "spawner/process/process.h"
#include "spawner/output/app_log.h"

/* The response: what was done to the process. */
static json_t *done_to(const command_t *q, const process_t *p, const char *what)
{
    char id[17];

    snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:s, s:i, s:o}", "ok", 1, "app", p->is.name,
                     "id", id, "pid", (int)p->is.pid, "text",
                     json_sprintf(PROCESS_FMT " %s", PROCESS_NAME(p), what));
}

json_t *command_process_detach(command_t *q)
{
    json_t *refusal;
    const process_t *p = command_find_process(q, &refusal);

    if (!p)
        return refusal;
    switch (apl_supervise_detach(&q->s->shm, p->is.id, APL_EVENT_DETACHED,
                                 q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_ELOCK:
        return command_refuse_busy(q);
    default:
        return command_refuse(q, PROCESS_FMT " is already leaving",
                              PROCESS_NAME(p));
    }
    app_log(p, LOG_NOTICE, "is detached by apppoolctl");
    return done_to(q, p,
                   "gets no more requests, finishes the requests that it has, "
                   "and ends");
}

json_t *command_process_kill(command_t *q)
{
    json_t *refusal;
    const process_t *p = command_find_process(q, &refusal);

    if (!p)
        return refusal;
    switch (apl_timeouts_kill(&q->s->shm, p->is.id, 0, q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_ELOCK:
        return command_refuse_busy(q);
    case APL_EIDLE:
        return command_refuse(
            q, PROCESS_FMT " has no request: use apppoolctl detach",
            PROCESS_NAME(p));
    default:
        return command_refuse(
            q, PROCESS_FMT " is not ready yet, or is already being ended",
            PROCESS_NAME(p));
    }
    app_log(p, LOG_NOTICE, "is killed by apppoolctl");
    return done_to(q, p, "is killed together with the requests that it has");
}
