/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <string.h>

#include "mod_apppool/config/app.h"
#include "shm/view/view.h"

#define DIGITS "0123456789abcdefghijklmnopqrstuvwxyz"
#define POINTS 30 /* of a sparkline */
#define SPAN   20 /* s of a point */

/* ---- a sparkline ---- */

typedef struct {
    double requests[POINTS], errors[POINTS];
} spark_t;

static double real(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

/* The last sample is the last point. */
static void add_sample(spark_t *to, const json_t *sample, double age)
{
    static const char *const classes[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
    int at = POINTS - 1 - (int)(age / SPAN);
    size_t i;

    if (age < 0 || at < 0)
        return;
    for (i = 0; i < sizeof classes / sizeof *classes; i++)
        to->requests[at] += real(sample, classes[i]);
    to->errors[at] += real(sample, "5xx");
}

static double largest(const double *of)
{
    double most = 0;
    int i;

    for (i = 0; i < POINTS; i++)
        most = of[i] > most ? of[i] : most;
    return most;
}

/* A digit for each point: the largest value is "z", and any other that is not 0
 * is at least "1". */
static json_t *digits(const double *of, double most)
{
    char text[POINTS + 1];
    int i;

    if (largest(of) <= 0)
        return json_null();
    for (i = 0; i < POINTS; i++) {
        double part = of[i] / most * (double)(sizeof DIGITS - 2);

        text[i] = DIGITS[part > 1 ? (int)part : of[i] > 0];
    }
    text[POINTS] = 0;
    return json_string(text);
}

static void add_spark(json_t *row, const json_t *history)
{
    spark_t spark;
    double age = 0, most;
    size_t i;

    memset(&spark, 0, sizeof spark);
    for (i = json_array_size(history); i > 0; i--) {
        const json_t *sample = json_array_get(history, i - 1);

        add_sample(&spark, sample, age);
        age += real(sample, "seconds");
    }
    most = largest(spark.requests);
    json_array_append_new(row, digits(spark.requests, most));
    json_array_append_new(row, most > 0 ? json_real(most / SPAN) : json_null());
    json_array_append_new(row, digits(spark.errors, most));
}

/* ---- a row ---- */

static const char *const columns[] = {
    "name", "label",  "tenant",   "state", "space",     "size",     "max",
    "busy", "hung",   "spawning", "queue", "suspended", "rate",     "errors",
    "p95",  "memory", "cpu",      "spark", "peak",      "spark_bad"};

static void add(json_t *row, json_t *value)
{
    if (value)
        json_array_append(row, value);
    else
        json_array_append_new(row, json_null());
}

static void add_of(json_t *row, const json_t *o, const char *key)
{
    add(row, json_object_get(o, key));
}

/* Of all its processes, where the report has no sum. */
static void add_memory(json_t *row, const json_t *group)
{
    json_t *memory = json_object_get(group, "memory");
    json_int_t all = 0;
    const json_t *p;
    size_t i;

    json_array_foreach(json_object_get(group, "processes"), i, p)
    {
        all += json_integer_value(json_object_get(p, "memory"));
    }
    if (memory)
        add(row, memory);
    else
        json_array_append_new(row, all > 0 ? json_integer(all) : json_null());
}

static void add_group(json_t *row, const json_t *group)
{
    const json_t *states = json_object_get(group, "states");
    const json_t *recent = json_object_get(group, "recent");

    add_of(row, group, "size");
    add_of(row, group, "max");
    add_of(row, states, "busy");
    add_of(row, states, "hung");
    add_of(row, group, "spawning");
    add_of(row, group, "queue");
    add_of(row, group, "suspended");
    add_of(row, json_object_get(recent, "1m"), "rate");
    add_of(row, json_object_get(recent, "1m"), "errors");
    add_of(row, json_object_get(recent, "5m"), "p95");
    add_memory(row, group);
    add_of(row, group, "cpu");
    add_spark(row, json_object_get(group, "history"));
}

/* The values that are not known at the end are left out. */
static void trim(json_t *row)
{
    size_t n = json_array_size(row);

    while (n > 0 && json_is_null(json_array_get(row, n - 1)))
        json_array_remove(row, --n);
}

/* @param app   from `configured`; NULL: it is not configured any more
 * @param group NULL: it has had no request */
static json_t *row_of(const json_t *app, const json_t *group)
{
    const json_t *from = app ? app : group;
    const char *name = json_string_value(json_object_get(from, "name"));
    const apppool_app_t *known = name ? apppool_app_find(name) : NULL;
    json_t *row = json_array(), *tenant = json_object_get(app, "user");

    add_of(row, from, "name");
    json_array_append_new(row,
                          known ? apl_report_text(known->label) : json_null());
    add(row, tenant ? tenant : json_object_get(group, "tenant"));
    if (group)
        add_of(row, group, "state");
    else
        json_array_append_new(row, json_string("unused"));
    json_array_append_new(row, known && known->space
                                   ? apl_report_text(known->space)
                                   : json_null());
    if (group)
        add_group(row, group);
    trim(row);
    return row;
}

/* ---- the rows ---- */

/* The groups by their names; to be released. */
static json_t *by_name(const json_t *groups)
{
    json_t *all = json_object(), *group;
    size_t i;

    json_array_foreach(groups, i, group)
    {
        const char *name = json_string_value(json_object_get(group, "name"));

        if (name)
            json_object_set(all, name, group);
    }
    return all;
}

/* First those that are configured, in the order of the configuration. */
static json_t *rows_of(const json_t *doc)
{
    json_t *rest = by_name(json_object_get(doc, "groups"));
    json_t *rows = json_array(), *group;
    const json_t *app;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(doc, "configured"), i, app)
    {
        name = json_string_value(json_object_get(app, "name"));
        if (!name)
            continue;
        json_array_append_new(rows, row_of(app, json_object_get(rest, name)));
        json_object_del(rest, name);
    }
    json_object_foreach(rest, name, group)
    {
        json_array_append_new(rows, row_of(NULL, group));
    }
    json_decref(rest);
    return rows;
}

json_t *apppool_status_list(const json_t *doc)
{
    static const char *const same[] = {"version",  "server",       "pool",
                                       "counters", "history",      "store",
                                       "problems", "events_folded"};
    json_t *list = json_object(), *heads = json_array();
    size_t i;

    for (i = 0; i < sizeof same / sizeof *same; i++)
        if (json_object_get(doc, same[i]))
            json_object_set(list, same[i], json_object_get(doc, same[i]));
    for (i = 0; i < sizeof columns / sizeof *columns; i++)
        json_array_append_new(heads, json_string(columns[i]));
    json_object_set_new(list, "columns", heads);
    json_object_set_new(list, "rows", rows_of(doc));
    return list;
}
