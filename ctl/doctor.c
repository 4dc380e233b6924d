/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/ask_server.h"
#include "ctl/commands.h"
#include "ctl/values.h"
#include "shm/view/problems.h"

#define RIGHTS_MAX 20 /* applications whose rights are reported */
#define SILENT_MAX 3  /* that do not respond, until no more are asked */

/* ---- findings ---- */

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

/* ---- the configuration ---- */

/* A line about something that is not ours, while the configuration can be used,
 * is no finding: httpd prints such lines on healthy hosts. */
static int count_lines(doctor_t *d, const json_t *lines, int failed)
{
    const char *line;
    size_t i;
    int n = 0;

    for (i = 0; (line = json_string_value(json_array_get(lines, i))); i++) {
        int ours = strncmp(line, "apppool: ", 9) == 0;

        if (!*line || strcmp(line, "Syntax OK") == 0 || (!ours && !failed))
            continue;
        doctor_wrong(d, "configuration",
                     failed ? "correct it: httpd would not start"
                            : "correct it, and reload httpd",
                     "%s", ours ? line + 9 : line);
        n++;
    }
    return n;
}

static void look_at_configuration(doctor_t *d, const char *given)
{
    char command[HTTPD_TEST_TEXT];
    json_t *lines;
    int status;

    /* Others may not read what httpd reads as root. */
    if (!given && d->httpd == 0 && geteuid() != 0) {
        doctor_unknown(d, "configuration",
                       "only root can test it as the httpd that runs has it");
        return;
    }
    lines = json_array();
    status = httpd_test_run(d->httpd, given, lines, command);
    d->tested = status >= 0;
    if (status == HTTPD_TEST_NONE)
        doctor_unknown(d, "configuration",
                       "no httpd was found; name its command: apppoolctl "
                       "doctor \"/usr/sbin/httpd -f FILE\"");
    else if (count_lines(d, lines, status != 0) == 0) {
        if (status == 0)
            doctor_fine(d, "configuration", "%s finds nothing", command);
        else
            doctor_wrong(d, "configuration", "run it yourself",
                         "%s ended with %d and said nothing", command, status);
    }
    json_decref(lines);
}

/* ---- applications ---- */

static const char *text_of(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

/* @return the element of the list with this name */
static const json_t *named(const json_t *list, const char *name)
{
    const json_t *o;
    size_t i;

    for (i = 0; (o = json_array_get(list, i)) != NULL; i++)
        if (strcmp(text_of(o, "name"), name) == 0)
            return o;
    return NULL;
}

static void look_at_problems(doctor_t *d)
{
    const json_t *groups = json_object_get(d->report, "groups");
    const json_t *configured = json_object_get(d->report, "configured");
    json_t *all = apl_report_problems(d->report), *p;
    char advice[ADVICE_MAX];
    size_t i;

    json_array_foreach(all, i, p)
    {
        const char *name = text_of(p, "app");
        const json_t *app = named(configured, name);
        const char *label =
            *text_of(app, "label") ? text_of(app, "label") : name;

        doctor_wrong(d, *name ? "application" : "host",
                     advice_for(d->report, named(groups, name),
                                text_of(p, "kind"), label, advice),
                     "%s%s%s", label, *label ? ": " : "", text_of(p, "text"));
    }
    if (json_array_size(all) == 0)
        doctor_fine(
            d, "applications",
            "no application has a problem (of %zu in the configuration)",
            json_array_size(configured));
    json_decref(all);
}

/* httpd -t has said whether an AppRoot is there at all. */
static void look_at_rights(doctor_t *d)
{
    const json_t *configured = json_object_get(d->report, "configured"), *a;
    char wrong[PERMISSION_MAX], advice[ADVICE_MAX];
    int n = 0, silent = 0, is;
    size_t i;

    for (i = 0; (a = json_array_get(configured, i)) != NULL; i++) {
        if (silent == SILENT_MAX) {
            doctor_unknown(d, "rights",
                           "other applications were not looked at");
            break;
        }
        is = permission_wrong(a, wrong);
        silent += is == PERMISSION_SILENT;
        if (!is || (d->tested && strncmp(wrong, "the user", 8) != 0))
            continue;
        if (n++ < RIGHTS_MAX)
            doctor_wrong(d, "rights", permission_advice(wrong, advice),
                         "%s: %s", text_of(a, "label"), wrong);
    }
    if (n > RIGHTS_MAX)
        doctor_wrong(d, "rights", "correct the others first",
                     "the same is true of %d more applications",
                     n - RIGHTS_MAX);
}

/* ---- the command ---- */

static void print(const doctor_t *d, int raw)
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
        printf("%-7s  %s: ", text_of(o, "result"), text_of(o, "check"));
        values_line(text_of(o, "text"));
        if (*text_of(o, "advice")) {
            printf("%-7s  ", "");
            values_line(text_of(o, "advice"));
        }
    }
    if (d->wrong == 0)
        puts("nothing is wrong");
    else
        printf("%d %s wrong\n", d->wrong,
               d->wrong == 1 ? "thing is" : "things are");
}

int doctor(const char *dir, const char *given, int raw)
{
    doctor_t d = {.dir = dir, .findings = json_array()};
    int status = ask_directory_silently(&d.dir);

    if (status == EXIT_USAGE) {
        json_decref(d.findings);
        return ask_directory(&d.dir); /* says why */
    }
    if (status == EXIT_OK)
        doctor_instance_begin(&d);
    else
        d.dir = NULL;
    look_at_configuration(&d, given);
    if (!d.dir)
        doctor_wrong(&d, "httpd", "start httpd",
                     "no httpd with mod_apppool runs: there is no " ASK_WHERE);
    else {
        doctor_instance_programs(&d);
        doctor_instance_room(&d);
    }
    if (d.report) {
        look_at_problems(&d);
        look_at_rights(&d);
    }
    print(&d, raw);
    json_decref(d.findings);
    json_decref(d.report);
    return ask_flush(d.wrong > 0 ? EXIT_PROBLEM : EXIT_OK);
}
