/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/show.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ask.h"
#include "ctl/status_table.h"

int show_status(const json_t *o)
{
    table_print(o);
    return EXIT_OK;
}

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
        table_line(line);
    return EXIT_OK;
}

/* A setting without a place has its default. A setting without a value has
 * none. */
int show_settings(const json_t *o)
{
    const json_t *settings = json_object_get(o, "settings"), *s;
    size_t i;

    for (i = 0; (s = json_array_get(settings, i)) != NULL; i++)
        printf(
            "%-20s %s  (%s)\n", table_text(s, "directive"),
            json_is_string(json_object_get(s, "value")) ? table_text(s, "value")
                                                        : "none",
            json_is_string(json_object_get(s, "place")) ? table_text(s, "place")
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
    if (fflush(stdout) != 0 || ferror(stdout))
        return ask_complain(EXIT_NO, "the output cannot be written: %s",
                            strerror(errno));
    return status;
}
