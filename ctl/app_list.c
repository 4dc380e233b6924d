/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "ctl/commands.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ask_server.h"
#include "ctl/values.h"
#include "shm/view/problems.h"
#include "shm/view/view.h"

/* ---- the report ---- */

/* @param app NULL: all that this user may see @param text filled in: the
 * response as it was sent; to be freed */
static int ask_report(const char *dir, const char *app, json_t **report,
                      char **text)
{
    const char *words[] = {"status", app}, *error;
    int status = ask_directory(&dir);

    if (status == 0)
        status = ask_server(dir, words, app ? 2 : 1, text);
    if (status != 0)
        return status;
    *report = json_loads(*text, 0, NULL);
    error = json_string_value(json_object_get(*report, "error"));
    if (!error && json_is_array(json_object_get(*report, "groups")))
        return EXIT_OK;
    ask_complain(EXIT_NO, "%s", error ? error : "the response is not a report");
    json_decref(*report);
    free(*text);
    return EXIT_NO;
}

/* ---- all applications ---- */

/* The groups by their names; to be released. There may be thousands. */
static json_t *groups_by_name(const json_t *report)
{
    json_t *groups = json_object_get(report, "groups"), *g;
    json_t *by_name = json_object();
    size_t i;

    json_array_foreach(groups, i, g)
    {
        const char *name = json_string_value(json_object_get(g, "name"));

        if (name)
            json_object_set(by_name, name, g);
    }
    return by_name;
}

static int print_all(const json_t *report)
{
    const json_t *all = json_object_get(report, "configured"), *a, *g;
    json_t *by_name;
    size_t i;

    if (!json_is_array(all))
        return ask_complain(EXIT_NO,
                            "the httpd that runs is of an older build, which "
                            "does not name its applications");
    by_name = groups_by_name(report);
    printf("%-10s %5s %6s  %-12s %s\n", "STATE", "PROC", "QUEUE", "USER",
           "APP");
    for (i = 0; (a = json_array_get(all, i)) != NULL; i++) {
        g = json_object_get(by_name,
                            json_string_value(json_object_get(a, "name")));
        printf("%-10s %5lld %6lld  %-12s %s\n",
               g ? values_text(g, "state") : "unused",
               (long long)values_number(g, "size"),
               (long long)values_number(g, "queue"), values_text(a, "user"),
               values_text(a, "name"));
    }
    if (i == 0)
        puts("no application is configured");
    json_decref(by_name);
    return EXIT_OK;
}

int list_all(const char *dir, int raw)
{
    json_t *report;
    char *text;
    int status = ask_report(dir, NULL, &report, &text);

    if (status != EXIT_OK)
        return status;
    if (raw)
        puts(text);
    else
        status = print_all(report);
    json_decref(report);
    free(text);
    return ask_flush(status);
}

/* ---- problems ---- */

static void print_problem(const json_t *p)
{
    const char *app = json_string_value(json_object_get(p, "app"));

    printf("%-10s  ", values_text(p, "kind"));
    values_put(stdout, app ? app : "this host");
    fputs(": ", stdout);
    values_line(json_string_value(json_object_get(p, "text")));
}

int list_problems(const char *dir, const char *app, int raw)
{
    json_t *report, *all, *p;
    char *text;
    size_t i;
    int status = ask_report(dir, app, &report, &text);

    if (status != EXIT_OK)
        return status;
    all = apl_report_problems(report);
    if (raw) {
        json_dumpf(all, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    else
        json_array_foreach(all, i, p)
        {
            print_problem(p);
        }
    if (json_array_size(all) > 0)
        status = EXIT_PROBLEM;
    else if (!raw)
        puts("nothing is wrong");
    json_decref(all);
    json_decref(report);
    free(text);
    return ask_flush(status);
}
