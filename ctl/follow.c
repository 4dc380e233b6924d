/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ask_server.h"
#include "ctl/values.h"

/* What was printed so far. */
typedef struct {
    const char *dir, *app; /* app: of logs */
    int raw;
    int began;
    json_int_t next; /* number of the event or line after the last one */
} printed_t;

static void flush_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        exit(ask_complain(EXIT_NO, "the output cannot be written: %s",
                          strerror(errno)));
}

/* ---- events ---- */

static void print_event(const printed_t *p, const json_t *event)
{
    char pid[16] = "-";

    if (p->raw) {
        json_dumpf(event, stdout, JSON_COMPACT);
        putchar('\n');
        return;
    }
    if (json_object_get(event, "pid"))
        snprintf(pid, sizeof pid, "%" JSON_INTEGER_FORMAT,
                 values_number(event, "pid"));
    printf("%-20s  %-14s  %7s  %-16s  %s", values_text(event, "time"),
           values_text(event, "event"), pid, values_text(event, "id"),
           values_text(event, "app"));
    if (json_object_get(event, "reason"))
        printf(": %s", values_text(event, "reason"));
    if (json_object_get(event, "error_id"))
        printf(" (error id %s)", values_text(event, "error_id"));
    if (values_number(event, "count") > 1)
        printf(" (%" JSON_INTEGER_FORMAT " times since %s)",
               values_number(event, "count"), values_text(event, "first"));
    putchar('\n');
}

/* Print the new events. */
static void print_events(printed_t *p, const json_t *events)
{
    size_t i, n = json_array_size(events);
    json_int_t last =
        n > 0 ? values_number(json_array_get(events, n - 1), "number") : -1;
    json_int_t first =
        n > 0 ? values_number(json_array_get(events, 0), "number") : 0;

    if (p->began && last + 1 < p->next) {
        ask_complain(0, "httpd was restarted");
        p->next = 0;
    }
    else if (p->began && first > p->next)
        ask_complain(0, "%" JSON_INTEGER_FORMAT " events were missed",
                     first - p->next);
    for (i = 0; i < n; i++) {
        const json_t *event = json_array_get(events, i);

        if (!p->began || values_number(event, "number") >= p->next)
            print_event(p, event);
    }
    p->next = last + 1;
    p->began = 1;
}

/* @param key "events"; or "events_folded", with one line for those that
 * repeat */
static int ask_events(printed_t *p, const char *key)
{
    json_t *o;
    int status = ask_status(p->dir, p->began, &o);

    if (status != 0)
        return status;
    if (json_is_array(json_object_get(o, key)))
        print_events(p, json_object_get(o, key));
    else
        status = ask_complain_report(o);
    json_decref(o);
    flush_output();
    return status;
}

int follow_events(const char *dir, int raw, int follow)
{
    printed_t p = {.dir = dir, .raw = raw};
    int waits = 0,
        status = ask_events(&p, raw || follow ? "events" : "events_folded");

    while (p.began && follow) {
        sleep(1);
        if (ask_events(&p, "events") == 0)
            waits = 0;
        else if (waits++ == 0)
            ask_complain(
                0, "the spawner does not respond any more; waiting for it");
    }
    return status;
}

/* ---- logs ---- */

static void print_lines(printed_t *p, const char *response, const json_t *o)
{
    const json_t *lines = json_object_get(o, "lines");
    json_int_t first = values_number(o, "first");
    const char *line;
    size_t i;

    if (p->began && first > p->next)
        ask_complain(0, "%" JSON_INTEGER_FORMAT " lines were missed",
                     first - p->next);
    if (p->raw && (!p->began || json_array_size(lines) > 0))
        puts(response);
    for (i = 0; !p->raw && (line = json_string_value(json_array_get(lines, i)));
         i++)
        values_line(line);
    p->next = values_number(o, "next");
    p->began = 1;
    flush_output();
}

static int ask_lines(printed_t *p)
{
    const char *words[3] = {"logs", p->app, NULL}, *error;
    char from[32], *response;
    json_t *o;
    int status;

    snprintf(from, sizeof from, "%" JSON_INTEGER_FORMAT, p->next);
    words[2] = from;
    if (p->began)
        status = ask_silently(p->dir, words, 3, &response);
    else
        status = ask_server(p->dir, words, 3, &response);
    if (status != 0)
        return status;
    o = json_loads(response, 0, NULL);
    error = json_string_value(json_object_get(o, "error"));
    if (error)
        status = ask_complain(EXIT_NO, "%s", error);
    else
        print_lines(p, response, o);
    json_decref(o);
    free(response);
    return status;
}

int follow_logs(const char *dir, const char *app, int raw, int follow)
{
    static const struct timespec pause = {0, 300000000};
    printed_t p = {.dir = dir, .app = app, .raw = raw};
    int status = ask_lines(&p);

    while (follow && p.began) {
        nanosleep(&pause, NULL);
        if (ask_lines(&p) == EXIT_NO)
            return EXIT_NO; /* the app is gone */
    }
    return status;
}
