/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/slots/event.h"

#include <stdio.h>
#include <string.h>

void apl_event_note(apl_lock_token_t *token, uint32_t kind,
                    const apl_group_t *group, const apl_process_t *process)
{
    apl_header_t *h = token->pool->header;
    apl_event_t *e = &h->events[h->n_events % APL_EVENT_MAX];

    e->time = token->now;
    e->kind = kind;
    e->id = process ? process->id : 0;
    e->pid = process ? process->identity.pid : 0;
    e->error_id = 0;
    e->reason[0] = 0;
    e->app[0] = 0;
    if (group) {
        size_t n = strnlen(group->name, sizeof group->name - 1);
        size_t skip = n < sizeof e->app ? 0 : n - (sizeof e->app - 1);

        /* Of a long path, keep the end: it says more than the beginning. */
        memcpy(e->app, group->name + skip, n - skip);
        e->app[n - skip] = 0;
    }
    h->n_events++;
}

void apl_event_explain(apl_lock_token_t *token, const char *reason,
                       uint64_t error_id)
{
    apl_header_t *h = token->pool->header;
    apl_event_t *e = &h->events[(h->n_events - 1) % APL_EVENT_MAX];

    e->error_id = error_id;
    snprintf(e->reason, sizeof e->reason, "%s", reason);
}
