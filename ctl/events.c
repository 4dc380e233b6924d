/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/events.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ask.h"
#include "ctl/values.h"

/* What was printed so far. */
typedef struct {
    int raw;
    int began;
    json_int_t next; /* number of the event after the last that was printed */
} printed_t;

static json_int_t number_of(const json_t *event)
{
    return json_integer_value(json_object_get(event, "number"));
}

static void print_one(const printed_t *p, const json_t *event)
{
    char pid[16] = "-";

    if (p->raw) {
        json_dumpf(event, stdout, JSON_COMPACT);
        putchar('\n');
        return;
    }
    if (json_object_get(event, "pid"))
        snprintf(pid, sizeof pid, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(event, "pid")));
    printf("%-20s  %-14s  %7s  %-16s  %s", values_text(event, "time"),
           values_text(event, "event"), pid, values_text(event, "id"),
           values_text(event, "app"));
    if (json_object_get(event, "reason"))
        printf(": %s", values_text(event, "reason"));
    if (json_object_get(event, "error_id"))
        printf(" (error id %s)", values_text(event, "error_id"));
    putchar('\n');
}

/* Print the new events. */
static void print_all(printed_t *p, const json_t *events)
{
    size_t i, n = json_array_size(events);
    json_int_t last = n > 0 ? number_of(json_array_get(events, n - 1)) : -1;
    json_int_t first = n > 0 ? number_of(json_array_get(events, 0)) : 0;

    if (p->began && last + 1 < p->next) {
        ask_complain(0, "httpd was restarted");
        p->next = 0;
    }
    else if (p->began && first > p->next)
        ask_complain(0, "%" JSON_INTEGER_FORMAT " events were missed",
                     first - p->next);
    for (i = 0; i < n; i++)
        if (!p->began || number_of(json_array_get(events, i)) >= p->next)
            print_one(p, json_array_get(events, i));
    p->next = last + 1;
    p->began = 1;
}

static int ask_events(printed_t *p, const char *dir)
{
    json_t *o;
    int status = ask_status(dir, p->began, &o);

    if (status != 0)
        return status;
    if (json_is_array(json_object_get(o, "events")))
        print_all(p, json_object_get(o, "events"));
    else
        status = ask_complain_report(o);
    json_decref(o);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    ask_complain(EXIT_NO, "the output cannot be written: %s", strerror(errno));
    exit(EXIT_NO);
}

int events_print(const char *dir, int raw, int follow)
{
    printed_t p = {.raw = raw};
    int status = ask_events(&p, dir), waits = 0;

    while (p.began && follow) {
        sleep(1);
        if (ask_events(&p, dir) == 0)
            waits = 0;
        else if (waits++ == 0)
            ask_complain(
                0, "the spawner does not respond any more; waiting for it");
    }
    return status;
}
