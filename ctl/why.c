/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sentence.h"
#include "ctl/ask_server.h"
#include "ctl/values.h"
#include "shm/view/problems.h"
#include "shm/view/view.h"

/* ---- what is known ---- */

typedef struct {
    const json_t *report;
    const json_t *app;      /* of configured */
    const json_t *group;    /* NULL: it was never used */
    const json_t *settings; /* what `show` says; NULL: not for this user */
    const char *label;
    json_t *problems;  /* of this app, and of the host */
    json_t *sentences; /* in order */
} why_t;

/* @return to be released; NULL: there is no response, or a refusal */
static json_t *ask_settings(const char *dir, const json_t *app)
{
    const char *words[] = {"show", values_word(app, "name")};
    json_t *o, *settings;
    char *response;

    if (ask_silently(dir, words, 2, &response) != 0)
        return NULL;
    o = json_loads(response, 0, NULL);
    free(response);
    settings = json_incref(json_object_get(o, "settings"));
    json_decref(o);
    return settings;
}

/* The value of a directive, as text. @return NULL: it is not known */
static const char *setting(const why_t *w, const char *directive)
{
    const json_t *s;
    size_t i;

    for (i = 0; (s = json_array_get(w->settings, i)) != NULL; i++)
        if (strcmp(values_word(s, "directive"), directive) == 0)
            return json_string_value(json_object_get(s, "value"));
    return NULL;
}

/* ---- sentences ---- */

static void say(why_t *w, const sentence_t *l)
{
    json_array_append_new(w->sentences, apl_report_text(l->text));
}

/* A number and its noun, after a comma if something is there already. */
static void put_count(sentence_t *l, const char *before, json_int_t n,
                      const char *one, const char *many)
{
    sentence_add(l, "%s%lld %s", before, (long long)n, n == 1 ? one : many);
}

/* ---- what is wrong ---- */

/* @param advice NULL: that of its kind */
static void add_problem(why_t *w, const json_t *problem, const char *advice)
{
    char text[ADVICE_MAX];
    sentence_t l = {.n = 0};

    json_array_append(w->problems, (json_t *)problem);
    sentence_add(&l, "%s: %s",
                 json_is_null(json_object_get(problem, "app")) ? "this host"
                                                               : w->label,
                 values_word(problem, "text"));
    say(w, &l);
    l.n = 0;
    sentence_add(&l, "  %s",
                 advice ? advice
                        : advice_for(w->report, w->group,
                                     values_word(problem, "kind"), w->label,
                                     text));
    say(w, &l);
}

/* Can the user enter AppRoot? The spawner would say so only after a start. */
static void look_for_rights(why_t *w)
{
    char wrong[PERMISSION_MAX], advice[ADVICE_MAX];
    json_t *o;

    if (strstr(values_word(w->group, "last_error"), "AppRoot"))
        return; /* it was said already */
    if (!permission_wrong(w->app, wrong))
        return;
    o = json_pack("{s:O, s:s, s:o}", "app", json_object_get(w->app, "name"),
                  "kind", "permission", "text", apl_report_text(wrong));
    add_problem(w, o, permission_advice(wrong, advice));
    json_decref(o);
}

static void look_for_problems(why_t *w)
{
    json_t *all = apl_report_problems(w->report), *p;
    const char *name = values_word(w->app, "name");
    int host;
    size_t i;

    for (host = 0; host < 2; host++)
        json_array_foreach(all, i, p)
        {
            const char *app = json_string_value(json_object_get(p, "app"));

            if (host ? !app : app && strcmp(app, name) == 0)
                add_problem(w, p, NULL);
        }
    json_decref(all);
    look_for_rights(w);
}

/* ---- what else is known ---- */

/* When it has failed, how often, and when it is tried again. */
static void say_last_error(why_t *w)
{
    const json_t *next = json_object_get(w->group, "next_try");
    json_int_t row = values_number(w->group, "failures");
    char ago[VALUES_SHORT];
    sentence_t l = {.n = 0};

    if (!*values_word(w->group, "last_error"))
        return;
    values_since(ago, sizeof ago, w->group, "last_error_time");
    sentence_add(&l, "the last start failed %s ago (error id %s)", ago,
                 values_word(w->group, "last_error_id"));
    if (row > 1)
        sentence_add(&l, ", and the %lld before it failed as well",
                     (long long)row - 1);
    if (json_is_string(json_object_get(w->group, "failing_since"))) {
        values_since(ago, sizeof ago, w->group, "failing_since");
        sentence_add(&l, "; it has been failing for %s", ago);
    }
    if (values_number(w->group, "spawning") > 0)
        sentence_add(&l, "; a process is being started");
    else if (json_is_number(next) && json_number_value(next) > 0)
        sentence_add(&l, "; the next try is in %.0f s",
                     json_number_value(next));
    else
        sentence_add(&l, "; the next request tries it again");
    say(w, &l);
}

/* The youngest event of this app that a client may have felt. */
static const json_t *last_end(const why_t *w)
{
    const json_t *events = json_object_get(w->report, "events"), *e;
    size_t i = json_array_size(events);

    while (i-- > 0) {
        e = json_array_get(events, i);
        if (strcmp(values_word(e, "app"), values_word(w->group, "name")) == 0 &&
            (strcmp(values_word(e, "event"), "died") == 0 ||
             strcmp(values_word(e, "event"), "killed") == 0))
            return e;
    }
    return NULL;
}

static void say_last_end(why_t *w)
{
    const json_t *e = last_end(w);
    char ago[VALUES_SHORT];
    sentence_t l = {.n = 0};

    if (!e)
        return;
    values_since(ago, sizeof ago, e, "time");
    sentence_add(&l, "the last process that %s did so %s ago",
                 strcmp(values_word(e, "event"), "died") == 0
                     ? "died by itself"
                     : "was killed with its requests",
                 ago);
    if (*values_word(e, "reason"))
        sentence_add(&l, ": %s", values_word(e, "reason"));
    say(w, &l);
}

static const struct {
    const char *key, *text;
} errors[] = {{"queue_full", "at a full queue"},
              {"queue_timeout", "after too long a wait (AppQueueTimeout)"},
              {"start_failed", "by a start that failed"},
              {"died", "by a process that died"},
              {"killed", "by a kill or a timeout"},
              {"bad_response", "by a response that was not valid"},
              {"other", "for another reason"}};

static void say_errors(why_t *w)
{
    const json_t *ours = json_object_get(w->group, "errors");
    sentence_t l = {.n = 0};
    size_t i;

    for (i = 0; i < sizeof errors / sizeof *errors; i++) {
        json_int_t n = values_number(ours, errors[i].key);

        if (n > 0)
            sentence_add(&l, "%s%lld %s",
                         l.n ? ", "
                             : "requests that failed since httpd started: ",
                         (long long)n, errors[i].text);
    }
    if (l.n > 0)
        say(w, &l);
}

static void put_states(sentence_t *l, const json_t *g)
{
    const json_t *states = json_object_get(g, "states");
    const char *key, *before = " (";
    json_t *n;

    json_object_foreach((json_t *)states, key, n)
    {
        if (json_integer_value(n) == 0)
            continue;
        sentence_add(l, "%s%lld %s", before, (long long)json_integer_value(n),
                     key);
        before = ", ";
    }
    if (*before == ',')
        sentence_add(l, ")");
}

static void say_numbers(why_t *w)
{
    const json_t *g = w->group;
    json_int_t outdated = values_number(g, "outdated");
    sentence_t l = {.n = 0};

    put_count(&l, "",
              (json_int_t)json_array_size(json_object_get(g, "processes")),
              "process", "processes");
    put_states(&l, g);
    if (values_number(g, "queue") > 0)
        put_count(&l, ", ", values_number(g, "queue"), "request waits",
                  "requests wait");
    else
        sentence_add(&l, ", no request waits");
    if (outdated > 0)
        put_count(&l, ", ", outdated, "has old code and is replaced",
                  "have old code and are replaced one by one");
    if (json_array_size(json_object_get(g, "processes")) == 0 &&
        strcmp(values_word(g, "state"), "stopped") == 0)
        sentence_add(&l, "; the next request starts a process");
    say(w, &l);
}

static void say_last_minute(why_t *w)
{
    const json_t *minute =
        json_object_get(json_object_get(w->group, "recent"), "1m");
    char a[VALUES_SHORT], b[VALUES_SHORT], c[VALUES_SHORT];
    sentence_t l = {.n = 0};

    if (!json_is_object(minute))
        return;
    put_count(&l, "the last minute had ", values_number(minute, "requests"),
              "request", "requests");
    put_count(&l, " and ", values_number(minute, "errors"), "error (5xx)",
              "errors (5xx)");
    if (json_is_number(json_object_get(minute, "p50")))
        sentence_add(&l, "; half of them took at most %s, 95 %% %s, 99 %% %s",
                     values_span(json_object_get(minute, "p50"), a),
                     values_span(json_object_get(minute, "p95"), b),
                     values_span(json_object_get(minute, "p99"), c));
    say(w, &l);
}

/* A value of 0 means no limit, in these. */
static void put_limit(sentence_t *l, const char *name, const json_t *n)
{
    if (json_is_integer(n) && json_integer_value(n) > 0)
        sentence_add(l, "%s%s %lld", l->n ? ", " : "limits: ", name,
                     (long long)json_integer_value(n));
    else if (json_is_integer(n))
        sentence_add(l, "%s%s 0 (no limit)", l->n ? ", " : "limits: ", name);
}

static void put_setting(sentence_t *l, const why_t *w, const char *directive)
{
    const char *value = setting(w, directive);

    if (value)
        sentence_add(l, "%s%s %s", l->n ? ", " : "limits: ", directive, value);
}

static void say_limits(why_t *w)
{
    const json_t *pool = json_object_get(w->report, "pool");
    sentence_t l = {.n = 0};

    put_limit(&l, "MaxInstances", json_object_get(w->group, "max"));
    put_limit(&l, "AppMaxQueue", json_object_get(w->group, "max_queue"));
    put_setting(&l, w, "AppConcurrency");
    put_setting(&l, w, "AppQueueTimeout");
    put_setting(&l, w, "AppHungAfter");
    put_setting(&l, w, "AppKillAfter");
    put_limit(&l, "MaxPoolSize", json_object_get(pool, "max"));
    if (pool)
        sentence_add(&l, " (%lld used)",
                     (long long)(values_number(pool, "count") +
                                 values_number(pool, "spawning")));
    if (l.n > 0)
        say(w, &l);
}

static void say_never_used(why_t *w)
{
    sentence_t l = {.n = 0};

    sentence_add(
        &l,
        "%s: it was never used: no request has come for it, and it has no "
        "process; the first request starts one",
        w->label);
    say(w, &l);
}

static void explain(why_t *w)
{
    sentence_t l = {.n = 0};

    look_for_problems(w);
    if (json_array_size(w->problems) == 0 && w->group) {
        sentence_add(&l, "%s: nothing is wrong", w->label);
        say(w, &l);
    }
    if (!w->group) {
        say_never_used(w);
        return;
    }
    say_numbers(w);
    say_last_error(w);
    say_last_end(w);
    say_errors(w);
    say_last_minute(w);
    say_limits(w);
}

/* ---- the command ---- */

static void print(const why_t *w, int raw)
{
    const char *line;
    size_t i;

    if (raw) {
        json_t *o = json_pack("{s:O, s:b, s:O, s:O, s:O}", "app",
                              json_object_get(w->app, "name"), "wrong",
                              json_array_size(w->problems) > 0, "app_root",
                              json_object_get(w->app, "app_root"), "problems",
                              w->problems, "sentences", w->sentences);

        json_dumpf(o, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(o);
        return;
    }
    for (i = 0; (line = json_string_value(json_array_get(w->sentences, i)));
         i++)
        values_line(line);
}

static int complain_unknown(const json_t *configured, const char *name,
                            int several)
{
    const json_t *near[APP_FIND_NEAREST];
    size_t i, n = app_find_nearest(configured, name, near);
    sentence_t l = {.n = 0};

    for (i = 0; i < n; i++)
        sentence_add(&l, "%s\"%s\"", i ? ", " : "the nearest: ",
                     values_word(near[i], several ? "name" : "label"));
    if (n == 0)
        sentence_add(&l,
                     "none looks like it; apppoolctl status --all shows them");
    return ask_complain(EXIT_NO, "%s app has the name %s: %s",
                        several ? "more than one" : "no", name, l.text);
}

static int answer(const char *dir, const json_t *report, const json_t *app,
                  int raw)
{
    json_t *settings = ask_settings(dir, app);
    why_t w = {.report = report,
               .app = app,
               .group = values_named(json_object_get(report, "groups"),
                                     values_word(app, "name")),
               .settings = settings,
               .label = values_word(app, "label"),
               .problems = json_array(),
               .sentences = json_array()};
    int status;

    explain(&w);
    print(&w, raw);
    status = json_array_size(w.problems) > 0 ? EXIT_PROBLEM : EXIT_OK;
    json_decref(w.problems);
    json_decref(w.sentences);
    json_decref(settings);
    return ask_flush(status);
}

int why(const char *dir, const char *name, int raw)
{
    const json_t *configured, *app;
    json_t *report = NULL;
    int status = ask_directory(&dir), several;

    if (status == EXIT_OK)
        status = ask_status(dir, 0, &report);
    if (status == EXIT_NOT_RUNNING)
        ask_complain(status, "apppoolctl doctor says what still runs");
    if (status == EXIT_OK && !json_object_get(report, "configured"))
        status = ask_complain(EXIT_NO,
                              "the response has no list of applications: the "
                              "httpd that runs is of another build");
    if (status == EXIT_OK) {
        configured = json_object_get(report, "configured");
        app = app_find(configured, name, &several);
        status = app ? answer(dir, report, app, raw)
                     : complain_unknown(configured, name, several);
    }
    json_decref(report);
    return status;
}
