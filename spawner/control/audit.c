/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <stdlib.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/child.h"
#include "shm/verbs/housekeeping.h"
#include "shm/verbs/reconcile.h"
#include "shm/view/snapshot.h"
#include "system/log.h"
#include "spawner/process/process.h"

#define PERIOD     (2 * SECOND)    /* between two proofs of all invariants */
#define AGAIN      (SECOND / 2)    /* until the second proof, after a finding */
#define TRIES      20              /* to copy the pool while the lock is free */
#define COPY_PAUSE (SECOND / 1000) /* between two of these tries */

/* Free the slots whose process is not one of ours. */
static void forget_strangers(spawner_t *s)
{
    uint32_t i, n, forgotten = 0, max = s->shm.n.processes;
    uint64_t *ids = malloc(max * sizeof *ids), last = 0;

    if (!ids)
        return;
    n = apl_reconcile_ids(&s->shm, ids, max);
    for (i = 0; i < n; i++)
        if (!process_find(s, ids[i]) &&
            apl_supervise_gone(&s->shm, ids[i], s->now) == APR_SUCCESS) {
            last = ids[i];
            forgotten++;
        }
    free(ids);
    if (forgotten > 0)
        log_line(LOG_WARN,
                 "the pool had %u processes that the spawner does not have: "
                 "removed (" CONTRACT_ID_FMT ")",
                 forgotten, last);
}

/* If a slot disagrees with the record of its process, free the slot.
 * life_follow_slot() puts the process back at once, with its open sessions. */
static void correct(spawner_t *s)
{
    apl_condition_t is;
    process_t *p;

    for (p = s->processes; p; p = p->next) {
        const apl_start_t start = process_start(p);

        /* One that waits to be forked has no identity yet. */
        if (p->slot.listed && p->is.pid != 0 && !p->gone &&
            p->phase < PHASE_ENDING &&
            apl_reconcile_condition(&s->shm, p->is.id, &is) == APR_SUCCESS &&
            !apl_reconcile_matches(&s->shm, p->is.id, &start, p->is.name,
                                   p->phase == PHASE_LIVE))
            apl_supervise_gone(&s->shm, p->is.id, s->now);
    }
}

/* ---- all invariants ---- */

/* The proof of all invariants that runs, or is due. */
static struct {
    apl_snapshot_t snapshot;
    apl_check_t *check; /* of the copy; NULL: there is none yet */
    int tries;          /* copies that failed */
    int64_t due;        /* when the next proof begins */
    apl_finding_t last; /* of the proof before; number 0: nothing was wrong */
} proof;

static void end_proof(const spawner_t *s, int64_t pause)
{
    if (proof.check)
        apl_check_end(proof.check);
    proof.check = NULL;
    proof.tries = 0;
    proof.due = s->now + pause;
}

static void begin_check(spawner_t *s)
{
    apr_status_t rv = APR_SUCCESS;

    if (!proof.snapshot.copy)
        rv = apl_snapshot_prepare(&proof.snapshot, &s->shm, s->pool);
    if (rv == APR_SUCCESS)
        rv = apl_snapshot_try(&proof.snapshot, proof.tries >= TRIES);
    if (rv == APR_EAGAIN) {
        proof.tries++;
        state_wake(s, s->now + COPY_PAUSE);
    }
    else if (rv == APR_INCOMPLETE)
        state_wake(s, s->now);
    else if (rv != APR_SUCCESS ||
             !(proof.check = apl_check_begin(proof.snapshot.copy)))
        end_proof(s, PERIOD);
    else
        state_wake(s, s->now);
}

/* What one proof finds may be true only for a moment: between two rounds of
 * apl_leave() there are free processes, and requests that still wait for them
 * (I19). What two proofs find is damage. */
static void conclude(spawner_t *s, const apl_finding_t *finding)
{
    int again = apl_finding_same(finding, &proof.last);

    proof.last = *finding;
    if (finding->number != 0 && again) {
        log_line(LOG_ERROR, "the pool is damaged and is repaired: I%d: %s",
                 finding->number, finding->text);
        apl_housekeeping_repair(&s->shm, s->now);
        proof.last.number = 0;
    }
    end_proof(s, proof.last.number == 0 ? PERIOD : AGAIN);
}

void audit_prove(spawner_t *s)
{
    apl_finding_t finding;

    if (s->now < proof.due)
        state_wake(s, proof.due);
    else if (!proof.check)
        begin_check(s);
    else if (apl_check_go(proof.check, APL_CHECK_SLICE, &finding) ==
             APL_CHECK_MORE)
        state_wake(s, s->now);
    else
        conclude(s, &finding);
}

/* ---- once a second ---- */

void audit_check(spawner_t *s)
{
    forget_strangers(s);
    correct(s);
    if (apl_child_watch_roll_call(&s->shm, s->now)) {
        s->damaged_at = s->now;
        log_line(LOG_WARN, "the pool was damaged: all sessions are taken back, "
                           "and httpd's children take new slots");
    }
}
