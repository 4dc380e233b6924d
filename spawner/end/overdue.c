/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/end/end.h"

#include <string.h>

#include "shm/verbs/timeouts.h"
#include "shm/slots/hung.h"
#include "spawner/process/process.h"
#include "spawner/output/output.h"
#include "spawner/report/reports.h"

#define KILLS            16     /* kills a second; others follow later */
#define UNKILLABLE_AFTER SECOND /* SIGKILL works at once or late */

void overdue_check(spawner_t *s)
{
    apl_session_peek_t overdue[KILLS];
    uint32_t i, n = apl_timeouts_find(&s->shm, s->now, overdue, KILLS);

    for (i = 0; i < n; i++) {
        const process_t *p = process_find(s, overdue[i].process);

        if (p && !p->gone && p->phase <= PHASE_LIVE)
            apl_timeouts_expire(&s->shm, &overdue[i], s->now);
    }
}

/* Find the oldest request of the process. @return 0: none */
static int find_request(const spawner_t *s, const process_t *p,
                        apl_session_peek_t *oldest)
{
    uint32_t i, top = apl_session_peek_top(&s->shm);
    apl_session_peek_t r;
    int found = 0;

    for (i = 1; i <= top; i++) {
        if (apl_session_peek(&s->shm, i, &r) != APR_SUCCESS ||
            r.process != p->is.id || (found && r.since >= oldest->since))
            continue;
        *oldest = r;
        found = 1;
    }
    return found;
}

int overdue_may_end(spawner_t *s, process_t *p)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);
    int64_t limit = a ? a->app.options.hung_after : 0;
    apl_session_peek_t r;

    if (!p->stuck.reported && find_request(s, p, &r)) {
        stuck_report_request(
            s, p,
            apl_hung_is_overdue(apl_since(s->now, r.since), limit)
                ? "is hung and is killed"
                : "is killed",
            &r);
        alert_raise(s, p, ALERT_KILLED,
                    "it was killed: %s %s had lasted %.1f s", r.method, r.uri,
                    (double)apl_since(s->now, r.since) / SECOND);
    }
    return stuck_report_is_done(s, p);
}

/* ---- processes that survive SIGKILL ---- */

static uint32_t count_unkillable(const spawner_t *s, const char *name)
{
    const process_t *p;
    uint32_t n = 0;

    for (p = s->processes; p; p = p->next)
        n += p->unkillable && !p->gone && strcmp(p->is.name, name) == 0;
    return n;
}

uint32_t overdue_unkillable(const spawner_t *s, const app_entry_t *app)
{
    uint32_t stop = app->app.options.unkillable_stop;
    uint32_t n = stop == 0 ? 0 : count_unkillable(s, app->app.name);

    return n >= stop ? n : 0;
}

void overdue_survives_kill(spawner_t *s, process_t *p, int64_t killed)
{
    const app_entry_t *a = app_table_find(s->table, p->is.name);
    uint32_t n, stop = a ? a->app.options.unkillable_stop : 0;

    if (s->now < killed + UNKILLABLE_AFTER) {
        state_wake(s, killed + UNKILLABLE_AFTER);
        return;
    }
    if (apl_timeouts_mark_unkillable(&s->shm, p->is.id, s->now) == APL_ELOCK)
        return;
    p->unkillable = 1;
    app_log(p, LOG_ERROR, "is unkillable: it survives SIGKILL");
    n = count_unkillable(s, p->is.name);
    if (stop == 0 || n != stop)
        return;
    app_log_about(
        a, LOG_ERROR,
        "%s has unkillable processes: %u, more than AppMaxUnkillable %u: no "
        "process of it is started until there are fewer",
        p->label, n, stop - 1);
    alert_raise(s, p, ALERT_UNKILLABLE,
                "%u of its processes survive SIGKILL: none is started until "
                "there are fewer",
                n);
}
