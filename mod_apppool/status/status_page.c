/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status_page.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#include "mod_apppool/status/status_assets.h"
#include "mod_apppool/status/status_chart.h"
#include "mod_apppool/status/status_group.h"
#include "mod_apppool/status/status_store.h"
#include "mod_apppool/status/status_text.h"

#define RECENT 12 /* events that are shown; older ones are folded */

/* ---- the summary ---- */

/* "6 + 1 extra processes" or "4 of 6 processes". */
static void size(request_rec *r, const json_t *pool)
{
    apr_int64_t count = apppool_status_number(pool, "count");
    apr_int64_t most = apppool_status_number(pool, "max");

    if (count > most)
        ap_rprintf(r,
                   "<b>%" APR_INT64_T_FMT "</b> + %" APR_INT64_T_FMT " extra",
                   most, count - most);
    else
        ap_rprintf(r, "<b>%" APR_INT64_T_FMT "</b> of %" APR_INT64_T_FMT, count,
                   most);
    ap_rputs(" processes", r);
}

/* " (3 busy, 1 idle), 1 starting": processes that count against MaxPoolSize are
 * in brackets. */
static void states(request_rec *r, const json_t *now)
{
    static const struct {
        const char *state;
        int counts, always, bad;
    } all[] = {{"busy", 1, 1, 0},      {"idle", 1, 1, 0},    {"hung", 1, 0, 1},
               {"starting", 0, 0, 0},  {"leaving", 0, 0, 0}, {"dying", 0, 0, 1},
               {"unkillable", 0, 0, 1}};
    const char *before = " (";
    size_t i;

    for (i = 0; i < sizeof all / sizeof *all; i++) {
        apr_int64_t n = apppool_status_number(now, all[i].state);

        if (!all[i].counts && (i == 0 || all[i - 1].counts)) {
            ap_rputs(")", r);
            before = ", ";
        }
        if (n > 0 || all[i].always) {
            ap_rprintf(r, "%s<span class=\"%s\">%" APR_INT64_T_FMT " %s</span>",
                       before, all[i].bad ? "bad" : "", n, all[i].state);
            before = ", ";
        }
    }
}

static void summary(request_rec *r, const json_t *doc)
{
    const json_t *pool = json_object_get(doc, "pool");
    apr_int64_t waiting = apppool_status_number(pool, "waiting");
    int out = json_is_true(json_object_get(pool, "out"));

    ap_rputs("<section id=\"summary\">", r);
    size(r, pool);
    states(r, json_object_get(pool, "states"));
    ap_rprintf(r,
               "; <span class=\"%s\"><b>%" APR_INT64_T_FMT
               "</b> waiting</span>%s</section>\n",
               waiting > 0 ? "warn" : "", waiting,
               out ? "; <span class=\"warn\">this host is out</span>" : "");
}

/* ---- events and counters ---- */

static void event(request_rec *r, const json_t *e)
{
    ap_rvputs(r, "<tr><td class=\"nw\">",
              apppool_status_clock(r, json_object_get(e, "time")),
              "</td><td class=\"nw\">", apppool_status_member(r, e, "event"),
              "</td><td class=\"n\">", apppool_status_member(r, e, "pid"),
              "</td><td class=\"w\">", apppool_status_member(r, e, "app"),
              NULL);
    if (json_object_get(e, "reason"))
        ap_rvputs(r, ": ", apppool_status_member(r, e, "reason"), NULL);
    if (json_object_get(e, "error_id"))
        ap_rvputs(r, " (error id ", apppool_status_member(r, e, "error_id"),
                  ")", NULL);
    ap_rputs("</td></tr>\n", r);
}

/* The newest first. */
static void events(request_rec *r, const json_t *all)
{
    static const char head[] =
        "<table class=\"q\"><tr><th class=\"nw\">Time (UTC)</th><th>Event</th>"
        "<th class=\"n\">PID</th><th class=\"w\">App</th></tr>\n";
    size_t i, n = json_array_size(all);

    if (n == 0)
        return;
    ap_rvputs(r, "<section id=\"events\"><h2>Events</h2>\n", head, NULL);
    for (i = 0; i < n; i++) {
        if (i == RECENT)
            ap_rvputs(r,
                      "</table>\n<details id=\"older\"><summary>Older events"
                      "</summary>\n",
                      head, NULL);
        event(r, json_array_get(all, n - 1 - i));
    }
    ap_rvputs(r, "</table>", n > RECENT ? "</details>" : "", "</section>\n",
              NULL);
}

static void counters(request_rec *r, json_t *all)
{
    const char *key;
    json_t *value;

    ap_rputs("<section id=\"counters\"><details id=\"counts\"><summary>"
             "Counters since httpd was started</summary>\n<dl>",
             r);
    json_object_foreach(all, key, value)
    {
        ap_rvputs(r, "<div><dt>", ap_escape_html(r->pool, key), "</dt><dd>",
                  apppool_status_show(r, value), "</dd></div>\n", NULL);
    }
    ap_rputs("</dl></details></section>\n", r);
}

/* ---- the whole ---- */

void apppool_status_body(request_rec *r, const json_t *doc, const char *token)
{
    const json_t *groups = json_object_get(doc, "groups"), *group;
    size_t i;

    summary(r, doc);
    apppool_status_charts(r, json_object_get(doc, "history"));
    json_array_foreach(groups, i, group)
    {
        apppool_status_group(r, group, (int)i + 1, token);
    }
    if (json_array_size(groups) == 0)
        ap_rputs("<section id=\"none\">No application has had a request yet."
                 "</section>\n",
                 r);
    apppool_status_store(r, json_object_get(doc, "store"));
    events(r, json_object_get(doc, "events"));
    counters(r, json_object_get(doc, "counters"));
}

/* Permit the page its own style and script, and requests to itself.
 * @return the nonce */
static const char *permit(request_rec *r)
{
    unsigned char random[12];
    char *nonce = apr_palloc(r->pool, 2 * sizeof random + 1);

    apr_generate_random_bytes(random, sizeof random);
    ap_bin2hex(random, sizeof random, nonce);
    apr_table_setn(r->headers_out, "Content-Security-Policy",
                   apr_psprintf(r->pool,
                                APPPOOL_STATUS_POLICY
                                "; style-src 'nonce-%s'; script-src "
                                "'nonce-%s'; connect-src 'self'; "
                                "form-action 'self'",
                                nonce, nonce));
    return nonce;
}

void apppool_status_page(request_rec *r, const json_t *doc, const char *token)
{
    const char *nonce = permit(r);
    const char *host = ap_escape_html(r->pool, ap_get_server_name(r));

    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rvputs(r,
              "<!DOCTYPE html>\n<html lang=\"en\"><head>"
              "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
              "content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"
              "\n<title>",
              host, ": application pool</title>\n<style nonce=\"", nonce, "\">",
              apppool_status_style,
              "</style></head>\n<body><header><h1>Application pool</h1>"
              "<span class=\"dim\">",
              host,
              "</span><span id=\"live\"></span>"
              "<p id=\"notice\" role=\"status\"></p></header>\n",
              "<main id=\"main\">\n", NULL);
    apppool_status_body(r, doc, token);
    ap_rvputs(r, "</main>\n<script nonce=\"", nonce, "\">\n",
              apppool_status_script, "</script></body></html>\n", NULL);
}
