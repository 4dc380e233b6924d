/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/control/command_app.h"

#include <apr_strings.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/verbs/admin.h"
#include "shm/view/report_value.h"
#include "base/privilege.h"
#include "spawner/process/process.h"
#include "spawner/output/recent_output.h"
#include "spawner/output/app_log.h"

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

json_t *command_app_drain(command_t *q)
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

json_t *command_app_start(command_t *q)
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

json_t *command_app_restart(command_t *q)
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

json_t *command_app_logs(command_t *q)
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

/* "NAME\tWORDS\tPLACE"; both of the last two may be empty. */
static json_t *setting_of(char *line)
{
    char *name = strsep(&line, "\t"), *words = strsep(&line, "\t");

    if (!words || !line)
        return NULL;
    return json_pack("{s:s, s:o, s:o}", "directive", name, "value",
                     *words ? apl_report_text(words) : json_null(), "place",
                     *line ? apl_report_text(line) : json_null());
}

json_t *command_app_show(command_t *q)
{
    json_t *refusal, *settings = json_array();
    const app_entry_t *a = command_find_app(q, &refusal);
    const char *const *line;

    if (!a) {
        json_decref(settings);
        return refusal;
    }
    for (line = a->directives; *line; line++)
        json_array_append_new(settings, setting_of(apr_pstrdup(q->p, *line)));
    return json_pack("{s:s, s:o}", "app", a->app.name, "settings", settings);
}
