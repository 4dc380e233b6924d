/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/logs.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/ask.h"
#include "ctl/values.h"

/* What was printed so far. */
typedef struct {
    const char *dir, *app;
    int raw;
    int began;
    json_int_t next; /* number of the line after the last that was printed */
} printed_t;

static int print(printed_t *p, const char *response, const json_t *o)
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
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    exit(ask_complain(EXIT_NO, "the output cannot be written: %s",
                      strerror(errno)));
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
    status = error ? ask_complain(EXIT_NO, "%s", error) : print(p, response, o);
    json_decref(o);
    free(response);
    return status;
}

int logs_print(const char *dir, const char *app, int raw, int follow)
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
