/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawner/process/job.h"
#include "system/child_reset.h"
#include "system/log.h"
#include "spawner/report/reports.h"
#include "spawner/process/process.h"
#include "system/procfs.h"
#include "spawner/output/output.h"
#include "base/userdb.h"
#include "shm/slots/hung.h"

#define AT_ONCE      16 /* maximum number of reports at the same time */
#define LIMIT        (2 * SECOND) /* for one report */
#define TIME_TO_SAY  SECOND /* for the app to print, after AppDumpSignal */
#define SLOW_LINES   16 /* lines a second; other requests get theirs later */
#define SLOW_REPORTS 4  /* reports a second */
#define SLOW_AGAIN   (10 * SECOND) /* until the next report on it */

typedef struct {
    job_t job;   /* first, so that its address is that of this structure */
    uint64_t id; /* of the process */
    int is_last; /* 1: the process is ended after this report */
} report_t;

static report_t reports[AT_ONCE];

void stuck_report_request(const spawner_t *s, const process_t *p,
                          const char *what, const apl_session_peek_t *request)
{
    app_log(p, LOG_WARN, "%s: %s %s has lasted %.1f s, client %s", what,
            request->method, request->uri,
            (double)apl_since(s->now, request->since) / SECOND,
            request->client);
}

/* Only the leader gets the signal: processes that it has started may not handle
 * the signal. */
static void send_dump(const spawner_t *s, process_t *p)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);
    const char *name = a ? sigabbrev_np(a->dump_signal) : NULL;

    p->stuck.dumped = 1;
    p->stuck.may_end_at = s->now;
    if (!a || a->dump_signal == 0 ||
        procfs_signal(p->is.pid, p->is.start, a->dump_signal) != 0)
        return;
    app_log(p, LOG_NOTICE, "is sent signal %d%s%s%s (AppDumpSignal)",
            a->dump_signal, name ? " (SIG" : "", name ? name : "",
            name ? ")" : "");
    p->stuck.may_end_at = s->now + TIME_TO_SAY;
}

static void ended(spawner_t *s, job_t *job, const siginfo_t *cause)
{
    const report_t *r = (report_t *)job;
    process_t *p = process_find(s, r->id);

    if (!p || p->gone)
        return;
    if (!cause)
        app_log(p, LOG_WARN, "report: it took too long and was stopped");
    if (r->is_last && !p->stuck.dumped && p->phase <= PHASE_LIVE)
        send_dump(s, p);
    state_wake(s, s->now);
}

static report_t *find_free(void)
{
    int i;

    for (i = 0; i < AT_ONCE; i++)
        if (reports[i].job.pid == 0)
            return &reports[i];
    return NULL;
}

static void log_one(void *ctx, const char *line)
{
    (void)ctx;
    log_line(LOG_NOTICE, "%s", line);
}

static _Noreturn void work(const spawner_t *s, const process_t *p)
{
    char name[96];
    const process_report_t asked = {.name = name,
                                    .leader = p->is.pid,
                                    .start = p->is.start,
                                    .only = USERDB_NOBODY,
                                    .write_line = log_one};

    child_reset_descriptors(s->rt.fd);
    snprintf(name, sizeof name, PROCESS_FMT, PROCESS_NAME(p));
    process_report_write(&asked);
    _exit(0);
}

static int begin(spawner_t *s, process_t *p, int is_last)
{
    report_t *r = find_free();

    if (!r)
        return -1;
    switch (job_fork(s, &r->job, LIMIT, ended)) {
    case 0:
        work(s, p);
    case -1:
        return -1;
    }
    r->id = p->is.id;
    r->is_last = is_last;
    return 0;
}

int stuck_report_begin(spawner_t *s, process_t *p)
{
    return begin(s, p, 0);
}

int stuck_report_is_done(spawner_t *s, process_t *p)
{
    if (!p->stuck.reported) {
        p->stuck.reported = 1;
        p->stuck.may_end_at =
            s->now + LIMIT + SECOND; /* ended() makes this time earlier */
        if (begin(s, p, 1) != 0) {
            app_log(p, LOG_WARN,
                    "report: not written, because too many reports are being "
                    "written");
            send_dump(s, p);
        }
    }
    if (s->now >= p->stuck.may_end_at && !p->stuck.dumped)
        send_dump(s, p); /* the writer of the report may survive SIGKILL */
    if (s->now >= p->stuck.may_end_at)
        return 1;
    state_wake(s, p->stuck.may_end_at);
    return 0;
}

/* ---- AppSlowAfter ---- */

/* For each slot: the ticket of the request that was reported last. */
static uint64_t *reported;

/* The shortest AppSlowAfter; 0: there is none. */
static int64_t shortest(const app_table_t *t)
{
    int64_t least = 0;
    uint32_t i;

    for (i = 0; i < t->n; i++) {
        int64_t limit = t->apps[i].slow_after;

        if (limit > 0 && (least == 0 || limit < least))
            least = limit;
    }
    return least;
}

/* @return its process, if it lasts too long and was not reported yet */
static process_t *is_slow(const spawner_t *s, uint32_t i, int64_t least,
                          apl_session_peek_t *r)
{
    const app_entry_t *a;
    process_t *p;

    int64_t age;

    if (apl_session_peek(&s->shm, i, r) != APR_SUCCESS || r->long_lived ||
        reported[i] == r->ticket)
        return NULL;
    age = apl_since(s->now, r->since);
    if (!apl_hung_is_overdue(age, least))
        return NULL;
    p = process_find(s, r->process);
    a = p && !p->gone ? app_table_find(s->table, p->is.name) : NULL;
    return a && apl_hung_is_overdue(age, a->slow_after) ? p : NULL;
}

void stuck_report_check_slow(spawner_t *s)
{
    int64_t least = shortest(s->table);
    int lines = SLOW_LINES, left = SLOW_REPORTS;
    apl_session_peek_t r;
    uint32_t i, top;

    if (least == 0)
        return;
    if (!reported)
        reported = calloc(s->shm.n.sessions, sizeof *reported);
    top = reported ? apl_session_peek_top(&s->shm) : 0;
    for (i = 1; i <= top && lines > 0 && left > 0; i++) {
        process_t *p = is_slow(s, i, least, &r);

        if (!p)
            continue;
        lines--;
        reported[i] = r.ticket;
        stuck_report_request(s, p, "is slow", &r);
        if (s->now < p->slow_check_at)
            continue;
        left--;
        if (stuck_report_begin(s, p) == 0)
            p->slow_check_at = s->now + SLOW_AGAIN;
    }
}
