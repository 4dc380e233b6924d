/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_status.h>
#include <util_script.h>
#include <stdlib.h>
#include <string.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/config/app.h"
#include "mod_apppool/instance/current.h"
#include "shm/view/problems.h"
#include "shm/view/report_sentence.h"
#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "shm/format/segment.h"

APLOG_USE_MODULE(apppool);

#define HANDLER "apppool-status"

/* "?json"; also "?json=", as some clients cannot send the first form; and more
 * after it, such as "?json&app=NAME". */
static int is_view(const char *args, const char *view)
{
    size_t n = strlen(view);

    if (!args || strncmp(args, view, n) != 0)
        return 0;
    n += args[n] == '=';
    return !args[n] || args[n] == '&';
}

/* ---- the document ---- */

/* Without an AppRoot there is no pool: an empty document. */
static json_t *report_nothing(request_rec *r)
{
    static const apl_capacity_t least = {1, 1, 1, 1};
    apr_size_t size = apl_segment_size(&least);
    char *memory = apr_pcalloc(r->pool, size + APL_CACHE_LINE);
    apl_pool_t none;

    apl_segment_format(
        &none, memory + APL_CACHE_LINE - (apr_size_t)memory % APL_CACHE_LINE,
        &least);
    return apl_report_json(&none, 0);
}

/* @param copy of what is reported; or NULL */
static json_t *report_pool(request_rec *r, int parts, const char *app,
                           apl_pool_t **copy)
{
    apl_pool_t *pool = apppool_current()->pool;
    apr_status_t rv;
    json_t *doc;

    *copy = NULL;
    if (!pool)
        return apppool_app_all()->nelts == 0 ? report_nothing(r) : NULL;
    pool->patience = APL_PATIENCE; /* an earlier wait may have used it up */
    rv = apl_snapshot_take(copy, pool, r->pool);
    if (rv != APR_SUCCESS) {
        char text[120];

        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "apppool: the status cannot be shown: %s",
                      apl_error_text(rv, text, sizeof text));
        return NULL;
    }
    doc = apl_report_part(*copy, parts, app);
    apl_report_sentences(doc, apppool_current()->runtime);
    return doc;
}

static void add_configured(json_t *doc)
{
    const apr_array_header_t *apps = apppool_app_all();
    json_t *used = apl_configured_begin(doc);
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);
        const apl_configured_t one = {app->pool.name, app->label,
                                      app->pool.root, app->user_name,
                                      app->set->user_group};

        apl_configured_add(doc, used, &one);
    }
    json_decref(used);
}

/* The page and its list need no histograms. */
static int parts_of(request_rec *r)
{
    int full = apppool_setting_here(r, APPPOOL_AppStatusDetail) != 0;

    return (full ? APL_REPORT_QUERIES : 0) |
           (is_view(r->args, "json") || is_view(r->args, "metrics")
                ? 0
                : APL_REPORT_BRIEF);
}

/* @param app only this application in `groups`, with its history; NULL: all, in
 * the list with their sparklines */
static json_t *report(request_rec *r, int parts, const char *app)
{
    apl_pool_t *copy = NULL;
    json_t *doc = report_pool(r, parts, app, &copy);

    if (doc) {
        add_configured(doc);
        if (app)
            apl_report_only(doc, copy, app);
        else if (copy && is_view(r->args, "list"))
            apl_report_sparks(doc, copy);
        json_object_set_new(doc, "store",
                            apl_report_store(apppool_current()->figures));
        json_object_set_new(doc, "server", apppool_status_server(r));
        json_object_set_new(doc, "problems", apl_report_problems(doc));
    }
    return doc;
}

static void send_json(request_rec *r, const json_t *doc)
{
    char *text = json_dumps(doc, JSON_INDENT(2) | APL_REPORT_REALS);

    ap_set_content_type(r, "application/json");
    ap_rputs(text ? text : "null", r);
    ap_rputs("\n", r);
    free(text);
}

/* "queue_full" as "QueueFull". */
static const char *camel(request_rec *r, const char *key)
{
    char *name = apr_palloc(r->pool, strlen(key) + 1), *to = name;
    int up = 1;

    for (; *key; key++)
        if (*key == '_')
            up = 1;
        else {
            *to++ = up ? (char)apr_toupper(*key) : *key;
            up = 0;
        }
    *to = 0;
    return name;
}

static void lines(request_rec *r, json_t *object, const char *prefix)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (json_is_integer(value))
            ap_rprintf(r, "%s%s: %" APR_INT64_T_FMT "\n", prefix, camel(r, key),
                       (apr_int64_t)json_integer_value(value));
        else if (json_is_number(value))
            ap_rprintf(r, "%s%s: %.6f\n", prefix, camel(r, key),
                       json_number_value(value));
    }
}

/* The document as lines "Name: value": "AppPoolMax: 6". */
static void put_lines(request_rec *r, const json_t *doc)
{
    const json_t *pool = json_object_get(doc, "pool");

    lines(r, json_object_get(doc, "pool"), "AppPool");
    lines(r, json_object_get(pool, "states"), "AppPoolProcesses");
    lines(r, json_object_get(doc, "counters"), "AppPoolTotal");
}

static void send_auto(request_rec *r, const json_t *doc)
{
    ap_set_content_type(r, "text/plain; charset=utf-8");
    put_lines(r, doc);
}

/* The token is for the buttons of the page, which asks for this document. */
static void send_list(request_rec *r, const json_t *doc)
{
    json_t *list = apppool_status_list(doc);
    char *text;

    json_object_set_new(list, "token",
                        apppool_setting_here(r, APPPOOL_AppStatusAllowActions)
                            ? json_string(apppool_status_token(r))
                            : json_null());
    text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(6));
    ap_set_content_type(r, "application/json");
    ap_rputs(text ? text : "null", r);
    free(text);
    json_decref(list);
}

/* ---- hooks ---- */

static const struct {
    const char *args;
    void (*send)(request_rec *r, const json_t *doc);
} views[] = {{"json", send_json},
             {"list", send_list},
             {"metrics", apppool_status_metrics},
             {"auto", send_auto},
             {NULL, apppool_status_page}};

/* A browser may show the page, but not store or frame it. */
static void restrain(request_rec *r)
{
    static const char *const all[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy", APPPOOL_STATUS_POLICY}};
    size_t i;

    for (i = 0; i < sizeof all / sizeof *all; i++)
        apr_table_setn(r->headers_out, all[i][0], all[i][1]);
}

/* "?json&app=NAME" */
static const char *app_of(request_rec *r)
{
    apr_table_t *args;

    ap_args_to_table(r, &args);
    return apr_table_get(args, "app");
}

int apppool_status_handler(request_rec *r)
{
    const char *app;
    json_t *doc;
    int v = 0, status;

    if (!r->handler || strcmp(r->handler, HANDLER))
        return DECLINED;
    restrain(r);
    status = apppool_status_origin_check(r);
    if (status != OK)
        return status;
    ap_allow_standard_methods(r, REPLACE_ALLOW, M_GET, M_POST, -1);
    if (r->method_number == M_POST)
        return apppool_status_action(
            r, apppool_setting_here(r, APPPOOL_AppStatusAllowActions) != 0);
    if (r->method_number != M_GET)
        return HTTP_METHOD_NOT_ALLOWED;
    app = app_of(r);
    doc = report(r, parts_of(r), app);
    if (!doc)
        return HTTP_SERVICE_UNAVAILABLE;
    if (app)
        apppool_status_only(doc, app);
    while (views[v].args && !is_view(r->args, views[v].args))
        v++;
    views[v].send(r, doc);
    json_decref(doc);
    return OK;
}

int apppool_status_section(request_rec *r, int flags)
{
    json_t *doc = NULL;

    if (apppool_current()->pool && apppool_status_origin_check(r) == OK)
        doc = report(r, APL_REPORT_BRIEF, NULL);
    if (!doc)
        return OK;
    if (flags & AP_STATUS_SHORT)
        put_lines(r, doc);
    else {
        ap_rputs("<hr />\n<h1>Application pool</h1>\n", r);
        apppool_status_body(r, doc);
    }
    json_decref(doc);
    return OK;
}
