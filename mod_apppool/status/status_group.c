/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status_group.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <string.h>

#include "mod_apppool/status/status_action.h"
#include "mod_apppool/status/status_text.h"

#define SLOW                5   /* s: the age of a request is a warning */
#define VERY_SLOW           120 /* s: it is an error */

#define MEMBER(object, key) apppool_status_member(r, object, key)

/* A state. Its word is also its class, which gives it a colour. */
static const char *badge(request_rec *r, const json_t *object, const char *key)
{
    const char *word = MEMBER(object, key);

    return apr_pstrcat(r->pool, "<span class=\"s ", word, "\">", word,
                       "</span>", NULL);
}

/* ---- processes ---- */

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

/* ---- requests ---- */

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

/* ---- the whole ---- */

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

void apppool_status_group(request_rec *r, const json_t *group, int n,
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
