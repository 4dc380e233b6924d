/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/control.h"

#include <apr_strings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/recovery/recovery.h"
#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "spawner/report/reports.h"
#include "base/privilege.h"
#include "spawner/process/process.h"
#include "shm/verbs/admin.h"
#include "spawner/output/output.h"
#include "shm/verbs/timeouts.h"
#include "shm/verbs/health.h"
#include "shm/view/report_sentence.h"
#include "system/log.h"

/* ---- what only reads the pool: a helper job makes the response
 * (status_job.c), from a copy of the pool. A user who is neither root nor
 * httpd's user sees the apps that run as that user, and nothing else of the
 * pool ---- */

/* ---- status ---- */

/* @param a NULL: it is not shown */
static int is_shown(const status_job_order_t *order, const app_entry_t *a)
{
    return a && (!order->app[0] || strcmp(order->app, a->app.name) == 0) &&
           (order->only == USERDB_NOBODY || order->only == a->uid);
}

static void add_configured(const spawner_t *s, const status_job_order_t *order,
                           json_t *report)
{
    json_t *used = apl_configured_begin(report);
    uint32_t i;

    for (i = 0; i < s->table->n; i++) {
        const app_entry_t *a = &s->table->apps[i];
        const apl_configured_t app = {a->app.name, a->label, a->app.root,
                                      a->user_name, a->group};

        if (is_shown(order, a))
            apl_configured_add(report, used, &app);
    }
    json_decref(used);
}

/* Remove everything except the groups that this user may see. */
static json_t *narrowed(const spawner_t *s, const status_job_order_t *order,
                        json_t *report)
{
    json_t *groups = json_array(), *group, *less;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(report, "groups"), i, group)
    {
        name = json_string_value(json_object_get(group, "name"));
        if (name && is_shown(order, app_table_find(s->table, name)))
            json_array_append(groups, group);
    }
    json_decref(report);
    less = json_pack("{s:i, s:o}", "version", 1, "groups", groups);
    add_configured(s, order, less);
    return less;
}

static json_t *make_status(spawner_t *s, const status_job_order_t *order)
{
    apl_pool_t *copy;
    json_t *report;

    if (apl_snapshot_take(&copy, &s->shm, s->pool) != APR_SUCCESS)
        return command_error("the pool could not be read");
    report = apl_report_json(copy, 1);
    apl_report_sentences(report, s->rt.dir);
    if (order->app[0])
        apl_report_only(report, copy, order->app);
    if (order->app[0] || order->only != USERDB_NOBODY)
        return narrowed(s, order, report);
    add_configured(s, order, report);
    json_object_set_new(report, "store", apl_report_store(s->figures));
    return report;
}

static json_t *show_status(command_t *q)
{
    const app_entry_t *a;
    json_t *refusal;

    q->user.is_root |= q->user.is_httpd; /* httpd may see what root sees */
    if (q->n > 1) {
        a = command_find_app(q, &refusal);
        if (!a)
            return refusal;
        apr_cpystrn(q->order.app, a->app.name, sizeof q->order.app);
    }
    q->order.only = q->user.is_root ? USERDB_NOBODY : q->user.uid;
    q->order.make = make_status;
    return NULL;
}

/* ---- check ---- */

static json_t *make_check(spawner_t *s, const status_job_order_t *order)
{
    apl_pool_t *copy;
    apl_finding_t finding;
    char name[16];

    (void)order;
    if (apl_snapshot_take(&copy, &s->shm, s->pool) != APR_SUCCESS)
        return command_error("the pool could not be read");
    if (apl_check(copy, &finding))
        return json_pack("{s:b}", "ok", 1);
    if (finding.number == 0)
        return command_error(finding.text);
    snprintf(name, sizeof name, "I%d", finding.number);
    return json_pack("{s:b, s:s, s:s}", "ok", 0, "invariant", name, "text",
                     finding.text);
}

static json_t *check_pool(command_t *q)
{
    q->order.make = make_check;
    return NULL;
}

/* ---- report ---- */

#define REPORT_LIMIT (2 * SECOND) /* its reader may have to wait */

static void add_line(void *lines, const char *line)
{
    json_array_append_new(lines, apl_report_text(line));
}

static json_t *make_report(spawner_t *s, const status_job_order_t *order)
{
    const process_t *p = process_find(s, order->process);
    json_t *lines = json_array();
    char name[96];
    process_report_t asked = {.name = name,
                              .only = order->only,
                              .write_line = add_line,
                              .ctx = lines};

    if (p) {
        snprintf(name, sizeof name, PROCESS_FMT, PROCESS_NAME(p));
        asked.leader = p->is.pid;
        asked.start = p->is.start;
        process_report_write(&asked);
    }
    if (json_array_size(lines) == 0) {
        json_decref(lines);
        return command_error("the process has ended");
    }
    return json_pack("{s:s, s:i, s:o}", "app", p->is.name, "pid",
                     (int)p->is.pid, "lines", lines);
}

static json_t *report_process(command_t *q)
{
    json_t *refusal;
    const process_t *p = command_find_process(q, &refusal);

    if (!p)
        return refusal;
    if (p->is.pid <= 0)
        return command_refuse(q, "%s has no process yet", p->label);
    q->order.process = p->is.id;
    q->order.limit = REPORT_LIMIT;
    q->order.only = q->user.is_root ? USERDB_NOBODY : q->user.uid;
    q->order.make = make_report;
    return NULL;
}

/* ---- an app ---- */

static json_t *refuse_app(const command_t *q, const app_entry_t *a,
                          apr_status_t rv)
{
    switch (rv) {
    case APL_EFULL:
        return command_refuse(q, "the pool has no room for one more app "
                                 "(AppPoolCapacity)");
    case APL_EDRAINED:
        return command_refuse(
            q,
            "%s is drained: root can put it back into service with apppoolctl "
            "restart",
            a->label);
    case APL_EUNKILLABLE:
        return command_refuse(
            q, "too many processes of %s survive SIGKILL (AppMaxUnkillable)",
            a->label);
    case APL_EBACKOFF:
        return command_refuse(
            q, "%s failed to start less than a second ago: try again",
            a->label);
    case APL_EWAIT:
        return command_refuse(
            q,
            "%s cannot be started now: all processes of the pool are busy "
            "(MaxPoolSize)",
            a->label);
    default:
        return command_refuse_busy(q);
    }
}

/* May this command start the app? The result stays true until the command is
 * done, because only this program drains apps and notices failed starts. */
static apr_status_t permits(const command_t *q, const app_entry_t *a)
{
    return q->user.is_root
               ? APR_SUCCESS
               : apl_admin_permits(&q->s->shm, a->app.name, q->s->now);
}

static json_t *drain_app(command_t *q)
{
    json_t *refusal;
    const app_entry_t *a = command_find_app(q, &refusal);
    apr_status_t rv;

    if (!a)
        return refusal;
    rv = apl_admin_drain(&q->s->shm, &a->app, q->s->now);
    if (rv != APR_SUCCESS)
        return refuse_app(q, a, rv);
    app_log_about(a, LOG_NOTICE, "%s is drained (apppoolctl)", a->label);
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:o}", "ok", 1, "app", a->app.name, "text",
                     json_sprintf("%s is drained: it gets no more requests, "
                                  "and its processes finish the requests that "
                                  "they have, and end; apppoolctl restart puts "
                                  "it back into service",
                                  a->label));
}

/* ---- the processes that it has now ---- */

static int is_its(const process_t *p, const app_entry_t *a)
{
    return !state_is_template(p) && p->phase < PHASE_ENDING && !p->gone &&
           !p->done && strcmp(p->is.name, a->app.name) == 0;
}

static json_t *ids_of(const spawner_t *s, const app_entry_t *a)
{
    json_t *ids = json_array();
    const process_t *p;
    char id[17];

    for (p = s->processes; p; p = p->next) {
        if (!is_its(p, a))
            continue;
        snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
        json_array_append_new(ids, json_string(id));
    }
    return ids;
}

static json_t *start_app(command_t *q)
{
    json_t *refusal, *ids;
    const app_entry_t *a = command_find_app(q, &refusal);
    size_t n;
    apr_status_t rv;

    if (!a)
        return refusal;
    rv = permits(q, a);
    if (rv == APR_SUCCESS)
        rv = apl_admin_start(&q->s->shm, &a->app, q->s->now);
    if (rv != APR_SUCCESS)
        return refuse_app(q, a, rv);
    ids = ids_of(q->s, a);
    n = json_array_size(ids);
    json_decref(ids);
    app_log_about(a, LOG_NOTICE, "%s is started (%s)", a->label, command_by(q));
    state_wake(q->s, q->s->now);
    return json_pack(
        "{s:b, s:s, s:o}", "ok", 1, "app", a->app.name, "text",
        n == 0 ? json_sprintf("%s is being started", a->label)
               : json_sprintf("%s has %d process%s; more are being started if "
                              "MinInstances is higher",
                              a->label, (int)n, n == 1 ? "" : "es"));
}

/* ---- restart ---- */

/* @return the parameter of apl_admin_restart(), or -2 */
static int how_of(const char *word)
{
    return strcmp(word, "rolling") == 0    ? 1
           : strcmp(word, "blocking") == 0 ? 0
           : strcmp(word, "default") == 0  ? -1
                                           : -2;
}

/* What a restart does, as a part of the response. */
static const char *restarted(apr_status_t rv, int rolling)
{
    return rv == APL_EDRAINED ? "is put back into service"
           : rv == APL_ESTALE ? "has had no request yet: it has no process "
                                "to restart"
           : rolling ? "is restarted: its processes are replaced one by one"
                     : "is restarted: its processes end after the requests "
                       "they have";
}

static json_t *restart_app(command_t *q)
{
    int rolling = how_of(q->words[2]);
    const app_entry_t *a;
    json_t *refusal;
    apr_status_t rv;

    if (rolling < -1)
        return command_refuse(q, "\"%s\" is not rolling, blocking or default",
                              q->words[2]);
    a = command_find_app(q, &refusal);
    if (!a)
        return refusal;
    rv = permits(q, a);
    if (rv != APR_SUCCESS)
        return refuse_app(q, a, rv);
    rv = apl_admin_restart(&q->s->shm, a->app.name, rolling, q->s->now);
    if (rv != APR_SUCCESS && rv != APL_EDRAINED && rv != APL_ESTALE)
        return refuse_app(q, a, rv);
    if (rolling < 0)
        rolling = (int)a->app.options.rolling;
    if (rv != APL_ESTALE)
        app_log_about(a, LOG_NOTICE, "%s %s (%s)", a->label,
                      restarted(rv, rolling), command_by(q));
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:b, s:b, s:o, s:o}", "ok", 1, "app",
                     a->app.name, "rolling", rolling, "drained",
                     rv == APL_EDRAINED, "old", ids_of(q->s, a), "text",
                     json_sprintf("%s %s", a->label, restarted(rv, rolling)));
}

/* ---- logs ---- */

static json_t *show_logs(command_t *q)
{
    json_t *refusal, *o;
    const app_entry_t *a = command_find_app(q, &refusal);
    uint64_t from = 0;
    char *end;

    if (!a)
        return refusal;
    if (q->n > 2) {
        from = strtoull(q->words[2], &end, 10);
        if (end == q->words[2] || *end)
            return command_refuse(q, "\"%s\" is not the number of a line",
                                  q->words[2]);
    }
    o = recent_output_lines(a->app.name, from,
                            q->user.is_root ? USERDB_NOBODY : q->user.uid);
    if (o)
        json_object_set_new(o, "app", json_string(a->app.name));
    return o;
}

/* ---- show ---- */

/* AppLog "|COMMAND": it runs as root, and no user of an app can see it. */
static int is_root_command(const char *name, const char *words)
{
    return strcmp(name, "AppLog") == 0 && words[strspn(words, "\"'")] == '|';
}

/* "NAME\tWORDS\tPLACE"; both of the last two may be empty. The user of an app
 * sees what is in the environment of its processes anyway, but no place: the
 * files are root's, and may be about other sites. */
static json_t *setting_of(char *line, int for_root)
{
    const char *name = strsep(&line, "\t"), *words = strsep(&line, "\t");
    const char *place = line;

    if (!words || !place)
        return NULL;
    if (!for_root && *place)
        place = "set by the administrator";
    if (!for_root && is_root_command(name, words))
        words = "a command";
    return json_pack("{s:s, s:o, s:o}", "directive", name, "value",
                     *words ? apl_report_text(words) : json_null(), "place",
                     *place ? apl_report_text(place) : json_null());
}

static json_t *show_settings(command_t *q)
{
    json_t *refusal, *settings = json_array();
    const app_entry_t *a = command_find_app(q, &refusal);
    const char *const *line;

    if (!a) {
        json_decref(settings);
        return refusal;
    }
    for (line = a->directives; *line; line++)
        json_array_append_new(
            settings, setting_of(apr_pstrdup(q->p, *line), q->user.is_root));
    return json_pack("{s:s, s:o}", "app", a->app.name, "settings", settings);
}

/* ---- a process ---- */

/* The response: what was done to the process. */
static json_t *done_to(const command_t *q, const process_t *p, const char *what)
{
    char id[17];

    snprintf(id, sizeof id, CONTRACT_ID_FMT, p->is.id);
    state_wake(q->s, q->s->now);
    return json_pack("{s:b, s:s, s:s, s:i, s:o}", "ok", 1, "app", p->is.name,
                     "id", id, "pid", (int)p->is.pid, "text",
                     json_sprintf(PROCESS_FMT " %s", PROCESS_NAME(p), what));
}

static json_t *detach_process(command_t *q)
{
    json_t *refusal;
    const process_t *p = command_find_process(q, &refusal);

    if (!p)
        return refusal;
    switch (apl_supervise_detach(&q->s->shm, p->is.id, APL_EVENT_DETACHED,
                                 q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_ELOCK:
        return command_refuse_busy(q);
    default:
        return command_refuse(q, PROCESS_FMT " is already leaving",
                              PROCESS_NAME(p));
    }
    app_log(p, LOG_NOTICE, "is detached by apppoolctl");
    return done_to(q, p,
                   "gets no more requests, finishes the requests that it has, "
                   "and ends");
}

static json_t *kill_process(command_t *q)
{
    json_t *refusal;
    const process_t *p = command_find_process(q, &refusal);

    if (!p)
        return refusal;
    switch (apl_timeouts_kill(&q->s->shm, p->is.id, 0, q->s->now)) {
    case APR_SUCCESS:
        break;
    case APL_ELOCK:
        return command_refuse_busy(q);
    case APL_EIDLE:
        return command_refuse(
            q, PROCESS_FMT " has no request: use apppoolctl detach",
            PROCESS_NAME(p));
    default:
        return command_refuse(
            q, PROCESS_FMT " is not ready yet, or is already being ended",
            PROCESS_NAME(p));
    }
    app_log(p, LOG_NOTICE, "is killed by apppoolctl");
    return done_to(q, p, "is killed together with the requests that it has");
}

/* ---- the whole host: out of its load balancer, and back in (health.h) ---- */

static json_t *set_out(command_t *q, int out, const char *logged,
                       const char *text)
{
    if (apl_health_set_out(&q->s->shm, out))
        log_line(LOG_NOTICE, "%s (apppoolctl)", logged);
    return json_pack("{s:b, s:b, s:s}", "ok", 1, "out", out, "text", text);
}

static json_t *take_host_out(command_t *q)
{
    return set_out(q, 1,
                   "this host is out: apppool-health responds with 503 to load "
                   "balancers",
                   "this host is out: apppool-health responds with 503 to load "
                   "balancers, and all requests that come are served; "
                   "apppoolctl in takes it back in");
}

static json_t *take_host_in(command_t *q)
{
    return set_out(q, 0, "this host is in again", "this host is in");
}

/* EVERYBODY: also users of apps. They can name only the apps that they own. */
enum { ROOT, EVERYBODY };

static const struct {
    const char *word;
    json_t *(*run)(command_t *q);
    int least, most; /* number of words that follow */
    int users;
} commands[] = {
    {"status", show_status, 0, 1, EVERYBODY},
    {"restart", restart_app, 2, 2, EVERYBODY},
    {"start", start_app, 1, 1, EVERYBODY},
    {"logs", show_logs, 1, 2, EVERYBODY},
    {"report", report_process, 1, 1, EVERYBODY},
    {"check", check_pool, 0, 0, ROOT},
    {"detach", detach_process, 1, 1, ROOT},
    {"kill", kill_process, 1, 1, ROOT},
    {"drain", drain_app, 1, 1, ROOT},
    {"show", show_settings, 1, 1, EVERYBODY},
    {"out", take_host_out, 0, 0, ROOT},
    {"in", take_host_in, 0, 0, ROOT},
};

static json_t *decide(command_t *q)
{
    size_t i;

    for (i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(q->words[0], commands[i].word) != 0)
            continue;
        if (commands[i].users == ROOT && !q->user.is_root)
            return command_refuse(q, "only root may use %s", commands[i].word);
        if (q->n - 1 < commands[i].least || q->n - 1 > commands[i].most)
            return command_refuse(q, "%s takes at most %d words, not %d",
                                  commands[i].word, commands[i].most, q->n - 1);
        return commands[i].run(q);
    }
    return command_refuse(q, "there is no such command");
}

json_t *command_list_run(spawner_t *s, char *line, size_t length,
                         const command_client_t *user,
                         status_job_order_t *order)
{
    command_t q = {.s = s, .user = *user};
    json_t *o;
    size_t i;

    memset(order, 0, sizeof *order);
    memset(&q.order, 0, sizeof q.order);
    line[length] = 0;
    q.words[q.n++] = line;
    for (i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];

        if (c == '\t') {
            if (q.n == COMMAND_WORDS)
                return command_error("the command has too many words");
            line[i] = 0;
            q.words[q.n++] = line + i + 1;
        }
        else if (c < 0x20 || c == 0x7f)
            return command_error("the command contains a control character");
    }
    apr_pool_create(&q.p, s->pool);
    o = decide(&q);
    apr_pool_destroy(q.p);
    *order = q.order;
    /* A text that is not UTF-8 cannot be a part of the response. */
    return o || order->make
               ? o
               : command_error("the response cannot be written as JSON");
}
