/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/audit.h"

#include <stdlib.h>

#include "shm/check.h"
#include "shm/snapshot.h"
#include "spawner/log.h"
#include "spawner/process.h"

#define PERIOD (2 * SECOND) /* between two looks at all invariants */

/* Slots that ought to have a process, and have none, become free. */
static void forget_strangers(spawner_t *s)
{
    uint32_t i, n, forgotten = 0, max = s->shm.n.processes;
    uint64_t *ids = malloc(max * sizeof *ids), last = 0;

    if (!ids)
        return;
    n = apl_supervise_known(&s->shm, ids, max);
    for (i = 0; i < n; i++)
        if (!process_find(s, ids[i]) &&
            apl_supervise_gone(&s->shm, ids[i], s->now) == APR_SUCCESS) {
            last = ids[i];
            forgotten++;
        }
    free(ids);
    if (forgotten > 0)
        log_line(LOG_WARN,
                 "%u processes of the pool are none of ours: forgotten "
                 "(" CONTRACT_ID_FMT ")",
                 forgotten, last);
}

/* A slot that says another thing of its process is emptied: the process is
 * put back at once (life.c), with its open sessions. */
static void correct(spawner_t *s)
{
    apl_condition_t is;
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        apl_who_t who = {p->is.pid, 0, p->is.start};

        if (p->listed && !p->gone && p->phase < PHASE_ENDING &&
            apl_supervise_condition(&s->shm, p->is.id, &is) == APR_SUCCESS &&
            !apl_supervise_agrees(&s->shm, p->is.id, &who, p->is.name,
                                  p->is.wire, p->phase == PHASE_LIVE))
            apl_supervise_gone(&s->shm, p->is.id, s->now);
    }
}

static void prove(spawner_t *s)
{
    static int64_t due;
    apl_finding_t finding;
    apl_pool_t *copy;
    apr_pool_t *p;

    if (s->now < due)
        return;
    due = s->now + PERIOD;
    apr_pool_create(&p, s->pool);
    if (apl_snapshot_take(&copy, &s->shm, p) == APR_SUCCESS &&
        !apl_check(copy, &finding)) {
        log_line(LOG_ERROR, "the pool is damaged and is repaired: I%d: %s",
                 finding.number, finding.text);
        apl_supervise_repair(&s->shm, s->now);
    }
    apr_pool_destroy(p);
}

void audit_look(spawner_t *s)
{
    forget_strangers(s);
    correct(s);
    prove(s);
    if (apl_supervise_roll(&s->shm, s->now))
        log_line(LOG_WARN, "the pool was damaged: who has a process now is "
                           "found out anew");
}
