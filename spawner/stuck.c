/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/stuck.h"

#include <stdio.h>
#include <unistd.h>

#include "spawner/errand.h"
#include "spawner/fresh.h"
#include "spawner/log.h"
#include "spawner/look.h"
#include "spawner/process.h"

#define AT_ONCE     16           /* reports */
#define LIMIT       (2 * SECOND) /* for one */
#define TIME_TO_SAY SECOND       /* for the app, after AppDumpSignal */

typedef struct {
    errand_t errand; /* first: it is how this is found */
    uint64_t id;     /* of the process */
    int dump;
} report_t;

static report_t reports[AT_ONCE];

void stuck_request(const spawner_t *s, const process_t *p, const char *what,
                   const apl_glance_t *request)
{
    log_line(LOG_WARN, PROCESS_FMT " %s: %s %s has lasted %.1f s, client %s",
             PROCESS_NAME(p), what, request->method, request->uri,
             (double)(s->now - request->since) / SECOND, request->client);
}

static void ended(spawner_t *s, errand_t *e, const siginfo_t *cause)
{
    const report_t *r = (report_t *)e;
    process_t *p = process_find(s, r->id);

    if (!p || p->gone)
        return;
    if (!cause)
        log_line(LOG_WARN,
                 PROCESS_FMT " report: it took too long, and is "
                             "given up",
                 PROCESS_NAME(p));
    p->quiet = s->now;
    (void)r->dump;
    state_wake(s, s->now);
}

static report_t *find_free(void)
{
    int i;

    for (i = 0; i < AT_ONCE; i++)
        if (reports[i].errand.pid == 0)
            return &reports[i];
    return NULL;
}

static _Noreturn void work(const spawner_t *s, const process_t *p)
{
    char name[96];

    fresh_descriptors(s->rt.fd);
    snprintf(name, sizeof name, PROCESS_FMT, PROCESS_NAME(p));
    look_report(name, p->is.pid, p->is.start);
    _exit(0);
}

int stuck_report(spawner_t *s, process_t *p, int dump)
{
    report_t *r = find_free();

    if (!r)
        return -1;
    switch (errand_fork(s, &r->errand, LIMIT, ended)) {
    case 0:
        work(s, p);
    case -1:
        return -1;
    }
    r->id = p->is.id;
    r->dump = dump;
    p->quiet = s->now + LIMIT;
    return 0;
}

int stuck_is_told(spawner_t *s, const process_t *p)
{
    if (s->now >= p->quiet)
        return 1;
    state_wake(s, p->quiet);
    return 0;
}
