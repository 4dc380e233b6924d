/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/verbs.h"

#include <apr_strings.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shm/check.h"
#include "shm/clock.h"
#include "shm/maintenance.h"
#include "shm/report.h"
#include "shm/snapshot.h"
#include "spawner/log.h"
#include "spawner/process.h"

#define WORDS     3
#define ID_MIN    4 /* digits of an id */
#define SHOWN_MAX 8 /* of what there is, in a refusal */

/** One question. */
typedef struct {
    spawner_t *s;
    apr_pool_t *p;
    char *words[WORDS];
    int n;
    answer_make_t *make; /* the answer takes its time */
} asked_t;

json_t *verbs_error(const char *sentence)
{
    return json_pack("{s:s}", "error", sentence);
}

static json_t *refuse(const asked_t *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static json_t *refuse(const asked_t *q, const char *format, ...)
{
    va_list args;
    json_t *o;

    va_start(args, format);
    o = verbs_error(apr_pvsprintf(q->p, format, args));
    va_end(args);
    return o;
}

/* ---- looking, in a child ---- */

static json_t *make_status(apl_pool_t *shm, apr_pool_t *p)
{
    apl_pool_t *copy;

    return apl_snapshot_take(&copy, shm, p) == APR_SUCCESS
               ? apl_report_json(copy, 1)
               : verbs_error("the pool could not be read");
}

static json_t *make_check(apl_pool_t *shm, apr_pool_t *p)
{
    apl_pool_t *copy;
    apl_finding_t finding;
    char name[16];

    if (apl_snapshot_take(&copy, shm, p) != APR_SUCCESS)
        return verbs_error("the pool could not be read");
    if (apl_check(copy, &finding))
        return json_pack("{s:b}", "ok", 1);
    if (finding.number == 0)
        return verbs_error(finding.text);
    snprintf(name, sizeof name, "I%d", finding.number);
    return json_pack("{s:b, s:s, s:s}", "ok", 0, "invariant", name, "text",
                     finding.text);
}

/* ---- a process ---- */

static int is_id(const char *word)
{
    size_t n = strlen(word);

    return n >= ID_MIN && n <= 16 && strspn(word, "0123456789abcdef") == n;
}

/* "shop[4711] 0123456789abcdef, ..." of those that can be asked for. */
static const char *list_processes(const asked_t *q)
{
    const char *text = "";
    const process_t *p;
    int n = 0;

    for (p = q->s->processes; p; p = p->next) {
        if (p->gone || p->done || n++ >= SHOWN_MAX)
            continue;
        text = apr_psprintf(q->p, "%s%s" PROCESS_FMT " " CONTRACT_ID_FMT, text,
                            n > 1 ? ", " : "", PROCESS_NAME(p), p->is.id);
    }
    if (n == 0)
        return "none runs";
    if (n > SHOWN_MAX)
        text = apr_psprintf(q->p, "%s and %d more", text, n - SHOWN_MAX);
    return apr_pstrcat(q->p, "there is ", text, NULL);
}

/* The one whose id begins so. NULL: there is none, or more than one. */
static process_t *find_process(const asked_t *q, const char *word, int *several)
{
    process_t *p, *found = NULL;
    char id[17];

    *several = 0;
    for (p = q->s->processes; p; p = p->next) {
        snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
        if (p->done || p->gone || strncmp(id, word, strlen(word)) != 0)
            continue;
        *several = found != NULL;
        found = p;
    }
    return *several ? NULL : found;
}

/* The process that the question names. @return NULL: *refusal says why not, if
 * that can be said */
static process_t *name_process(const asked_t *q, json_t **refusal)
{
    const char *word = q->words[1];
    process_t *p;
    int several;

    if (!is_id(word)) {
        *refusal = refuse(q,
                          "%s is no process id: %d to 16 hexadecimal digits, "
                          "as the status shows them",
                          word, ID_MIN);
        return NULL;
    }
    p = find_process(q, word, &several);
    if (!p)
        *refusal =
            several ? refuse(q, "more than one process id begins with %s", word)
                    : refuse(q, "no process has the id %s: %s", word,
                             list_processes(q));
    return p;
}

/* What was done to a process. */
static json_t *done_to(const asked_t *q, const process_t *p, const char *what)
{
    char id[17];

    snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:s, s:i, s:o}", "ok", 1, "app", p->is.name,
                     "id", id, "pid", (int)p->is.pid, "text",
                     json_sprintf(PROCESS_FMT " %s", PROCESS_NAME(p), what));
}

static json_t *answer_detach(const asked_t *q)
{
    json_t *refusal;
    const process_t *p = name_process(q, &refusal);

    if (!p)
        return refusal;
    switch (apl_supervise_detach(&q->s->shm, p->is.id, APL_EVENT_DETACHED,
                                 q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_ELOCK:
        return refuse(q, "the pool is locked at the moment; ask again");
    default:
        return refuse(q, PROCESS_FMT " is leaving already", PROCESS_NAME(p));
    }
    log_line(LOG_NOTICE, PROCESS_FMT " is detached by apppoolctl",
             PROCESS_NAME(p));
    return done_to(q, p, "gets no more requests, and ends after those it has");
}

static json_t *answer_kill(const asked_t *q)
{
    json_t *refusal;
    const process_t *p = name_process(q, &refusal);

    if (!p)
        return refusal;
    switch (apl_clock_kill(&q->s->shm, p->is.id, 0, q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_ELOCK:
        return refuse(q, "the pool is locked at the moment; ask again");
    case APL_EIDLE:
        return refuse(q,
                      PROCESS_FMT " works on no request: say detach, and it "
                                  "ends",
                      PROCESS_NAME(p));
    default:
        return refuse(q, PROCESS_FMT " is not ready, or is being ended already",
                      PROCESS_NAME(p));
    }
    log_line(LOG_NOTICE, PROCESS_FMT " is killed by apppoolctl",
             PROCESS_NAME(p));
    return done_to(q, p, "is ended, with the requests it has");
}

/* ---- an app ---- */

/* "/srv/shop (production)", ... */
static const char *list_apps(const asked_t *q)
{
    const table_t *t = q->s->table;
    const char *text = t->n > 0 ? "there is " : "there is none";
    uint32_t i;

    for (i = 0; i < t->n && i < SHOWN_MAX; i++)
        text = apr_psprintf(q->p, "%s%s\"%s\"", text, i > 0 ? ", " : "",
                            t->apps[i].app.name);
    return i == t->n ? text
                     : apr_psprintf(q->p, "%s and %u more", text, t->n - i);
}

/* By its name, or by the log's short one or AppRoot, where that is only one
 * app's. NULL: there is none, or more than one. */
static const table_app_t *find_app(const asked_t *q, const char *word,
                                   int *several)
{
    const table_t *t = q->s->table;
    const table_app_t *found = table_find(t, word);
    uint32_t i;

    *several = 0;
    if (found)
        return found;
    for (i = 0; i < t->n; i++) {
        const table_app_t *a = &t->apps[i];

        if (strcmp(a->label, word) != 0 && strcmp(a->app.root, word) != 0)
            continue;
        *several |= found != NULL;
        found = a;
    }
    return *several ? NULL : found;
}

/* @return as apl_supervise_restart() wants it, or -2 */
static int how_of(const char *word)
{
    return strcmp(word, "rolling") == 0    ? 1
           : strcmp(word, "blocking") == 0 ? 0
           : strcmp(word, "default") == 0  ? -1
                                           : -2;
}

/* The app that the question names. @return NULL: *refusal says why not, if
 * that can be said */
static const table_app_t *name_app(const asked_t *q, json_t **refusal)
{
    const char *word = q->words[1];
    int several;
    const table_app_t *a = find_app(q, word, &several);

    if (!a)
        *refusal = refuse(q, "%s app has the name %s: %s",
                          several ? "more than one" : "no", word, list_apps(q));
    return a;
}

static json_t *answer_drain(const asked_t *q)
{
    json_t *refusal;
    const table_app_t *a = name_app(q, &refusal);

    if (!a)
        return refusal;
    switch (apl_supervise_drain(&q->s->shm, &a->app, q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_EFULL:
        return refuse(q, "the pool has no room for one more app "
                         "(AppPoolCapacity)");
    default:
        return refuse(q, "the pool is locked at the moment; ask again");
    }
    log_line(LOG_NOTICE, "%s is drained (apppoolctl)", a->label);
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:o}", "ok", 1, "app", a->app.name, "text",
                     json_sprintf("%s is drained: it gets no more requests, "
                                  "and its processes end after those they "
                                  "have; apppoolctl restart puts it back to "
                                  "work",
                                  a->label));
}

/* What became of an app that was there. */
static const char *restarted(apr_status_t rv, int rolling)
{
    return rv == APL_EDRAINED ? "is put back to work"
           : rolling ? "is restarted: its processes are replaced one by one"
                     : "is restarted: its processes end after the requests "
                       "they have";
}

static json_t *answer_restart(const asked_t *q)
{
    int rolling = how_of(q->words[2]);
    const table_app_t *a;
    json_t *refusal;
    apr_status_t rv;

    if (rolling < -1)
        return refuse(q, "%s is none of rolling, blocking, default",
                      q->words[2]);
    a = name_app(q, &refusal);
    if (!a)
        return refusal;
    rv = apl_supervise_restart(&q->s->shm, a->app.name, rolling, q->s->now);
    if (rv == APL_ELOCK)
        return refuse(q, "the pool is locked at the moment; ask again");
    if (rv == APL_ESTALE)
        return json_pack("{s:b, s:s, s:o}", "ok", 1, "app", a->app.name, "text",
                         json_sprintf("%s has not been asked for yet: nothing "
                                      "runs that could be restarted",
                                      a->label));
    if (rolling < 0)
        rolling = (int)a->app.options.rolling;
    log_line(LOG_NOTICE, "%s %s (apppoolctl)", a->label,
             restarted(rv, rolling));
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:b, s:b, s:o}", "ok", 1, "app", a->app.name,
                     "rolling", rolling, "drained", rv == APL_EDRAINED, "text",
                     json_sprintf("%s %s", a->label, restarted(rv, rolling)));
}

/* ---- all ---- */

static const struct {
    const char *word;
    json_t *(*answer)(const asked_t *q);
    answer_make_t *make; /* instead of that */
    int arguments;       /* how many words follow */
    int everyone;        /* httpd's user, too */
} verbs[] = {
    {"status", NULL, make_status, 0, 1},
    {"check", NULL, make_check, 0, 0},
    {"detach", answer_detach, NULL, 1, 0},
    {"kill", answer_kill, NULL, 1, 0},
    {"drain", answer_drain, NULL, 1, 0},
    {"restart", answer_restart, NULL, 2, 0},
};

static json_t *decide(asked_t *q, int root)
{
    size_t i;

    for (i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(q->words[0], verbs[i].word) != 0)
            continue;
        if (!verbs[i].everyone && !root)
            return refuse(q, "only root may ask for %s", verbs[i].word);
        if (q->n != 1 + verbs[i].arguments)
            return refuse(q, "%s takes %d words and not %d", verbs[i].word,
                          verbs[i].arguments, q->n - 1);
        q->make = verbs[i].make;
        return q->make ? NULL : verbs[i].answer(q);
    }
    return refuse(q, "there is no command of that name");
}

json_t *verbs_answer(spawner_t *s, char *line, size_t length, int root,
                     answer_make_t **make)
{
    asked_t q = {.s = s};
    json_t *o;
    size_t i;

    *make = NULL;
    line[length] = 0;
    q.words[q.n++] = line;
    for (i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        if (c == '\t') {
            if (q.n == WORDS)
                return verbs_error("there are too many words");
            line[i] = 0;
            q.words[q.n++] = line + i + 1;
        }
        else if (c < 0x20 || c == 0x7f)
            return verbs_error("there is a control character in the question");
    }
    apr_pool_create(&q.p, s->pool);
    o = decide(&q, root);
    apr_pool_destroy(q.p);
    *make = q.make;
    /* A text that is no UTF-8 cannot be said again. */
    return o || q.make ? o : verbs_error("that cannot be answered");
}
