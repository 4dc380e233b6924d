/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>

#include "mod_apppool/config/app.h"
#include "shm/view/view.h"

/* A document of 1,000 applications is to have at most 200 KB. */
#define PROBLEMS 100 /* that are sent */
#define SPACES   20
#define TEXT_MAX 400 /* bytes of the sentence of a problem */

/* ---- a row ---- */

/* Three digits: a row is short. */
static json_t *rounded(double value)
{
    char text[32];

    apr_snprintf(text, sizeof text, "%.2e", value);
    return json_real(strtod(text, NULL));
}

static const char *const columns[] = {
    "name", "tenant", "state",    "problem", "space",     "size",     "max",
    "busy", "hung",   "spawning", "queue",   "suspended", "rate",     "errors",
    "p95",  "memory", "cpu",      "spark",   "peak",      "spark_bad"};

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

static void add_rounded(json_t *row, const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);

    json_array_append_new(row, json_is_number(value)
                                   ? rounded(json_number_value(value))
                                   : json_null());
}

static void add_group(json_t *row, const json_t *group)
{
    const json_t *states = json_object_get(group, "states");
    const json_t *recent = json_object_get(group, "recent");
    const json_t *spark = json_object_get(group, "spark");

    add_of(row, group, "size");
    add_of(row, group, "max");
    add_of(row, states, "busy");
    add_of(row, states, "hung");
    add_of(row, group, "spawning");
    add_of(row, group, "queue");
    add_of(row, group, "suspended");
    add_rounded(row, json_object_get(recent, "1m"), "rate");
    add_of(row, json_object_get(recent, "1m"), "errors");
    add_rounded(row, json_object_get(recent, "5m"), "p95");
    add_of(row, group, "memory");
    add_rounded(row, group, "cpu");
    add_of(row, spark, "all");
    add_rounded(row, spark, "peak");
    add_of(row, spark, "errors");
}

/* The values that are not known at the end are left out. */
static void trim(json_t *row)
{
    size_t n = json_array_size(row);

    while (n > 0 && json_is_null(json_array_get(row, n - 1)))
        json_array_remove(row, --n);
}

/* @param app   from `configured`; NULL: it is not configured any more
 * @param group NULL: it has had no request
 * @param wrong, spaces kinds of problems, and spaces of the store, by names */
static json_t *row_of(const json_t *app, const json_t *group,
                      const json_t *wrong, const json_t *spaces)
{
    const json_t *from = app ? app : group;
    const char *name = json_string_value(json_object_get(from, "name"));
    json_t *row = json_array(), *tenant = json_object_get(app, "user");

    add_of(row, from, "name");
    add(row, tenant ? tenant : json_object_get(group, "tenant"));
    if (group)
        add_of(row, group, "state");
    else
        json_array_append_new(row, json_string("unused"));
    add_of(row, wrong, name);
    add_of(row, spaces, name);
    if (group)
        add_group(row, group);
    trim(row);
    return row;
}

/* ---- the rows ---- */

/* Objects by a text that they have; the first one of each. To be released. */
static json_t *by(const json_t *all, const char *key, const char *value)
{
    json_t *map = json_object(), *one;
    size_t i;

    json_array_foreach(all, i, one)
    {
        const char *text = json_string_value(json_object_get(one, key));

        if (text && !json_object_get(map, text))
            json_object_set(map, text,
                            value ? json_object_get(one, value) : one);
    }
    return map;
}

/* The spaces of the store, by the names of the applications. */
static json_t *spaces_by_app(void)
{
    const apr_array_header_t *apps = apppool_app_all();
    json_t *map = json_object();
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);
        json_t *name = apl_report_text(app->pool.name);

        if (app->space && json_string_value(name))
            json_object_set_new(map, json_string_value(name),
                                apl_report_text(app->space));
        json_decref(name);
    }
    return map;
}

/* First those that are configured, in the order of the configuration. */
static json_t *rows_of(const json_t *doc)
{
    json_t *rest = by(json_object_get(doc, "groups"), "name", NULL);
    json_t *wrong = by(json_object_get(doc, "problems"), "app", "kind");
    json_t *rows = json_array(), *group, *spaces = spaces_by_app();
    const json_t *app;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(doc, "configured"), i, app)
    {
        name = json_string_value(json_object_get(app, "name"));
        if (!name)
            continue;
        json_array_append_new(
            rows, row_of(app, json_object_get(rest, name), wrong, spaces));
        json_object_del(rest, name);
    }
    json_object_foreach(rest, name, group)
    {
        json_array_append_new(rows, row_of(NULL, group, wrong, spaces));
    }
    json_decref(rest);
    json_decref(wrong);
    json_decref(spaces);
    return rows;
}

/* ---- the rest ---- */

/* The beginning of an array. */
static json_t *first_of(const json_t *all, size_t most)
{
    json_t *some = json_array();
    size_t i;

    for (i = 0; i < json_array_size(all) && i < most; i++)
        json_array_append(some, json_array_get(all, i));
    return some;
}

/* A problem whose sentence is not too long. The last character stays whole. */
static json_t *cut(const json_t *problem)
{
    json_t *copy = json_copy((json_t *)problem);
    const char *text = json_string_value(json_object_get(problem, "text"));
    size_t n = TEXT_MAX;

    if (!text || strlen(text) <= n)
        return copy;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    json_object_set_new(copy, "text", json_stringn(text, n));
    return copy;
}

static json_t *problems_of(const json_t *all)
{
    json_t *some = json_array();
    size_t i;

    for (i = 0; i < json_array_size(all) && i < PROBLEMS; i++)
        json_array_append_new(some, cut(json_array_get(all, i)));
    return some;
}

static json_t *store_of(const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces");
    json_t *copy;

    if (!json_is_object(store))
        return json_null();
    copy = json_copy((json_t *)store);
    json_object_set_new(copy, "spaces_total",
                        json_integer((json_int_t)json_array_size(spaces)));
    json_object_set_new(copy, "spaces", first_of(spaces, SPACES));
    return copy;
}

json_t *apppool_status_list(const json_t *doc)
{
    static const char *const same[] = {"version",  "server",  "pool",
                                       "counters", "history", "events_folded"};
    const json_t *problems = json_object_get(doc, "problems");
    json_t *list = json_object(), *heads = json_array();
    size_t i;

    for (i = 0; i < sizeof same / sizeof *same; i++)
        json_object_set(list, same[i], json_object_get(doc, same[i]));
    json_object_set_new(list, "problems", problems_of(problems));
    json_object_set_new(list, "problems_total",
                        json_integer((json_int_t)json_array_size(problems)));
    json_object_set_new(list, "store", store_of(json_object_get(doc, "store")));
    for (i = 0; i < sizeof columns / sizeof *columns; i++)
        json_array_append_new(heads, json_string(columns[i]));
    json_object_set_new(list, "columns", heads);
    json_object_set_new(list, "rows", rows_of(doc));
    return list;
}

/* ---- one application ---- */

/* Of an array of objects, keep those that have this text. */
static void keep(json_t *owner, const char *array, const char *key,
                 const char *value)
{
    json_t *kept = json_array(), *one;
    size_t i;

    json_array_foreach(json_object_get(owner, array), i, one)
    {
        const char *text = json_string_value(json_object_get(one, key));

        if (text && value && !strcmp(text, value))
            json_array_append(kept, one);
    }
    json_object_set_new(owner, array, kept);
}

void apppool_status_only(json_t *doc, const char *name)
{
    const apppool_app_t *app = apppool_app_find(name);
    json_t *store = json_object_get(doc, "store");

    keep(doc, "configured", "name", name);
    keep(doc, "problems", "app", name);
    if (json_is_object(store))
        keep(store, "spaces", "name", app ? app->space : NULL);
}
