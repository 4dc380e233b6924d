/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/report/reports.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm/view/view.h"
#include "system/log.h"
#include "spawner/output/output.h"

#define PERIOD      (60 * SECOND) /* between two commands of an app */
#define AT_ONCE     8             /* commands of all apps */
#define EARLIER_MAX 20
#define DEATHS      3 /* of an app in a PERIOD */
#define TEXT_MAX    1200

/* An app with something to report now or in the last minute, or an app whose
 * starts fail. */
typedef struct alert {
    struct alert *next;
    char app[APL_NAME_MAX];
    int failing;            /* starts fail */
    int64_t failed;         /* us: last failed start; 0: before this spawner */
    json_t *events;         /* to be sent, oldest first; NULL: none */
    unsigned count;         /* number of events, including those not kept */
    int64_t not_before;     /* us: no command before that */
    int64_t deaths[DEATHS]; /* us: the last deaths, as a ring; 0 */
    unsigned died;          /* number of deaths */
    notify_command_t command;
} alert_t;

static alert_t *alerts;

static const char *const words[] = {
    [ALERT_START_FAILED] = "start_failed",
    [ALERT_BACKOFF_OPENED] = "backoff_opened",
    [ALERT_BACKOFF_CLOSED] = "backoff_closed",
    [ALERT_BROKEN_DEPLOY] = "broken_deploy",
    [ALERT_DEATHS] = "deaths",
    [ALERT_KILLED] = "killed",
    [ALERT_UNKILLABLE] = "unkillable",
};

/* ---- events ---- */

/* The text, escaped as in the log. */
static json_t *text_of(const char *bytes)
{
    char text[TEXT_MAX];

    log_format_escape(text, sizeof text, bytes, strlen(bytes));
    return apl_report_text(text);
}

static json_t *now_as_text(void)
{
    time_t now = time(NULL);
    char text[32];
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_string(text);
}

static json_t *event_of(const process_t *p, int event, const char *text)
{
    char id[17];

    snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
    return json_pack("{s:o, s:s, s:o, s:o, s:s}", "time", now_as_text(),
                     "event", words[event], "text", text_of(text), "pid",
                     p->is.pid > 0 ? json_integer(p->is.pid) : json_null(),
                     "id", id);
}

static alert_t *find(const char *app)
{
    alert_t *a;

    for (a = alerts; a; a = a->next)
        if (strcmp(a->app, app) == 0)
            return a;
    return NULL;
}

static alert_t *find_or_make(const char *app)
{
    alert_t *a = find(app);

    if (a)
        return a;
    a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    snprintf(a->app, sizeof a->app, "%s", app);
    a->command.output.fd = -1;
    a->next = alerts;
    alerts = a;
    return a;
}

/* @return NULL: no command to notify */
static alert_t *alert_of(const spawner_t *s, const process_t *p)
{
    const app_entry_t *app = app_table_find(s->table, p->is.name);

    return app && app->notify && !s->stopping ? find_or_make(p->is.name) : NULL;
}

void alert_raise(spawner_t *s, const process_t *p, int event,
                 const char *format, ...)
{
    alert_t *a = alert_of(s, p);
    char text[2 * TEXT_MAX];
    va_list args;

    if (!a)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!a->events)
        a->events = json_array();
    json_array_append_new(a->events, event_of(p, event, text));
    if (json_array_size(a->events) > EARLIER_MAX + 1)
        json_array_remove(a->events, 0);
    a->count++;
    state_wake(s, s->now);
}

void alert_death(spawner_t *s, const process_t *p, const char *cause)
{
    alert_t *a = alert_of(s, p);
    int64_t *oldest;

    if (!a)
        return;
    a->deaths[a->died++ % DEATHS] = s->now;
    oldest = &a->deaths[a->died % DEATHS];
    if (*oldest == 0 || s->now - *oldest > PERIOD)
        return;
    memset(a->deaths, 0, sizeof a->deaths);
    alert_raise(s, p, ALERT_DEATHS,
                "%d processes died within %d s, the last one with %s", DEATHS,
                (int)(PERIOD / SECOND), cause);
}

/* ---- starts that fail ---- */

int alert_open(spawner_t *s, const process_t *p)
{
    alert_t *a = find_or_make(p->is.name);
    int first = !a || !a->failing;

    if (a) {
        a->failing = 1;
        a->failed = s->now;
    }
    return first;
}

int alert_close(spawner_t *s, const process_t *p)
{
    alert_t *a = find(p->is.name);

    if (!a || !a->failing || p->live_since == 0 || p->live_since < a->failed)
        return 0;
    a->failing = 0;
    alert_raise(s, p, ALERT_BACKOFF_CLOSED, "it starts again");
    return 1;
}

void alert_recall(const char *app)
{
    alert_t *a = find_or_make(app);

    if (a)
        a->failing = 1;
}

/* ---- the object ---- */

static json_t *object_of(const alert_t *a, const app_entry_t *app)
{
    size_t n = json_array_size(a->events);
    json_t *o = json_deep_copy(json_array_get(a->events, n - 1));
    json_t *earlier = json_copy(a->events);
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    json_array_remove(earlier, n - 1);
    json_object_set_new(o, "host", text_of(host));
    json_object_set_new(o, "app", json_string(a->app));
    json_object_set_new(o, "app_root", json_string(app->app.root));
    json_object_set_new(o, "count", json_integer((json_int_t)a->count));
    json_object_set_new(o, "earlier", earlier);
    return o;
}

/* Write the object on one line. If it is too long, the oldest events are left
 * out. */
static size_t line_of(const alert_t *a, const app_entry_t *app,
                      char text[NOTIFY_COMMAND_MAX])
{
    json_t *o = object_of(a, app), *earlier = json_object_get(o, "earlier");
    size_t n = json_dumpb(o, text, NOTIFY_COMMAND_MAX - 1, JSON_COMPACT);

    while (n >= NOTIFY_COMMAND_MAX && json_array_size(earlier) > 0) {
        json_array_remove(earlier, 0);
        n = json_dumpb(o, text, NOTIFY_COMMAND_MAX - 1, JSON_COMPACT);
    }
    json_decref(o);
    if (n == 0 || n >= NOTIFY_COMMAND_MAX)
        return 0;
    text[n++] = '\n';
    return n;
}

/* ---- sending ---- */

static void forget_events(alert_t *a)
{
    json_decref(a->events);
    a->events = NULL;
    a->count = 0;
}

static void notify(spawner_t *s, alert_t *a)
{
    const app_entry_t *app = app_table_find(s->table, a->app);
    char text[NOTIFY_COMMAND_MAX];
    size_t n;

    a->not_before = s->now + PERIOD;
    if (!app || !app->notify) {
        forget_events(a);
        return;
    }
    n = line_of(a, app, text);
    if (n > 0 && notify_command_begin(s, &a->command, app, text, n) != 0) {
        app_log_about(app, LOG_ERROR, "%s: AppNotify could not be run: %s",
                      app->label, strerror(errno));
        return; /* the next try is in a minute */
    }
    forget_events(a);
}

static int running(void)
{
    const alert_t *a;
    int n = 0;

    for (a = alerts; a; a = a->next)
        n += notify_command_is_busy(&a->command);
    return n;
}

/* Has a process of the app died within the last PERIOD? */
static int died_lately(const spawner_t *s, const alert_t *a)
{
    int64_t last = a->died > 0 ? a->deaths[(a->died - 1) % DEATHS] : 0;

    return last != 0 && s->now - last <= PERIOD;
}

void alert_tick(spawner_t *s)
{
    alert_t **at = &alerts, *a;

    while ((a = *at) != NULL) {
        if (notify_command_is_busy(&a->command)) {
            at = &a->next;
            continue;
        }
        if (a->events && s->now >= a->not_before && running() < AT_ONCE)
            notify(s, a);
        if (a->failing && !app_table_find(s->table, a->app))
            a->failing = 0; /* it is not started any more */
        if (a->events)
            state_wake(s, a->not_before > s->now ? a->not_before
                                                 : s->now + SECOND);
        if (a->failing || a->events || notify_command_is_busy(&a->command) ||
            s->now < a->not_before || died_lately(s, a))
            at = &a->next;
        else {
            *at = a->next;
            free(a);
        }
    }
}
