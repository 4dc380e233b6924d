/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <http_protocol.h>

#define WIDTH               240 /* of the bar; the page stretches it */

#define MEMBER(object, key) apppool_status_member(r, object, key)

static void fact(request_rec *r, const char *what, const char *css,
                 const char *value)
{
    ap_rvputs(r, "<div><dt>", what, "</dt><dd class=\"", css, "\">", value,
              "</dd></div>\n", NULL);
}

/* ---- other hosts ---- */

static int is(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

/* "one host, master since 3 h" */
static void summary(request_rec *r, const json_t *c)
{
    const json_t *since = json_object_get(c, "since");

    ap_rvputs(r, "<p>This host is the <b>", MEMBER(c, "role"), "</b> of <b>",
              MEMBER(c, "virtual_ip"), "</b>", NULL);
    if (json_is_string(since))
        ap_rvputs(r, ", for ",
                  apppool_status_span(r, apppool_status_since(r, since)), NULL);
    if (is(c, "handover"))
        ap_rputs("; <b class=\"warn\">handover: it serves nothing until the "
                 "address has moved</b>",
                 r);
    ap_rputs("</p>\n", r);
}

/* "3 (5c0f5b47592ca82f), 4711 changes" */
static void epoch(request_rec *r, const json_t *c)
{
    if (json_is_string(json_object_get(c, "epoch")))
        fact(r, "Epoch", "",
             apr_pstrcat(r->pool, MEMBER(c, "epoch_number"), " (",
                         MEMBER(c, "epoch"), "), ", MEMBER(c, "position"),
                         " changes", NULL));
    else
        fact(r, "Epoch", "", "none");
    fact(r, "Ready", is(c, "ready") ? "" : "bad",
         is(c, "ready")
             ? "yes"
             : apr_pstrcat(r->pool, "no: ", MEMBER(c, "reason"), NULL));
}

/* A master that was promoted with a part of the items says so. */
static const char *copy_of(const json_t *c)
{
    return is(c, "complete") ? "complete" : "not complete";
}

static void of_master(request_rec *r, const json_t *c)
{
    ap_rputs("<dl>", r);
    fact(r, "Items", is(c, "complete") ? "" : "bad", copy_of(c));
    epoch(r, c);
    fact(r, "Changes that no slave has",
         apppool_status_number(c, "unsent_changes") > 0 ? "warn" : "",
         MEMBER(c, "unsent_changes"));
    fact(r, "Slaves dropped",
         apppool_status_number(c, "slaves_dropped") > 0 ? "warn" : "",
         MEMBER(c, "slaves_dropped"));
    ap_rputs("</dl>\n", r);
}

static void of_slave(request_rec *r, const json_t *c)
{
    const json_t *age = json_object_get(c, "age_seconds");

    ap_rputs("<dl>", r);
    fact(r, "Master", is(c, "connected") ? "" : "bad",
         !is(c, "connected") ? "not connected"
         : is(c, "yrmcds")   ? "yrmcds"
                             : "connected");
    fact(r, "Copy", is(c, "complete") ? "" : "warn", copy_of(c));
    if (json_is_real(age))
        fact(r, "Age of the copy", is(c, "ready") ? "" : "warn",
             apppool_status_span(r, json_real_value(age)));
    epoch(r, c);
    fact(r, "Changes received", "", MEMBER(c, "changes_received"));
    fact(r, "Connections relayed", "", MEMBER(c, "relayed"));
    ap_rputs("</dl>\n", r);
}

/* ---- slaves ---- */

static void slave(request_rec *r, const json_t *s)
{
    double lag = json_number_value(json_object_get(s, "lag_seconds"));

    ap_rvputs(r, "<tr><td>", MEMBER(s, "address"), "</td><td>",
              is(s, "yrmcds") ? "yrmcds" : "apppool", "</td><td>",
              apppool_status_span(
                  r, apppool_status_since(r, json_object_get(s, "joined"))),
              "</td><td>", copy_of(s), "</td><td>", MEMBER(s, "lag"),
              " behind (", apppool_status_span(r, lag), ")</td><td>",
              apppool_status_bytes(r, json_object_get(s, "bytes_sent")),
              "</td></tr>\n", NULL);
}

static void slaves(request_rec *r, const json_t *all)
{
    const json_t *s;
    size_t i;

    if (json_array_size(all) == 0) {
        ap_rputs("<p class=\"warn\">There is no slave.</p>\n", r);
        return;
    }
    ap_rputs("<table class=\"q\"><tr><th>Slave</th><th>Program</th>"
             "<th>Joined</th><th>Copy</th><th>Changes</th><th>Sent</th></tr>\n",
             r);
    json_array_foreach(all, i, s)
    {
        slave(r, s);
    }
    ap_rputs("</table>\n", r);
}

static void cluster_section(request_rec *r, const json_t *cluster)
{
    const json_t *all = json_object_get(cluster, "slaves");

    if (!json_is_object(cluster))
        return;
    ap_rputs("<section id=\"cluster\"><h2>Hosts of the store</h2>\n", r);
    summary(r, cluster);
    if (json_is_array(all)) {
        of_master(r, cluster);
        slaves(r, all);
    }
    else
        of_slave(r, cluster);
    ap_rputs("</section>\n", r);
}

/* ---- a space ---- */

/* How much of its size is used. */
static void bar(request_rec *r, const json_t *space)
{
    double size = json_number_value(json_object_get(space, "size"));
    double part =
        size > 0 ? json_number_value(json_object_get(space, "used")) / size : 0;

    ap_rprintf(r,
               "<svg class=\"fill\" viewBox=\"0 0 %d 1\" width=\"%d\" "
               "height=\"8\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"%.0f %% of the memory is used\">"
               "<rect width=\"%.1f\" height=\"1\" fill=\"currentColor\"/>"
               "</svg>\n",
               WIDTH, WIDTH, part * 100, part < 1 ? part * WIDTH : WIDTH);
}

static void facts(request_rec *r, const json_t *space)
{
    const json_t *limit = json_object_get(space, "max_connections");

    ap_rvputs(
        r, "<p><b>", apppool_status_bytes(r, json_object_get(space, "used")),
        "</b> of ", apppool_status_bytes(r, json_object_get(space, "size")),
        ", <b>", MEMBER(space, "items"),
        apppool_status_number(space, "items") == 1 ? "</b> item, "
                                                   : "</b> items, ",
        NULL);
    ap_rvputs(r, MEMBER(space, "connections"), NULL);
    if (json_integer_value(limit) > 0)
        ap_rvputs(r, " of ", apppool_status_show(r, limit), NULL);
    ap_rputs(apppool_status_number(space, "connections") == 1 &&
                     json_integer_value(limit) <= 0
                 ? " connection</p>\n"
                 : " connections</p>\n",
             r);
}

/* The script of the page fills in how many there were in a second. */
static void operations(request_rec *r, const json_t *space, int n)
{
    ap_rprintf(r,
               "<div><dt>Operations</dt><dd id=\"ops%d\" "
               "data-total=\"%" APR_INT64_T_FMT "\">" APPPOOL_STATUS_NONE
               "</dd></div>\n",
               n, apppool_status_number(space, "operations"));
}

static void numbers(request_rec *r, const json_t *space, int n)
{
    static const struct {
        const char *key, *what, *css; /* the class when it is not 0 */
    } all[] = {
        {"gets", "Gets", ""},
        {"sets", "Sets", ""},
        {"expired", "Expired", ""},
        {"evictions", "Evicted", "warn"},
        {"out_of_memory", "Out of memory", "bad"},
        {"too_large", "Too large", "warn"},
        {"unconfirmed", "Unconfirmed", "warn"},
        {"not_confirmed", "Not confirmed", "bad"},
        {"connections_refused", "Refused", "bad"},
    };
    const json_t *rate = json_object_get(space, "hit_rate");
    const json_t *age = json_object_get(space, "evicted_age");
    size_t i;

    ap_rputs("<dl>", r);
    operations(r, space, n);
    fact(r, "Hit rate", "",
         json_is_number(rate)
             ? apr_psprintf(r->pool, "%.1f %%", json_number_value(rate) * 100)
             : APPPOOL_STATUS_NONE);
    for (i = 0; i < sizeof all / sizeof *all; i++)
        fact(r, all[i].what,
             apppool_status_number(space, all[i].key) > 0 ? all[i].css : "",
             MEMBER(space, all[i].key));
    if (json_is_number(age))
        fact(r, "Evicted after", "",
             apppool_status_span(r, json_number_value(age)));
    ap_rputs("</dl>\n", r);
}

static void section(request_rec *r, const json_t *space, int n)
{
    ap_rprintf(r, "<section class=\"store\" id=\"store%d\"><h2><span>", n);
    ap_rvputs(r, MEMBER(space, "name"),
              "</span> <span class=\"s\">store</span></h2>\n", NULL);
    facts(r, space);
    bar(r, space);
    numbers(r, space, n);
    ap_rputs("</section>\n", r);
}

/* ---- the whole ---- */

static apr_int64_t sum(const json_t *spaces, const char *key)
{
    const json_t *space;
    apr_int64_t all = 0;
    size_t i;

    json_array_foreach(spaces, i, space)
    {
        apr_int64_t n = apppool_status_number(space, key);

        all = n > APR_INT64_MAX - all ? APR_INT64_MAX : all + n;
    }
    return all;
}

/* Which process it is, and what it found when it started. */
static void process(request_rec *r, const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces");
    apr_int64_t found = sum(spaces, "recovered");
    apr_int64_t dropped = sum(spaces, "dropped");
    apr_int64_t missing = apppool_status_number(store, "missing_listeners");

    ap_rvputs(r, "<section id=\"store\"><h2>Store</h2>\n<p>Process ",
              MEMBER(store, "pid"), ", started ",
              apppool_status_span(r, apppool_status_since(
                                         r, json_object_get(store, "started"))),
              " ago", NULL);
    if (found > 0 || dropped > 0) {
        ap_rprintf(r,
                   "; recovered %" APR_INT64_T_FMT " %s of the last store, in ",
                   found, found == 1 ? "item" : "items");
        ap_rvputs(r,
                  apppool_status_span(
                      r, json_number_value(json_object_get(store, "recovery"))),
                  NULL);
    }
    if (dropped > 0)
        ap_rprintf(r,
                   ", and <b class=\"warn\">dropped %" APR_INT64_T_FMT "</b>",
                   dropped);
    if (missing > 0)
        ap_rprintf(r,
                   "; <b class=\"bad\">it cannot listen at %" APR_INT64_T_FMT
                   " %s</b>: see the error log",
                   missing, missing == 1 ? "address" : "addresses");
    ap_rputs("</p></section>\n", r);
}

void apppool_status_store(request_rec *r, const json_t *store)
{
    const json_t *spaces = json_object_get(store, "spaces"), *space;
    size_t i;

    if (!json_is_object(store))
        return;
    process(r, store);
    cluster_section(r, json_object_get(store, "cluster"));
    json_array_foreach(spaces, i, space)
    {
        section(r, space, (int)i + 1);
    }
}
