/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status_cluster.h"

#include <apr_strings.h>
#include <http_protocol.h>

#include "mod_apppool/status/status_text.h"

#define MEMBER(object, key) apppool_status_member(r, object, key)

static int is(const json_t *o, const char *key)
{
    return json_is_true(json_object_get(o, key));
}

static void fact(request_rec *r, const char *what, const char *css,
                 const char *value)
{
    ap_rvputs(r, "<div><dt>", what, "</dt><dd class=\"", css, "\">", value,
              "</dd></div>\n", NULL);
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

void apppool_status_cluster(request_rec *r, const json_t *cluster)
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
