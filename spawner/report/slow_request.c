/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/slow_request.h"

#include <stdlib.h>

#include "shm/slots/hung.h"
#include "spawner/process/process.h"
#include "spawner/report/stuck_report.h"

#define LINES   16 /* lines a second; other requests get theirs later */
#define REPORTS 4  /* reports a second */
#define AGAIN   (10 * SECOND) /* until the next report on the same process */

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

void slow_request_check(spawner_t *s)
{
    int64_t least = shortest(s->table);
    int lines = LINES, left = REPORTS;
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
            p->slow_check_at = s->now + AGAIN;
    }
}
