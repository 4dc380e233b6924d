/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>
#include <string.h>

#define RECENT              12 /* events that are shown; older ones are folded */
#define SLOW                5  /* s: the age of a request is a warning */
#define VERY_SLOW           120 /* s: it is an error */

/* Of charts: */
#define WIDTH               240 /* of the drawing; the page stretches it */
#define HEIGHT              40
#define PLACES              120 /* samples that fit in */
#define POINT               48  /* bytes of one sample */
#define NONE                (-1) /* no value, for example if no request has ended */

#define MEMBER(object, key) apppool_status_member(r, object, key)

/* ---- the history, as charts ---- */

typedef struct {
    const char *key, *title;
    const char *(*show)(request_rec *r, double value);
} chart_t;

static const char *show_rate(request_rec *r, double value)
{
    return apr_psprintf(r->pool, value < 10 ? "%.1f/s" : "%.0f/s", value);
}

static const char *show_count(request_rec *r, double value)
{
    return apr_psprintf(r->pool, "%.0f", value);
}

/* The place of a sample, counted from the right: the last sample is now. */
static double place(size_t i, size_t n)
{
    return WIDTH - (double)(n - 1 - i) * WIDTH / (PLACES - 1);
}

/* A line, or the area below it. A missing value is a gap. */
static const char *path_of(request_rec *r, const json_t *history,
                           const char *key, double most, int area)
{
    size_t i, n = json_array_size(history), first = n;
    char *path = apr_palloc(r->pool, (n + 2) * POINT), *to = path;

    *to = 0;
    for (i = 0; i <= n; i++) {
        const json_t *value = json_object_get(json_array_get(history, i), key);
        double part = most > 0 ? json_number_value(value) / most : 0;

        if (json_is_number(value)) {
            to += apr_snprintf(to, POINT / 2, "%c%.1f %.1f",
                               first == n ? 'M' : 'L', place(i, n),
                               HEIGHT - 1 - part * (HEIGHT - 3));
            first = first == n ? i : first;
        }
        else if (first != n) {
            to += area ? apr_snprintf(to, POINT / 2, "V%dH%.1fZ", HEIGHT,
                                      place(first, n))
                       : apr_snprintf(to, POINT / 2, "h.1");
            first = n;
        }
    }
    return path;
}

static void draw(request_rec *r, const json_t *history, const chart_t *c)
{
    size_t i, n = json_array_size(history);
    double most = NONE, last = NONE;

    for (i = 0; i < n; i++) {
        const json_t *value =
            json_object_get(json_array_get(history, i), c->key);

        last = json_is_number(value) ? json_number_value(value) : NONE;
        most = last > most ? last : most;
    }
    ap_rvputs(r, "<figure><figcaption>", c->title, " <b>",
              last < 0 ? APPPOOL_STATUS_NONE : c->show(r, last),
              "</b> <small>at most ",
              most < 0 ? APPPOOL_STATUS_NONE : c->show(r, most),
              "</small></figcaption>\n", NULL);
    ap_rprintf(r,
               "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
               "preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"%s, last ten minutes\">",
               WIDTH, HEIGHT, WIDTH, HEIGHT, c->title);
    ap_rvputs(r, "<path class=\"area\" fill=\"#8884\" d=\"",
              path_of(r, history, c->key, most, 1),
              "\"/><path class=\"line\" fill=\"none\" stroke=\"currentColor\" "
              "vector-effect=\"non-scaling-stroke\" d=\"",
              path_of(r, history, c->key, most, 0), "\"/></svg></figure>\n",
              NULL);
}

/* Requests a second, time in the applications, and the queue, as inline SVG. */
static void charts(request_rec *r, const json_t *history)
{
    static const chart_t all[] = {
        {"rate", "Requests", show_rate},
        {"latency", "Response time", apppool_status_span},
        {"queue", "Queue", show_count}};
    size_t i;

    ap_rputs("<section id=\"history\" class=\"charts\" "
             "title=\"the last ten minutes\">\n",
             r);
    for (i = 0; i < sizeof all / sizeof *all; i++)
        draw(r, history, &all[i]);
    ap_rputs("</section>\n", r);
}

/* ---- an application ---- */

/* A state. Its word is also its class, which gives it a colour. */
static const char *badge(request_rec *r, const json_t *object, const char *key)
{
    const char *word = MEMBER(object, key);

    return apr_pstrcat(r->pool, "<span class=\"s ", word, "\">", word,
                       "</span>", NULL);
}

static const char *since(request_rec *r, const json_t *object, const char *key)
{
    return apppool_status_span(
        r, apppool_status_since(r, json_object_get(object, key)));
}

/* Only a process that is not leaving yet can be detached. */
static const char *detach(request_rec *r, const json_t *p, const char *token)
{
    const char *state = apppool_status_word(p, "state");

    if (!token || !json_is_string(json_object_get(p, "id")) ||
        !strcmp(state, "leaving") || !strcmp(state, "dying") ||
        !strcmp(state, "unkillable"))
        return "";
    return apppool_status_button(r, token, "Detach", "detach", MEMBER(p, "id"),
                                 NULL);
}

static void process(request_rec *r, const json_t *p, const char *token)
{
    ap_rvputs(r, "<tr><td class=\"n\">", MEMBER(p, "pid"), "</td><td>",
              badge(r, p, "state"), "</td><td class=\"n opt\">",
              MEMBER(p, "sessions"), "</td><td class=\"n opt\">",
              MEMBER(p, "processed"), "</td><td class=\"n\">",
              apppool_status_bytes(r, json_object_get(p, "memory")),
              "</td><td class=\"n\">", since(r, p, "started"),
              "</td><td class=\"n opt\">", since(r, p, "last_used"),
              "</td><td class=\"opt w\"><code>", MEMBER(p, "id"),
              "</code></td><td class=\"b\">", detach(r, p, token),
              "</td></tr>\n", NULL);
}

static void processes(request_rec *r, const json_t *all, const char *token)
{
    const json_t *p;
    size_t i;

    if (json_array_size(all) == 0)
        return;
    ap_rputs("<table class=\"q\"><tr><th class=\"n\">PID</th><th>State</th>"
             "<th class=\"n opt\" title=\"requests that it has\">Open</th>"
             "<th class=\"n opt\" title=\"requests that it has had\">Done</th>"
             "<th class=\"n\">Memory</th><th class=\"n\">Age</th>"
             "<th class=\"n opt\">Used</th><th "
             "class=\"opt\">ID</th><th></th></tr>\n",
             r);
    json_array_foreach(all, i, p)
    {
        process(r, p, token);
    }
    ap_rputs("</table>\n", r);
}

/* The process of this pid. */
static const json_t *process_of(const json_t *group, apr_int64_t pid)
{
    const json_t *p;
    size_t i;

    json_array_foreach(json_object_get(group, "processes"), i, p)
    {
        if (apppool_status_number(p, "pid") == pid)
            return p;
    }
    return NULL;
}

/* The button for a request whose process is not being ended already. */
static const char *end(request_rec *r, const json_t *group, const json_t *q,
                       const char *token)
{
    apr_int64_t pid = apppool_status_number(q, "pid");
    const json_t *p = pid > 0 ? process_of(group, pid) : NULL;
    const char *state = apppool_status_word(p, "state");

    if (!token || !p || !strcmp(state, "dying") || !strcmp(state, "unkillable"))
        return "";
    return apppool_status_button(
        r, token, "Kill", "kill",
        apr_pstrcat(r->pool, MEMBER(p, "id"), "-", MEMBER(q, "id"), NULL),
        "Kill the process of this request, together with all its requests?");
}

static void request(request_rec *r, const json_t *group, const json_t *q,
                    const char *token)
{
    double age = json_number_value(json_object_get(q, "age"));
    const json_t *query = json_object_get(q, "query");

    ap_rvputs(r, "<tr><td class=\"n",
              age > VERY_SLOW ? " bad"
              : age > SLOW    ? " warn"
                              : "",
              "\">", apppool_status_span(r, age), "</td><td>",
              badge(r, q, "state"), "</td><td class=\"w\"><code>",
              MEMBER(q, "method"), " ", MEMBER(q, "uri"), query ? "?" : "",
              query ? apppool_status_show(r, query) : "",
              "</code></td><td class=\"nw\">", MEMBER(q, "client"),
              json_is_true(json_object_get(q, "abandoned"))
                  ? " <span class=\"dim\">abandoned</span>"
                  : "",
              "</td><td class=\"n\">", MEMBER(q, "pid"),
              "</td><td class=\"b\">", end(r, group, q, token), "</td></tr>\n",
              NULL);
}

static void requests(request_rec *r, const json_t *group, const char *token)
{
    const json_t *all = json_object_get(group, "requests");
    const json_t *q;
    size_t i;

    if (json_array_size(all) == 0)
        return;
    ap_rputs("<table class=\"q\"><tr><th class=\"n\">Age</th><th>State</th>"
             "<th class=\"w\">Request</th><th>Client</th>"
             "<th class=\"n\">PID</th><th></th></tr>\n",
             r);
    json_array_foreach(all, i, q)
    {
        request(r, group, q, token);
    }
    ap_rputs("</table>\n", r);
}

/* ---- what is known of it, and the whole of it ---- */

/* "Response time: half &le; 5.0 ms, 95 % &le; 250 ms." */
static void times(request_rec *r, const json_t *group, const char *key,
                  const char *what)
{
    const json_t *h = json_object_get(group, key);

    if (apppool_status_number(h, "count") > 0)
        ap_rvputs(r, what, ": half&nbsp;", apppool_status_within(r, h, 0.5),
                  ", 95&nbsp;%&nbsp;", apppool_status_within(r, h, 0.95), ". ",
                  NULL);
}

static void facts(request_rec *r, const json_t *group)
{
    ap_rvputs(r, "<p>", MEMBER(group, "size"), NULL);
    if (apppool_status_number(group, "max") > 0)
        ap_rvputs(r, " of ", MEMBER(group, "max"), NULL);
    ap_rputs(apppool_status_number(group, "size") == 1 &&
                     apppool_status_number(group, "max") == 0
                 ? " process"
                 : " processes",
             r);
    if (apppool_status_number(group, "min") > 0)
        ap_rvputs(r, ", at least ", MEMBER(group, "min"), NULL);
    if (apppool_status_number(group, "queue") > 0)
        ap_rvputs(r, "; <b class=\"warn\">", MEMBER(group, "queue"),
                  " waiting</b>", NULL);
    if (apppool_status_number(group, "outdated") > 0)
        ap_rvputs(r, "; ", MEMBER(group, "outdated"), " with old code", NULL);
    ap_rvputs(r, ". <span class=\"dim\">", MEMBER(group, "requests_total"),
              apppool_status_number(group, "requests_total") == 1
                  ? " request so far. "
                  : " requests so far. ",
              NULL);
    times(r, group, "app_time", "Response time");
    times(r, group, "queue_time", "Time in queue");
    ap_rvputs(r, MEMBER(group, "app_root"), "</span></p>\n", NULL);
}

static void slow_start(request_rec *r, const json_t *slow)
{
    double age = json_number_value(json_object_get(slow, "age"));

    if (json_is_object(slow))
        ap_rvputs(r, "<p class=\"warn\">A start lasts for ",
                  apppool_status_span(r, age), ": ", MEMBER(slow, "text"),
                  " (error id ", MEMBER(slow, "id"), ")</p>\n", NULL);
}

/* The template: the others are forked from it. */
static void template(request_rec *r, const json_t *t)
{
    if (json_is_object(t))
        ap_rvputs(r, "<p class=\"dim\">Template ", MEMBER(t, "pid"), ", ",
                  MEMBER(t, "state"), ", started at ",
                  apppool_status_clock(r, json_object_get(t, "started")),
                  " (UTC), ", MEMBER(t, "forked"), " forked</p>\n", NULL);
}

/* The button that restarts the application, or ends its drain. */
static const char *restart(request_rec *r, const json_t *group,
                           const char *token)
{
    int drained = !strcmp(apppool_status_word(group, "state"), "drained");
    const char *name = apppool_status_word(group, "name");

    return apppool_status_button(
        r, token, drained ? "Resume" : "Restart",
        drained ? "resume" : "restart", ap_escape_html(r->pool, name),
        drained ? "Put this application back into service?"
                : "Restart this application?");
}

/* @param n its number on the page */
static void group_section(request_rec *r, const json_t *group, int n,
                          const char *token)
{
    ap_rprintf(r, "<section class=\"app\" id=\"app%d\"><h2>", n);
    ap_rvputs(r, "<span>", MEMBER(group, "name"), "</span> ",
              badge(r, group, "state"), token ? restart(r, group, token) : "",
              "</h2>\n", NULL);
    facts(r, group);
    if (json_is_string(json_object_get(group, "last_error")))
        ap_rvputs(
            r, "<p class=\"bad\">The last start failed at ",
            apppool_status_clock(r, json_object_get(group, "last_error_time")),
            " (UTC): ", MEMBER(group, "last_error"), " (error id ",
            MEMBER(group, "last_error_id"), ")</p>\n", NULL);
    slow_start(r, json_object_get(group, "slow_start"));
    template(r, json_object_get(group, "template"));
    processes(r, json_object_get(group, "processes"), token);
    requests(r, group, token);
    ap_rputs("</section>\n", r);
}

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
    charts(r, json_object_get(doc, "history"));
    json_array_foreach(groups, i, group)
    {
        group_section(r, group, (int)i + 1, token);
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
