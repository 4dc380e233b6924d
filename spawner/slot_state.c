/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/slot_state.h"

#include "shm/lock/alive.h"
#include "shm/verbs/reconcile.h"
#include "shm/verbs/timeouts.h"
#include "shm/view/report.h"
#include "spawner/report/start_failure.h"
#include "spawner/end/abandoned.h"
#include "spawner/end/connection_cut.h"
#include "spawner/control/apply_table.h"
#include "spawner/end/phase.h"
#include "spawner/end/overdue.h"
#include "spawner/process/process.h"
#include "spawner/output/app_log.h"

#define CLOSE_PAUSE SECOND /* between two tries */

static void put_back(spawner_t *s, process_t *p)
{
    const apl_start_t start = process_start(p);
    /* The segment may have lost its group as well. */
    apr_status_t rv = apply_table_process(s, p);

    if (rv == APL_ELOCK || rv == APL_EDAMAGED)
        return;
    rv = apl_reconcile_adopt(&s->shm, p->is.id, &start, p->is.name,
                             p->phase == PHASE_LIVE, s->now);
    if (rv == APR_SUCCESS) {
        app_log(p, LOG_WARN, "had lost its place in the pool");
        p->slot.outdated = 0;
        p->slot.retire_until = 0;
    }
    else if (rv != APL_ELOCK) {
        p->slot.listed = 0;
        phase_stop(s, p, "the pool has no place for it");
    }
}

/* The process retires, but has sessions. Long-lived connections keep it for at
 * most AppRetireTimeout. */
static void limit_retirement(spawner_t *s, process_t *p)
{
    if (p->app.retire_timeout == 0)
        return;
    if (p->slot.retire_until == 0)
        p->slot.retire_until = s->now + p->app.retire_timeout;
    if (s->now >= p->slot.retire_until) {
        if (apl_timeouts_close(&s->shm, p->is.id, s->now) == APR_SUCCESS) {
            phase_stop(s, p, "its WebSockets and event streams are closed");
            return;
        }
        p->slot.retire_until = s->now + CLOSE_PAUSE;
    }
    state_wake(s, p->slot.retire_until);
}

/* It refused a connection, and lives. To the pool, its start may have failed. */
static void report_refusal(spawner_t *s, const process_t *p)
{
    if (!phase_ended_early(s, p))
        return;
    app_log(p, LOG_ERROR,
            "refused a connection as soon as it was ready (error "
            "id " CONTRACT_ID_FMT ")",
            p->is.id);
    start_failure_keep(s, p, START_STEP_STAY, p->is.id,
                       "it refused a connection as soon as it was ready");
}

/* Note the signal for its requests, so that they do not have to wait for its
 * end. */
static void note_signal(spawner_t *s, process_t *p)
{
    p->slot.signal_unnoted =
        apl_timeouts_term_sent(&s->shm, p->is.id, s->now) == APL_ELOCK;
    if (p->slot.signal_unnoted)
        state_wake(s, s->now);
}

void slot_state_apply(spawner_t *s, process_t *p)
{
    apl_condition_t is;

    if (p->slot.signal_unnoted)
        note_signal(s, p);
    if (!p->slot.listed || p->phase >= PHASE_ENDING)
        return;
    if (apl_reconcile_condition(&s->shm, p->is.id, &is) != APR_SUCCESS) {
        put_back(s, p);
        return;
    }
    if (is.state != APL_PROCESS_LEAVING && p->is.stops_itself) {
        apl_supervise_detach(&s->shm, p->is.id, APL_EVENT_EXITED, s->now);
        state_wake(s, s->now); /* try again, or check the new state */
        return;
    }
    if (is.state == APL_PROCESS_LEAVING && is.reason == APL_EVENT_KILLED) {
        if (overdue_may_end(s, p)) {
            phase_kill(s, p, "with its requests");
            note_signal(s, p);
        }
        return;
    }
    abandoned_note(p, is.abandoned, is.waiting);
    if (is.state != APL_PROCESS_LEAVING) {
        connection_cut_ask_if_left(s, p);
        return;
    }
    if (is.sessions > is.abandoned) {
        limit_retirement(s, p);
        return;
    }
    /* One that stops itself may still read from it. */
    connection_cut_ask(s, p);
    if (apl_supervise_may_end(&s->shm, p->is.id, s->now) != APR_SUCCESS)
        return;
    if (!p->is.stops_itself && apl_alive_ending(p->is.pid))
        return; /* it is dying: the log should have the cause, not a stop */
    if (p->is.stops_itself && p->phase == PHASE_LIVE) {
        if (p->deadline == 0)
            p->deadline = s->now + p->app.stop_timeout;
        if (s->now < p->deadline)
            return;
    }
    if (is.reason == APL_EVENT_REFUSED)
        report_refusal(s, p);
    phase_stop(s, p, apl_report_event(is.reason));
}
