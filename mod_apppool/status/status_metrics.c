/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <stdlib.h>
#include <string.h>

#include "shm/view/problems.h"

/* Applications with series of their own: each has about 75. Unless the request
 * says another number ("most=N"). */
#define MOST        500

#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT        "text/plain; version=0.0.4; charset=utf-8"

/* ---- values ---- */

static const char *number(request_rec *r, const json_t *value)
{
    char buf[48];

    if (json_is_integer(value))
        return apr_psprintf(r->pool, "%" APR_INT64_T_FMT,
                            (apr_int64_t)json_integer_value(value));
    apr_snprintf(buf, sizeof buf, "%.6f", json_number_value(value));
    return apr_pstrdup(r->pool, buf);
}

/* 0.001, 2.5, 10.0: the form that OpenMetrics wants for bounds. */
static const char *bound(request_rec *r, double le)
{
    char *text = apr_psprintf(r->pool, "%.4f", le);
    size_t n = strlen(text);

    while (text[n - 1] == '0' && text[n - 2] != '.')
        text[--n] = 0;
    return text;
}

static const char *escape(request_rec *r, const json_t *value)
{
    const char *from = json_is_string(value) ? json_string_value(value) : "";
    char *text = apr_palloc(r->pool, 2 * strlen(from) + 1), *to = text;

    for (; *from; from++) {
        if (*from == '\\' || *from == '"' || *from == '\n')
            *to++ = '\\';
        *to++ = *from == '\n' ? 'n' : *from;
    }
    *to = 0;
    return text;
}

/* ---- OpenMetrics ---- */

static int is_openmetrics(const request_rec *r)
{
    return strcmp(r->content_type, TEXT) != 0;
}

/* The older text format names a counter as its sample, and has no units.
 * @param unit at the end of the name; or NULL */
static void family(request_rec *r, const char *name, const char *type,
                   const char *unit, const char *help)
{
    const char *end =
        is_openmetrics(r) || strcmp(type, "counter") ? "" : "_total";

    ap_rvputs(r, "# TYPE apppool_", name, end, " ", type, "\n", NULL);
    if (unit && is_openmetrics(r))
        ap_rvputs(r, "# UNIT apppool_", name, " ", unit, "\n", NULL);
    ap_rvputs(r, "# HELP apppool_", name, end, " ", help, "\n", NULL);
}

static void labelled(request_rec *r, const char *name, const char *suffix,
                     const char *labels, const char *value)
{
    ap_rvputs(r, "apppool_", name, suffix, labels, " ", value, "\n", NULL);
}

static void sample(request_rec *r, const char *name, const char *suffix,
                   const char *app, const char *more, const char *value)
{
    labelled(r, name, suffix,
             app ? apr_pstrcat(r->pool, "{app=\"", app, "\"", more, "}", NULL)
                 : "",
             value);
}

/* Gauges and counters of a group that are members of the document. */
static void simple(request_rec *r, const json_t *groups)
{
    static const struct {
        const char *key, *name, *type, *unit, *help;
    } all[] = {
        {"queue", "queue_length", "gauge", NULL,
         "Requests that wait for a process."},
        {"suspended", "suspended_connections", "gauge", NULL,
         "WebSockets and event streams that hold no worker of httpd."},
        {"max_queue", "queue_limit", "gauge", NULL,
         "AppMaxQueue; 0: no limit."},
        {"max", "instances_limit", "gauge", NULL, "MaxInstances; 0: no limit."},
        {"failures", "consecutive_start_failures", "gauge", NULL,
         "Failed starts since the last success."},
        {"requests_total", "requests", "counter", NULL,
         "Requests that got a process."},
        {"bytes", "response_bytes", "counter", "bytes",
         "Bodies of the responses to clients."},
        {"cpu_seconds", "cpu_seconds", "counter", "seconds",
         "CPU time of its processes."},
        {"spawned", "starts", "counter", NULL, "Processes that became ready."},
        {"start_failures", "start_failures", "counter", NULL, "Failed starts."},
        {"died", "deaths", "counter", NULL, "Processes that ended unasked."},
        {"restarts", "restarts", "counter", NULL,
         "Restarts of the application."},
    };
    const json_t *group;
    size_t f, i;

    for (f = 0; f < sizeof all / sizeof *all; f++) {
        family(r, all[f].name, all[f].type, all[f].unit, all[f].help);
        json_array_foreach(groups, i, group)
        {
            const json_t *value = json_object_get(group, all[f].key);

            if (json_is_number(value))
                sample(r, all[f].name, *all[f].type == 'c' ? "_total" : "",
                       escape(r, json_object_get(group, "name")), "",
                       number(r, value));
        }
    }
}

static void processes(request_rec *r, const json_t *groups)
{
    const json_t *group;
    const char *state;
    json_t *n;
    size_t i;

    family(r, "processes", "gauge", NULL, "Processes, by their states.");
    json_array_foreach(groups, i, group)
    {
        json_object_foreach(json_object_get(group, "states"), state, n)
        {
            sample(r, "processes", "",
                   escape(r, json_object_get(group, "name")),
                   apr_pstrcat(r->pool, ",state=\"", state, "\"", NULL),
                   number(r, n));
        }
    }
}

/* Of those processes that have some: most applications have none. */
static void suspended(request_rec *r, const json_t *groups)
{
    const json_t *group, *process;
    size_t i, j;

    family(r, "process_suspended_connections", "gauge", NULL,
           "Those of each process that has some.");
    json_array_foreach(groups, i, group)
    {
        const char *app = escape(r, json_object_get(group, "name"));

        json_array_foreach(json_object_get(group, "processes"), j, process)
        {
            const json_t *n = json_object_get(process, "suspended");

            if (json_integer_value(n) > 0)
                sample(r, "process_suspended_connections", "", app,
                       apr_pstrcat(r->pool, ",pid=\"",
                                   number(r, json_object_get(process, "pid")),
                                   "\"", NULL),
                       number(r, n));
        }
    }
}

static void failing(request_rec *r, const json_t *groups)
{
    const json_t *group;
    size_t i;

    family(r, "failing", "gauge", NULL, "1: its last start failed.");
    json_array_foreach(groups, i, group)
    {
        const char *state = json_string_value(json_object_get(group, "state"));

        sample(r, "failing", "", escape(r, json_object_get(group, "name")), "",
               state && !strcmp(state, "failing") ? "1" : "0");
    }
}

/* An object of counters, or of gauges: each member is a label. */
static void by_label(request_rec *r, const json_t *groups, const char *key,
                     const char *name, const char *label, const char *help)
{
    const json_t *group;
    const char *member;
    json_t *n;
    size_t i;

    family(r, name, "counter", NULL, help);
    json_array_foreach(groups, i, group)
    {
        json_object_foreach(json_object_get(group, key), member, n)
        {
            sample(r, name, "_total", escape(r, json_object_get(group, "name")),
                   apr_pstrcat(r->pool, ",", label, "=\"", member, "\"", NULL),
                   number(r, n));
        }
    }
}

/* Of the last five minutes. Without a request there is none. */
static void percentiles(request_rec *r, const json_t *groups)
{
    static const char *const all[][2] = {
        {"p50", "0.5"}, {"p95", "0.95"}, {"p99", "0.99"}};
    const json_t *group, *value;
    size_t i, q;

    family(r, "latency_seconds", "summary", "seconds",
           "Wait and work of the requests of the last five minutes.");
    json_array_foreach(groups, i, group)
    {
        const json_t *recent =
            json_object_get(json_object_get(group, "recent"), "5m");

        for (q = 0; q < sizeof all / sizeof *all; q++) {
            value = json_object_get(recent, all[q][0]);
            if (json_is_number(value))
                sample(
                    r, "latency_seconds", "",
                    escape(r, json_object_get(group, "name")),
                    apr_pstrcat(r->pool, ",quantile=\"", all[q][1], "\"", NULL),
                    number(r, value));
        }
    }
}

/* Each kind has a sample, so that rules can say "no problem". */
static void problems(request_rec *r, const json_t *doc)
{
    static const char *const kinds[] = {
        "spawner", "failing",  "unkillable", "full",  "hung", "queueing",
        "errors",  "starting", "drained",    "store", "out"};
    json_t *found = apl_report_problems(doc), *one;
    size_t i, k;

    family(r, "problems", "gauge", NULL,
           "What is wrong now, by kind; see doc/status.md.");
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        unsigned count = 0;

        json_array_foreach(found, i, one)
        {
            const char *kind = json_string_value(json_object_get(one, "kind"));

            count += kind && strcmp(kind, kinds[k]) == 0;
        }
        labelled(r, "problems", "",
                 apr_pstrcat(r->pool, "{kind=\"", kinds[k], "\"}", NULL),
                 apr_psprintf(r->pool, "%u", count));
    }
    json_decref(found);
}

/* The sums over a list in a group. */
static void over_list(request_rec *r, const json_t *groups, const char *list,
                      const char *key, int largest, const char *name)
{
    const json_t *group, *one;
    size_t i, j;

    json_array_foreach(groups, i, group)
    {
        double all = 0;

        json_array_foreach(json_object_get(group, list), j, one)
        {
            double n = json_number_value(json_object_get(one, key));

            all = !largest ? all + n : n > all ? n : all;
        }
        sample(r, name, "", escape(r, json_object_get(group, "name")), "",
               apr_psprintf(r->pool, largest ? "%.3f" : "%.0f", all));
    }
}

static void histogram(request_rec *r, const json_t *groups, const char *key,
                      const char *name, const char *help)
{
    const json_t *group, *bucket;
    size_t i, b;

    family(r, name, "histogram", "seconds", help);
    json_array_foreach(groups, i, group)
    {
        const json_t *h = json_object_get(group, key);
        const char *app = escape(r, json_object_get(group, "name"));
        const char *count = number(r, json_object_get(h, "count"));

        json_array_foreach(json_object_get(h, "buckets"), b, bucket)
        {
            double le = json_number_value(json_object_get(bucket, "le"));

            sample(r, name, "_bucket", app,
                   apr_pstrcat(r->pool, ",le=\"", bound(r, le), "\"", NULL),
                   number(r, json_object_get(bucket, "count")));
        }
        sample(r, name, "_bucket", app, ",le=\"+Inf\"", count);
        sample(r, name, "_count", app, "", count);
        sample(r, name, "_sum", app, "", number(r, json_object_get(h, "sum")));
    }
}

/* Each counter of the document, also those of later versions. */
static void counters(request_rec *r, json_t *all)
{
    const char *key;
    json_t *value;

    json_object_foreach(all, key, value)
    {
        const char *name = apr_pstrcat(r->pool, "pool_", key, NULL);

        family(r, name, "counter", json_is_real(value) ? "seconds" : NULL,
               apr_pstrcat(r->pool, "Counter \"", key,
                           "\" of the whole pool; see doc/status.md.", NULL));
        sample(r, name, "_total", NULL, "", number(r, value));
    }
}

/* Members of each space. A space without a value has no sample. */
static void store_spaces(request_rec *r, const json_t *all)
{
    static const struct {
        const char *key, *name, *type, *unit, *help;
    } families[] = {
        {"size", "store_size_bytes", "gauge", "bytes", "Memory it may use."},
        {"used", "store_used_bytes", "gauge", "bytes", "Memory it uses."},
        {"items", "store_items", "gauge", NULL, "Items."},
        {"connections", "store_connections", "gauge", NULL, "Connections."},
        {"max_connections", "store_connections_limit", "gauge", NULL,
         "AppStoreMaxConnections."},
        {"evicted_age", "store_evicted_age_seconds", "gauge", "seconds",
         "How long the last evicted item had not been used."},
        {"gets", "store_gets", "counter", NULL, "Keys that were asked for."},
        {"hits", "store_hits", "counter", NULL, "Keys that were found."},
        {"sets", "store_sets", "counter", NULL, "Values that were sent."},
        {"deletes", "store_deletes", "counter", NULL, "Deletes."},
        {"operations", "store_operations", "counter", NULL,
         "Operations of any kind."},
        {"evictions", "store_evictions", "counter", NULL,
         "Items that gave way to others."},
        {"expired", "store_expired", "counter", NULL,
         "Expired items that were removed."},
        {"out_of_memory", "store_out_of_memory", "counter", NULL,
         "Values for which there was no room."},
        {"too_large", "store_too_large", "counter", NULL,
         "Values above AppStoreMaxObject."},
        {"unconfirmed", "store_unconfirmed", "counter", NULL,
         "Writes that were acknowledged without a slave (AppStoreConfirm)."},
        {"not_confirmed", "store_not_confirmed", "counter", NULL,
         "Writes that were refused without a slave (AppStoreConfirm)."},
        {"connections_refused", "store_connections_refused", "counter", NULL,
         "Connections above the limit, or of another user."},
        {"bytes_read", "store_received_bytes", "counter", "bytes",
         "What apps have sent."},
        {"bytes_written", "store_sent_bytes", "counter", "bytes",
         "What apps have got."},
    };
    const json_t *space;
    size_t f, i;

    for (f = 0; f < sizeof families / sizeof *families; f++) {
        family(r, families[f].name, families[f].type, families[f].unit,
               families[f].help);
        json_array_foreach(all, i, space)
        {
            const json_t *value = json_object_get(space, families[f].key);

            if (json_is_number(value))
                labelled(r, families[f].name,
                         *families[f].type == 'c' ? "_total" : "",
                         apr_pstrcat(r->pool, "{space=\"",
                                     escape(r, json_object_get(space, "name")),
                                     "\"}", NULL),
                         number(r, value));
        }
    }
}

static const char *figure(request_rec *r, const json_t *value)
{
    return json_is_true(value)    ? "1"
           : json_is_false(value) ? "0"
                                  : number(r, value);
}

/* A member of each slave, which its address names. */
static void store_slaves(request_rec *r, const json_t *all, const char *key,
                         const char *name, const char *unit, const char *help)
{
    const json_t *slave;
    size_t i;

    family(r, name, "gauge", unit, help);
    json_array_foreach(all, i, slave)
    {
        const json_t *address = json_object_get(slave, "address");

        if (json_is_string(address))
            labelled(r, name, "",
                     apr_pstrcat(r->pool, "{slave=\"", escape(r, address),
                                 "\"}", NULL),
                     figure(r, json_object_get(slave, key)));
    }
}

/* Nothing when the store is alone. */
static void store_cluster(request_rec *r, const json_t *c)
{
    static const struct {
        const char *key, *name, *unit, *help;
    } all[] = {
        {"ready", "store_ready", NULL, "1: it is, or may become, the master."},
        {"complete", "store_complete", NULL, "1: this host has all items."},
        {"connected", "store_connected", NULL, "1: this slave has a master."},
        {"epoch_number", "store_epoch", NULL, "Promotions up to its data."},
        {"position", "store_position", NULL, "Changes since the last of them."},
        {"relayed", "store_relayed", NULL, "Clients that use the master."},
        {"lag_seconds", "store_lag_seconds", "seconds",
         "How long the last change took to this slave."},
        {"age_seconds", "store_age_seconds", "seconds",
         "Since when this slave may lack changes."},
        {"unsent_changes", "store_unsent_changes", NULL, "No slave has them."},
    };
    const json_t *slaves = json_object_get(c, "slaves"), *value;
    size_t i;

    for (i = 0; i < sizeof all / sizeof *all; i++)
        if ((value = json_object_get(c, all[i].key)) != NULL &&
            !json_is_null(value)) {
            family(r, all[i].name, "gauge", all[i].unit, all[i].help);
            labelled(r, all[i].name, "", "", figure(r, value));
        }
    if (!slaves)
        return;
    store_slaves(r, slaves, "complete", "store_slave_complete", NULL,
                 "1: the slave has all items.");
    store_slaves(r, slaves, "lag", "store_slave_lag", NULL,
                 "Changes that the slave was not sent.");
    store_slaves(r, slaves, "lag_seconds", "store_slave_lag_seconds", "seconds",
                 "Age of the first of them.");
}

/* Nothing when there is no store. */
static void store_families(request_rec *r, const json_t *store)
{
    if (!json_is_object(store))
        return;
    family(r, "store_recovery_seconds", "gauge", "seconds",
           "How long the store took to start.");
    labelled(r, "store_recovery_seconds", "", "",
             number(r, json_object_get(store, "recovery")));
    family(r, "store_missing_listeners", "gauge", NULL,
           "Addresses where the store cannot listen.");
    labelled(r, "store_missing_listeners", "", "",
             figure(r, json_object_get(store, "missing_listeners")));
    store_cluster(r, json_object_get(store, "cluster"));
    store_spaces(r, json_object_get(store, "spaces"));
}

/* ---- the document ---- */

/* A program that can read OpenMetrics says so, or does not say what it
 * reads. */
static void set_type(request_rec *r)
{
    const char *accept = apr_table_get(r->headers_in, "Accept");

    ap_set_content_type(
        r, accept && ap_strstr_c(accept, "text/plain") &&
                   !ap_strstr_c(accept, "application/openmetrics-text")
               ? TEXT
               : OPENMETRICS);
}

/* The first applications: they are in the same order each time, until one of
 * them leaves the configuration. @return to be released */
static json_t *bounded(const request_rec *r, const json_t *groups)
{
    const char *most = r->args ? ap_strstr_c(r->args, "&most=") : NULL;
    size_t i, n = most ? strtoul(most + strlen("&most="), NULL, 10) : MOST;
    json_t *some = json_array();

    for (i = 0; i < n && i < json_array_size(groups); i++)
        json_array_append(some, json_array_get(groups, i));
    return some;
}

static void count(request_rec *r, const char *name, const char *help, size_t n)
{
    family(r, name, "gauge", NULL, help);
    labelled(r, name, "", "", apr_psprintf(r->pool, "%" APR_SIZE_T_FMT, n));
}

static void applications(request_rec *r, const json_t *doc, size_t shown)
{
    size_t used = json_array_size(json_object_get(doc, "groups"));

    count(r, "applications", "Applications of the configuration.",
          json_array_size(json_object_get(doc, "configured")));
    count(r, "used_applications", "Applications that have had a request.",
          used);
    count(r, "omitted_applications",
          "Used applications that have no series here, because there are too "
          "many; see doc/status.md.",
          used - shown);
}

static void of_pool(request_rec *r, const json_t *pool)
{
    family(r, "pool_limit", "gauge", NULL, "MaxPoolSize.");
    sample(r, "pool_limit", "", NULL, "",
           number(r, json_object_get(pool, "max")));
    family(r, "pool_out", "gauge", NULL,
           "1: apppoolctl out has taken this host out.");
    sample(r, "pool_out", "", NULL, "",
           json_is_true(json_object_get(pool, "out")) ? "1" : "0");
}

static void of_applications(request_rec *r, const json_t *groups)
{
    processes(r, groups);
    suspended(r, groups);
    failing(r, groups);
    simple(r, groups);
    by_label(r, groups, "responses", "responses", "code",
             "Responses to clients, by class of their status.");
    by_label(r, groups, "errors", "errors", "reason",
             "Those of them that mod_apppool made itself.");
    family(r, "memory_bytes", "gauge", "bytes",
           "Resident memory of the processes and what they started.");
    over_list(r, groups, "processes", "memory", 0, "memory_bytes");
    family(r, "oldest_request_seconds", "gauge", "seconds",
           "Age of the oldest request that is open or waits.");
    over_list(r, groups, "requests", "age", 1, "oldest_request_seconds");
    histogram(r, groups, "queue_time", "queue_seconds",
              "How long requests waited for a process.");
    histogram(r, groups, "app_time", "app_seconds",
              "How long requests had a process.");
    percentiles(r, groups);
}

void apppool_status_metrics(request_rec *r, const json_t *doc)
{
    json_t *groups = bounded(r, json_object_get(doc, "groups"));

    set_type(r);
    of_pool(r, json_object_get(doc, "pool"));
    applications(r, doc, json_array_size(groups));
    problems(r, doc);
    of_applications(r, groups);
    counters(r, json_object_get(doc, "counters"));
    store_families(r, json_object_get(doc, "store"));
    ap_rputs("# EOF\n", r);
    json_decref(groups);
}
