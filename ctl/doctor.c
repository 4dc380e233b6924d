/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/doctor.h"

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

static void look_at_problems(doctor_t *d)
{
    const json_t *groups = json_object_get(d->report, "groups");
    const json_t *configured = json_object_get(d->report, "configured");
    json_t *all = apl_report_problems(d->report), *p;
    char advice[ADVICE_MAX];
    size_t i;

    json_array_foreach(all, i, p)
    {
        const char *name = values_word(p, "app");
        const json_t *app = values_named(configured, name);
        const char *label =
            *values_word(app, "label") ? values_word(app, "label") : name;

        doctor_wrong(d, *name ? "application" : "host",
                     advice_for(d->report, values_named(groups, name),
                                values_word(p, "kind"), label, advice),
                     "%s%s%s", label, *label ? ": " : "",
                     values_word(p, "text"));
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
                         "%s: %s", values_word(a, "label"), wrong);
    }
    if (n > RIGHTS_MAX)
        doctor_wrong(d, "rights", "correct the others first",
                     "the same is true of %d more applications",
                     n - RIGHTS_MAX);
}

/* ---- the command ---- */

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
    doctor_print(&d, raw);
    json_decref(d.findings);
    json_decref(d.report);
    return ask_flush(d.wrong > 0 ? EXIT_PROBLEM : EXIT_OK);
}
