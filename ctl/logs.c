/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/logs.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/ask.h"
#include "ctl/status_table.h"

/* What was printed so far. */
typedef struct {
    const char *dir, *app;
    int raw;
    int began;
    json_int_t next; /* number of the line after the last that was printed */
} reader_t;

static json_int_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static int print(reader_t *r, const char *answer, const json_t *o)
{
    const json_t *lines = json_object_get(o, "lines");
    json_int_t first = number(o, "first");
    const char *line;
    size_t i;

    if (r->began && first > r->next)
        ask_complain(0, "%" JSON_INTEGER_FORMAT " lines were missed",
                     first - r->next);
    if (r->raw && (!r->began || json_array_size(lines) > 0))
        puts(answer);
    for (i = 0; !r->raw && (line = json_string_value(json_array_get(lines, i)));
         i++)
        table_line(line);
    r->next = number(o, "next");
    r->began = 1;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_OK;
    exit(ask_complain(EXIT_NO, "the output cannot be written: %s",
                      strerror(errno)));
}

static int look(reader_t *r)
{
    const char *question[3] = {"logs", r->app, NULL}, *error;
    char from[32], *answer;
    json_t *o;
    int status;

    snprintf(from, sizeof from, "%" JSON_INTEGER_FORMAT, r->next);
    question[2] = from;
    if (r->began)
        status = ask_silently(r->dir, question, 3, &answer);
    else
        status = ask_server(r->dir, question, 3, &answer);
    if (status != 0)
        return status;
    o = json_loads(answer, 0, NULL);
    error = json_string_value(json_object_get(o, "error"));
    status = error ? ask_complain(EXIT_NO, "%s", error) : print(r, answer, o);
    json_decref(o);
    free(answer);
    return status;
}

int logs_print(const char *dir, const char *app, int raw, int follow)
{
    static const struct timespec pause = {0, 300000000};
    reader_t r = {.dir = dir, .app = app, .raw = raw};
    int status = look(&r);

    while (follow && r.began) {
        nanosleep(&pause, NULL);
        if (look(&r) == EXIT_NO)
            return EXIT_NO; /* the app is gone */
    }
    return status;
}
