/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ask_server.h"
#include "ctl/values.h"

/* ---- status ---- */

static const char *plural(json_int_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

static void print_process(const json_t *p)
{
    const json_t *memory = json_object_get(p, "memory");
    char pid[24] = "-", bytes[24] = "-", started[24], used[24];

    if (json_is_integer(json_object_get(p, "pid")))
        snprintf(pid, sizeof pid, "%lld", (long long)values_number(p, "pid"));
    if (json_is_integer(memory))
        snprintf(bytes, sizeof bytes, "%lld MB",
                 (long long)(json_integer_value(memory) >> 20));
    values_since(started, sizeof started, p, "started");
    values_since(used, sizeof used, p, "last_used");
    printf("  %-8s %-10s %8lld %9lld %8s %9s %9s  %s\n", pid,
           values_text(p, "state"), (long long)values_number(p, "sessions"),
           (long long)values_number(p, "processed"), bytes, started, used,
           values_text(p, "id"));
}

static void print_request(const json_t *r)
{
    char old[24];

    values_age(old, sizeof old, json_number_value(json_object_get(r, "age")));
    printf("  %s %s %s from %s, %s%s\n", values_text(r, "state"),
           values_text(r, "method"), values_text(r, "uri"),
           values_text(r, "client"), old,
           json_is_true(json_object_get(r, "abandoned")) ? ", abandoned" : "");
}

/* The last failure of a start, if no start has succeeded since. */
static void print_error(const json_t *g)
{
    char ago[24];

    values_since(ago, sizeof ago, g, "last_error_time");
    printf("  the last start failed %s ago: %s (error id %s)\n", ago,
           values_text(g, "last_error"), values_text(g, "last_error_id"));
}

static void print_slow_start(const json_t *slow)
{
    char old[24];

    values_age(old, sizeof old,
               json_number_value(json_object_get(slow, "age")));
    printf("  a start lasts for %s: %s (error id %s)\n", old,
           values_text(slow, "text"), values_text(slow, "id"));
}

static void print_template(const json_t *t)
{
    char started[24];

    values_since(started, sizeof started, t, "started");
    printf("  template %lld, %s, started %s ago, %lld forked\n",
           (long long)values_number(t, "pid"), values_text(t, "state"), started,
           (long long)values_number(t, "forked"));
}

static void print_group(const json_t *g)
{
    const json_t *processes = json_object_get(g, "processes");
    const json_t *requests = json_object_get(g, "requests");
    const json_t *one;
    size_t i;

    printf("%s: %s", values_text(g, "name"), values_text(g, "state"));
    if (values_number(g, "queue") > 0)
        printf(", %lld waiting", (long long)values_number(g, "queue"));
    if (values_number(g, "outdated") > 0)
        printf(", %lld with old code", (long long)values_number(g, "outdated"));
    putchar('\n');
    if (json_is_string(json_object_get(g, "last_error")))
        print_error(g);
    if (json_is_object(json_object_get(g, "slow_start")))
        print_slow_start(json_object_get(g, "slow_start"));
    if (json_is_object(json_object_get(g, "template")))
        print_template(json_object_get(g, "template"));
    if (json_array_size(processes) > 0)
        printf("  %-8s %-10s %8s %9s %8s %9s %9s  %s\n", "PID", "STATE",
               "SESSIONS", "PROCESSED", "MEMORY", "STARTED", "LAST USED", "ID");
    for (i = 0; (one = json_array_get(processes, i)) != NULL; i++)
        print_process(one);
    for (i = 0; (one = json_array_get(requests, i)) != NULL; i++)
        print_request(one);
}

static void print_pool(const json_t *pool)
{
    json_int_t n = values_number(pool, "count");

    printf("%lld %s of %lld, %lld active, %lld starting, %lld leaving, "
           "%lld waiting\n",
           (long long)n, plural(n, "process", "processes"),
           (long long)values_number(pool, "max"),
           (long long)values_number(pool, "active"),
           (long long)values_number(pool, "spawning"),
           (long long)values_number(pool, "leaving"),
           (long long)values_number(pool, "waiting"));
    if (json_is_true(json_object_get(pool, "out")))
        puts("this host is out; apppoolctl in takes it back in");
}

int show_status(const json_t *report)
{
    const json_t *pool = json_object_get(report, "pool");
    const json_t *groups = json_object_get(report, "groups");
    const json_t *one;
    size_t i;

    if (pool)
        print_pool(pool);
    for (i = 0; (one = json_array_get(groups, i)) != NULL; i++) {
        if (pool || i > 0)
            putchar('\n');
        print_group(one);
    }
    if (i == 0)
        puts(pool ? "no application has had a request yet"
                  : "the application has had no request yet");
    return EXIT_OK;
}

/* ---- responses to other commands ---- */

int show_check(const json_t *o)
{
    if (json_is_true(json_object_get(o, "ok"))) {
        puts("all invariants hold");
        return EXIT_OK;
    }
    return ask_complain(EXIT_NO, "%s does not hold: %s",
                        json_string_value(json_object_get(o, "invariant")),
                        json_string_value(json_object_get(o, "text")));
}

int show_report(const json_t *o)
{
    const json_t *lines = json_object_get(o, "lines");
    const char *line;
    size_t i;

    for (i = 0; (line = json_string_value(json_array_get(lines, i))); i++)
        values_line(line);
    return EXIT_OK;
}

/* A setting without a place has its default. A setting without a value has
 * none. */
int show_settings(const json_t *o)
{
    const json_t *settings = json_object_get(o, "settings"), *s;
    size_t i;

    for (i = 0; (s = json_array_get(settings, i)) != NULL; i++)
        printf("%-20s %s  (%s)\n", values_text(s, "directive"),
               json_is_string(json_object_get(s, "value"))
                   ? values_text(s, "value")
                   : "none",
               json_is_string(json_object_get(s, "place"))
                   ? values_text(s, "place")
                   : "default");
    return EXIT_OK;
}

int show_done(const json_t *o)
{
    const char *text = json_string_value(json_object_get(o, "text"));

    puts(text ? text : "done");
    return EXIT_OK;
}

/* The exit status that a response to any command means. */
static int verdict(const json_t *o)
{
    const json_t *ok = json_object_get(o, "ok");

    return json_object_get(o, "error") || json_is_false(ok) ? EXIT_NO : EXIT_OK;
}

int show_response(const char *response, int raw,
                  int (*show_as)(const json_t *response))
{
    json_error_t trouble;
    json_t *o = json_loads(response, 0, &trouble);
    const char *error = json_string_value(json_object_get(o, "error"));
    int status;

    if (!json_is_object(o)) {
        json_decref(o);
        return ask_complain(EXIT_NO, "the response is not a JSON object: %s",
                            trouble.text);
    }
    if (raw) {
        puts(response);
        status = verdict(o);
    }
    else if (error)
        status = ask_complain(EXIT_NO, "%s", error);
    else
        status = show_as(o);
    json_decref(o);
    return ask_flush(status);
}
