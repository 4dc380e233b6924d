/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/spawner.h"

#include <apr_strings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/lock/alive.h"
#include "base/heartbeat.h"
#include "base/panic.h"
#include "system/cgroup.h"
#include "spawner/process/job.h"
#include "spawner/report/reports.h"
#include "spawner/start/start.h"
#include "spawner/template/template.h"
#include "spawner/end/end.h"
#include "spawner/process/leftovers.h"
#include "spawner/output/output.h"
#include "spawner/process/process.h"
#include "spawner/process/process_signal.h"
#include "system/procfs.h"
#include "system/reap.h"
#include "spawner/process/guarded_socket.h"
#include "shm/verbs/group_start.h"
#include "shm/verbs/reconcile.h"
#include "shm/verbs/timeouts.h"
#include "shm/view/view.h"
#include "spawner/control/control.h"

#define REMAINS_LIMIT (5 * SECOND) /* for the rest of a process group to end */
#define STOP_LIMIT    (2 * SECOND) /* and when httpd stops */
#define REMAINS_POLL  50000
#define CLOSE_PAUSE   SECOND /* between two tries */
#define SLOW_PAUSE    SECOND /* from the begin of a start to the first look */

static double seconds(int64_t us)
{
    return (double)us / 1e6;
}

/* ---- starting ---- */

/* The report of its command has changed this. Record it, so that the next
 * spawner knows it, too. */
static int has_run(const process_t *p)
{
    return p->is.wire.concurrency != APL_CONCURRENCY_AUTO;
}

static void tell_failure(spawner_t *s, process_t *p)
{
    char text[APL_ERROR_MAX];
    apr_status_t rv;

    start_failure_brief(p, text, sizeof text);
    rv = apl_supervise_failed(&s->shm, p->is.id, has_run(p), p->start.error_id,
                              text, s->now);
    if (rv == APR_SUCCESS)
        p->slot.listed = 0;
}

/* ---- a start that lasts more than a second ----
 *
 * A request waits for AppQueueTimeout, which is shorter than AppStartTimeout.
 * So its client gets a response before the start has failed. The response and
 * the log say what is known by then: what is missing, and what the process or
 * the template has printed last (shm/verbs/group_start.h, start_failure.c). The
 * next spawner tells it again. */

/* The file comes first: a child of httpd that finds the id in the pool looks
 * for the file. */
static void tell_slow_start(spawner_t *s, process_t *p, const char *missing,
                            const char *text)
{
    apl_slow_start_t slow = {.id = p->is.id, .since = p->is.began};

    apr_cpystrn(slow.text, text, sizeof slow.text);
    start_failure_keep_slow(s, p, missing);
    if (apl_slow_start_write(&s->shm, p->is.name, &slow, s->now) != APL_ELOCK) {
        free(p->slow_start.text);
        p->slow_start.text = strdup(text);
    }
}

/* Another start of the app may last long, too, and has written to the same
 * places. It does so again. */
static void forget_slow_start(spawner_t *s, const process_t *p)
{
    process_t *other;

    start_failure_forget_slow(s, p);
    for (other = s->processes; other; other = other->next)
        if (strcmp(other->is.name, p->is.name) == 0) {
            free(other->slow_start.text);
            other->slow_start.text = NULL;
        }
}

static void look_at_slow_start(spawner_t *s, process_t *p)
{
    char missing[READY_TEXT_MAX], text[APL_SLOW_START_MAX];

    if (p->phase != PHASE_BOOTING || p->is.pid == 0 || p->gone) {
        if (p->slow_start.text)
            forget_slow_start(s, p);
        return;
    }
    if (p->slow_start.look_at < p->is.began + SLOW_PAUSE)
        p->slow_start.look_at = p->is.began + SLOW_PAUSE;
    if (s->now >= p->slow_start.look_at) {
        p->slow_start.look_at = s->now + SLOW_PAUSE;
        start_failure_describe(p, ready_missing(s, p, missing), text,
                               sizeof text);
        if (!p->slow_start.text || strcmp(text, p->slow_start.text) != 0)
            tell_slow_start(s, p, missing, text);
    }
    state_wake(s, p->slow_start.look_at);
}

/* ---- what the segment says ---- */

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

/* It refused a connection, and lives. Its start may be a failed one. What it
 * has printed before may wait in the FIFO. */
static void report_refusal(spawner_t *s, process_t *p)
{
    if (!phase_ended_early(s, p))
        return;
    output_read(p);
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

void life_follow_slot(spawner_t *s, process_t *p)
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

/* ---- ending ---- */

static void kill_late(spawner_t *s, process_t *p)
{
    app_log(p, LOG_WARN, "did not end in time: SIGKILL");
    p->phase = PHASE_KILLED;
    p->deadline = s->now + PHASE_KILL_LIMIT;
    process_signal(s, p, SIGKILL);
}

/* Log the end. It is an error if nothing has asked for it. If it came too
 * early, it is a failed start to the pool, and the id of the process is the
 * error id. */
static void log_end(spawner_t *s, const process_t *p)
{
    char cause[REAP_CAUSE_MAX], text[REAP_CAUSE_MAX + 64], id[48] = "";
    int early = phase_ended_early(s, p);
    int asked = !early && (p->phase != PHASE_LIVE || p->is.stops_itself ||
                           p->stuck.reported);
    int clean =
        p->end.cause.si_pid == 0 ||
        (p->end.cause.si_code == CLD_EXITED && p->end.cause.si_status == 0);

    reap_cause(&p->end.cause, cause);
    if (early) {
        snprintf(id, sizeof id, " (error id " CONTRACT_ID_FMT ")", p->is.id);
        snprintf(text, sizeof text, "it ended with %s as soon as it was ready",
                 cause);
        start_failure_keep(s, p, START_STEP_STAY, p->is.id, text);
    }
    else if (!asked && !clean)
        alert_death(s, p, cause);
    app_log(p,
            asked   ? LOG_INFO
            : clean ? LOG_NOTICE
                    : LOG_ERROR,
            "%s: %s%s%s",
            asked   ? "ended"
            : clean ? "ended by itself"
                    : "died",
            cause, id[0] ? ", as soon as it was ready" : "", id);
}

/* The shell exits with 126 or 127 if it cannot execute the command. */
static int boot_step(const siginfo_t *cause)
{
    return cause->si_code == CLD_EXITED &&
                   (cause->si_status == 126 || cause->si_status == 127)
               ? START_STEP_COMMAND
               : START_STEP_BOOT;
}

static apr_status_t forget(spawner_t *s, const process_t *p)
{
    char text[REAP_CAUSE_MAX];

    return apl_supervise_died(&s->shm, p->is.id,
                              reap_cause(&p->end.cause, text), s->now);
}

static int64_t remains_limit(const process_t *p)
{
    return p->app.stop_timeout < REMAINS_LIMIT ? p->app.stop_timeout
                                               : REMAINS_LIMIT;
}

/* It is dead. */
static void wait_for(spawner_t *s, process_t *p)
{
    struct rusage usage;
    uint64_t cpu = 0;

    if (wait4(p->is.pid, NULL, 0, &usage) == p->is.pid)
        cpu = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
                  1000000 +
              (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    usage_end(s, p, cpu);
}

void life_died(spawner_t *s, process_t *p, const siginfo_t *cause)
{
    char text[REAP_CAUSE_MAX];

    PANIC_UNLESS(!p->done);
    p->end.cause = *cause;
    start_reports_read(s, p);
    sd_notify_read(p, 0);
    process_end_forking(p);
    /* The template may keep the socket open. No request may wait in its
     * queue. */
    if (p->is.template_id != 0)
        process_files_unlisten(&s->rt, p->is.id);
    if (!p->gone)
        p->end.died_ticks = procfs_now();
    if (p->child)
        wait_for(s, p);
    loop_drop(&p->pidfd);
    p->gone = 1;
    process_signal(s, p, p->phase == PHASE_KILLED ? SIGKILL : SIGTERM);
    output_finish(p);
    if (p->phase == PHASE_BOOTING && p->child)
        phase_fail(s, p, boot_step(cause), "it ended with %s while it %s%s",
                   reap_cause(cause, text),
                   state_is_template(p) ? "loaded" : "started",
                   cause->si_code == CLD_EXITED && cause->si_status == 0
                       ? "; it has to run on, in the foreground"
                       : "");
    else if (!p->start.failure)
        log_end(s, p);
    /* A process that booted under the last spawner may never have got its "go".
     * That is no failed start. If a request waits for it, another process is
     * started. */
    if (p->is.stops_itself)
        apl_supervise_detach(&s->shm, p->is.id, APL_EVENT_EXITED, s->now);
    if (p->phase <= PHASE_LIVE && forget(s, p) != APL_ELOCK)
        p->slot.listed = 0;
    if (p->phase == PHASE_BOOTING)
        p->phase = PHASE_ENDING;
    p->deadline = s->now + remains_limit(p);
    state_wake(s, s->now);
}

void life_pidfd(void *owner, uint32_t events)
{
    process_t *p = owner;
    siginfo_t unknown;

    (void)events;
    memset(&unknown, 0, sizeof unknown);
    life_died(state_spawner(), p, &unknown);
}

static int reap_one(const siginfo_t *info, void *ctx)
{
    spawner_t *s = ctx;
    process_t *p = process_of_child(s, info->si_pid);

    if (p)
        life_died(s, p, info);
    else {
        job_reap(s, info);
        log_writer_reap(info->si_pid);
        waitpid(info->si_pid, NULL, WNOHANG);
    }
    return 0;
}

void life_reap(spawner_t *s)
{
    s->unreaped = reap_children(reap_one, s);
}

/* Nothing of the process runs any more: free what belongs to it. */
static void finish(spawner_t *s, process_t *p)
{
    apr_status_t rv = APR_SUCCESS;

    if (p->slot.listed)
        rv = forget(s, p);
    if (rv == APL_ELOCK && !s->stopping)
        return;
    output_end(s, p);
    guarded_socket_drop(&p->notify);
    loop_drop(&p->reports);
    loop_drop(&p->pidfd); /* the leader may survive SIGKILL */
    process_end_forking(p);
    process_end_probe(p);
    if (cgroup_remove(p->is.id) != 0)
        leftovers_check_cgroups(s, 0);
    if (template_keeps_output(s, p))
        return;
    loop_drop(&p->fifo);
    if (process_files_remove(&s->rt, p->is.id))
        leftovers_note_dir(s);
    registry_clear(p->record);
    output_forget(&p->output);
    p->done = 1;
    state_wake(s, s->now);
}

/* The limit is over. The log calls a process a survivor only if a scan that
 * began after SIGKILL has found it. Until then the spawner waits, except at the
 * stop, where kill_instance() follows. A process that has the mark but is not
 * in the session (mark_scan.h) had the whole limit to die. */
static void abandon_remains(spawner_t *s, process_t *p)
{
    int marked_only = p->session.sent_kill && p->session.found == 0;

    if (p->session.survived || (marked_only && !s->stopping))
        app_log(p, LOG_ERROR, "left processes that survive SIGKILL");
    else if (!s->stopping)
        return;
    finish(s, p);
}

/* Is the limit over? Where a scan has to find the rest, the first one sends the
 * signal, and the limit counts from its end. At the stop, nobody waits for a
 * scan that is late. */
static int remains_are_late(const spawner_t *s, process_t *p, int left)
{
    if (p->phase == PHASE_KILLED)
        return 0;
    if (left < 0 && !s->stopping)
        p->deadline = s->now + remains_limit(p);
    return s->now >= p->deadline;
}

/* The leader is dead. Wait for the rest of its process group. What a scan has
 * found may have ended since then. So the log calls something left behind only
 * if the scan that sends SIGKILL finds it, or the cgroup has it. */
static void tend_remains(spawner_t *s, process_t *p)
{
    int left;

    if (s->now < p->end.check_at) {
        state_wake(s, p->end.check_at);
        return;
    }
    left = process_signal_remains(s, p);
    if (left == 0) {
        finish(s, p);
        return;
    }
    if (remains_are_late(s, p, left)) {
        p->phase = PHASE_KILLED;
        p->deadline = s->now + (s->stopping ? STOP_LIMIT : PHASE_KILL_LIMIT);
        p->end.left_unsaid = 1;
        process_signal_forget_remains(p);
        left = process_signal_remains(s, p);
    }
    if (left > 0 && p->end.left_unsaid) {
        app_log(p, LOG_WARN, "left processes behind: SIGKILL");
        p->end.left_unsaid = 0;
    }
    if (p->phase == PHASE_KILLED)
        process_signal(s, p, SIGKILL);
    if (p->phase == PHASE_KILLED && s->now >= p->deadline)
        abandon_remains(s, p);
    state_wake(s, p->end.check_at = s->now + REMAINS_POLL);
}

/* ---- the work that is due ---- */

static void tend(spawner_t *s, process_t *p)
{
    char missing[READY_TEXT_MAX];

    output_tick(s, p);
    if (p->is.output_only) {
        if (!template_keeps_output(s, p) && (s->stopping || !p->unwatched))
            finish(s, p);
        return;
    }
    look_at_slow_start(s, p);
    if (p->start.failure && p->slot.listed)
        tell_failure(s, p);
    if (p->gone) {
        tend_remains(s, p);
        return;
    }
    life_follow_slot(s, p);
    if (p->phase == PHASE_ENDING)
        connection_cut_ask(s, p);
    if (p->phase == PHASE_KILLED && !p->unkillable)
        overdue_survives_kill(s, p, p->deadline - PHASE_KILL_LIMIT);
    phase_check_start(s, p);
    if (p->deadline == 0)
        return;
    if (p->phase == PHASE_KILLED && s->stopping &&
        s->now >= p->deadline - PHASE_KILL_LIMIT + STOP_LIMIT) {
        app_log(p, LOG_ERROR, "survives SIGKILL");
        finish(s, p);
    }
    else if (s->now >= p->deadline) {
        if (p->phase == PHASE_BOOTING)
            phase_fail(s, p, START_STEP_READY, "%s within %.3g s",
                       ready_missing(s, p, missing),
                       seconds(p->is.deadline - p->is.began));
        else if (p->phase == PHASE_ENDING)
            kill_late(s, p);
    }
    else
        state_wake(s, p->deadline);
}

void life_tick(spawner_t *s)
{
    process_t *p;

    for (p = s->processes; p; p = p->next)
        if (!p->done) {
            heartbeat();
            tend(s, p);
        }
}
