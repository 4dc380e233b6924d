/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#define LISTED 20 /* problems */

/* ---- values ---- */

/* Escape a text, with "?" for control characters: curl shows a page in a
 * terminal, which would obey them, and a browser does not show them. */
static const char *visible(request_rec *r, const char *text)
{
    char *copy = apr_pstrdup(r->pool, text ? text : ""), *c;

    for (c = copy; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if ((unsigned char)*c == 0xc2 && (unsigned char)c[1] < 0xa0)
            c[0] = c[1] = '?'; /* U+0080 to U+009F */
    return ap_escape_html(r->pool, copy);
}

static const char *text_of(request_rec *r, const json_t *o, const char *key)
{
    return visible(r, json_string_value(json_object_get(o, key)));
}

static const char *number_of(request_rec *r, const json_t *o, const char *key)
{
    return apr_psprintf(
        r->pool, "%" APR_INT64_T_FMT,
        (apr_int64_t)json_integer_value(json_object_get(o, key)));
}

/* ---- the table ---- */

static void row(request_rec *r, const char *head, const char *what,
                const char *text)
{
    ap_rvputs(r, "<tr><th scope=\"row\">", head, "</th><td>", what, "</td><td>",
              text, "</td></tr>\n", NULL);
}

static void problems(request_rec *r, const json_t *all)
{
    size_t i, n = json_array_size(all);

    for (i = 0; i < n && i < LISTED; i++) {
        const json_t *one = json_array_get(all, i);
        const char *app = text_of(r, one, "app");

        row(r, *app ? app : "this host", text_of(r, one, "kind"),
            text_of(r, one, "text"));
    }
    row(r, "total", "problems", apr_psprintf(r->pool, "%d", (int)n));
}

/* "2 of 6 (1 busy, 1 idle, 0 hung); 0 starting, 0 leaving, 0 unkillable" */
static const char *processes(request_rec *r, const json_t *pool)
{
    const json_t *states = json_object_get(pool, "states");

    return apr_pstrcat(
        r->pool, number_of(r, pool, "count"), " of ", number_of(r, pool, "max"),
        " processes (", number_of(r, states, "busy"), " busy, ",
        number_of(r, states, "idle"), " idle, ", number_of(r, states, "hung"),
        " hung); ", number_of(r, states, "starting"), " starting, ",
        number_of(r, states, "leaving"), " leaving, ",
        number_of(r, states, "unkillable"), " unkillable", NULL);
}

static void totals(request_rec *r, const json_t *doc)
{
    const json_t *pool = json_object_get(doc, "pool");
    const json_t *counters = json_object_get(doc, "counters");

    row(r, "total", "processes", processes(r, pool));
    row(r, "total", "requests",
        apr_pstrcat(r->pool, number_of(r, pool, "waiting"), " waiting, ",
                    number_of(r, counters, "requests"), " so far", NULL));
    row(r, "total", "applications",
        apr_psprintf(r->pool, "%d with requests",
                     (int)json_array_size(json_object_get(doc, "groups"))));
}

void apppool_status_body(request_rec *r, const json_t *doc)
{
    ap_rputs("<table>\n<caption>What is wrong, and the totals</caption>\n", r);
    problems(r, json_object_get(doc, "problems"));
    totals(r, doc);
    ap_rputs("</table>\n", r);
}

/* ---- the page ---- */

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
                                "form-action 'none'",
                                nonce, nonce));
    return nonce;
}

void apppool_status_page(request_rec *r, const json_t *doc)
{
    const char *nonce = permit(r);
    const char *host = visible(r, ap_get_server_name(r));

    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rvputs(r,
              "<!DOCTYPE html>\n<html lang=\"en\"><head>"
              "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
              "content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>"
              "\n<title>",
              host, ": application pool</title>\n<style nonce=\"", nonce,
              "\">\n", apppool_status_style,
              "</style></head>\n<body><header><h1>Application pool</h1>"
              "<span id=\"host\" class=\"dim\">",
              host,
              "</span><span id=\"live\"></span>"
              "<p id=\"notice\" role=\"status\"></p></header>\n"
              "<main id=\"main\" data-version=\"" APPPOOL_VERSION
              "\"><div id=\"page\">\n",
              NULL);
    apppool_status_body(r, doc);
    ap_rvputs(r,
              "</div><div id=\"drawer\" role=\"region\" "
              "aria-labelledby=\"drawer-name\" hidden></div></main>\n"
              "<script type=\"module\" nonce=\"",
              nonce, "\">\n", apppool_status_script,
              "</script></body></html>\n", NULL);
}
