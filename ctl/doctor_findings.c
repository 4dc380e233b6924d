/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/values.h"

static void add(doctor_t *d, const char *check, const char *result,
                const char *advice, const char *format, va_list args)
{
    json_t *o = json_object();
    char *text;

    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    json_object_set_new(o, "check", json_string(check));
    json_object_set_new(o, "result", json_string(result));
    json_object_set_new(o, "text", apl_report_text(text ? text : format));
    apl_report_set_known(o, "advice", advice ? apl_report_text(advice) : NULL);
    json_array_append_new(d->findings, o);
    free(text);
}

void doctor_fine(doctor_t *d, const char *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(d, check, "ok", NULL, format, args);
    va_end(args);
}

void doctor_unknown(doctor_t *d, const char *check, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(d, check, "unknown", NULL, format, args);
    va_end(args);
}

void doctor_wrong(doctor_t *d, const char *check, const char *advice,
                  const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(d, check, "wrong", advice, format, args);
    va_end(args);
    d->wrong++;
}

void doctor_print(const doctor_t *d, int raw)
{
    json_t *o;
    size_t i;

    if (raw) {
        o = json_pack("{s:i, s:O}", "wrong", d->wrong, "findings", d->findings);
        json_dumpf(o, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(o);
        return;
    }
    json_array_foreach(d->findings, i, o)
    {
        printf("%-7s  %s: ", values_word(o, "result"), values_word(o, "check"));
        values_line(values_word(o, "text"));
        if (*values_word(o, "advice")) {
            printf("%-7s  ", "");
            values_line(values_word(o, "advice"));
        }
    }
    if (d->wrong == 0)
        puts("nothing is wrong");
    else
        printf("%d %s wrong\n", d->wrong,
               d->wrong == 1 ? "thing is" : "things are");
}
