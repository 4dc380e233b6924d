/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status_page.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <string.h>

/* A value as a person reads it, escaped. */
static const char *show(request_rec *r, const json_t *value)
{
    char buf[32];

    switch (json_typeof(value)) {
    case JSON_STRING:
        return ap_escape_html(r->pool, json_string_value(value));
    case JSON_INTEGER:
        return apr_psprintf(r->pool, "%" APR_INT64_T_FMT,
                            (apr_int64_t)json_integer_value(value));
    case JSON_REAL:
        apr_snprintf(buf, sizeof buf, "%.1f", json_real_value(value));
        return apr_pstrdup(r->pool, buf);
    default:
        return "&ndash;";
    }
}

static const char *member(request_rec *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return value ? show(r, value) : "&ndash;";
}

static const char *megabytes(request_rec *r, const json_t *value)
{
    return json_is_integer(value)
               ? apr_psprintf(r->pool, "%.1f MB",
                              (double)json_integer_value(value) / 1048576.0)
               : "&ndash;";
}

/* One row for each element of an array; the columns are its keys. */
static void table(request_rec *r, const json_t *array, const char *title,
                  const char *const *columns)
{
    const char *const *column;
    const json_t *row;
    size_t i;

    if (json_array_size(array) == 0)
        return;
    ap_rprintf(r, "<div class=\"t\"><table><caption>%s</caption><tr>", title);
    for (column = columns; *column; column++)
        ap_rvputs(r, "<th>", *column, "</th>", NULL);
    ap_rputs("</tr>\n", r);
    json_array_foreach(array, i, row)
    {
        ap_rputs("<tr>", r);
        for (column = columns; *column; column++)
            ap_rvputs(r, "<td>",
                      strcmp(*column, "memory")
                          ? member(r, row, *column)
                          : megabytes(r, json_object_get(row, *column)),
                      "</td>", NULL);
        ap_rputs("</tr>\n", r);
    }
    ap_rputs("</table></div>\n", r);
}

/* The members of an object, in one line. */
static void line(request_rec *r, json_t *object)
{
    const char *key;
    json_t *value;

    ap_rputs("<p class=\"line\">", r);
    json_object_foreach(object, key, value)
    {
        ap_rvputs(r, "<span>", key, "&nbsp;<b>", show(r, value), "</b></span> ",
                  NULL);
    }
    ap_rputs("</p>\n", r);
}

static void section_of_group(request_rec *r, const json_t *group)
{
    static const char *const processes[] = {"pid",       "id",        "state",
                                            "sessions",  "processed", "started",
                                            "last_used", "memory",    NULL};
    static const char *const requests[] = {"state",  "age", "method", "uri",
                                           "client", "pid", NULL};

    ap_rvputs(r, "<h2>", member(r, group, "name"), "</h2>\n<p>",
              member(r, group, "state"), ", in ", member(r, group, "app_root"),
              "; queue <b>", member(r, group, "queue"), "</b>, processes <b>",
              member(r, group, "size"), "</b> (min ", member(r, group, "min"),
              ", max ", member(r, group, "max"), "), requests so far ",
              member(r, group, "requests_total"), "</p>\n", NULL);
    if (json_is_string(json_object_get(group, "last_error")))
        ap_rvputs(r, "<p class=\"e\">Last failed start: ",
                  member(r, group, "last_error"), " (error id ",
                  member(r, group, "last_error_id"), ")</p>\n", NULL);
    table(r, json_object_get(group, "processes"), "Processes", processes);
    table(r, json_object_get(group, "requests"), "Requests", requests);
}

void apppool_status_body(request_rec *r, const json_t *doc)
{
    static const char *const events[] = {"time", "event", "app",
                                         "pid",  "id",    NULL};
    const json_t *group;
    size_t i;

    line(r, json_object_get(doc, "pool"));
    json_array_foreach(json_object_get(doc, "groups"), i, group)
    {
        section_of_group(r, group);
    }
    ap_rputs("<h2>Counters</h2>\n", r);
    line(r, json_object_get(doc, "counters"));
    table(r, json_object_get(doc, "events"), "Events", events);
}

void apppool_status_page(request_rec *r, const json_t *doc)
{
    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>apppool</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<style>body{font:15px/1.4 sans-serif;margin:1em;color:#222}"
        "h1{font-size:1.3em}h2{font-size:1.1em;margin:1.2em 0 .2em}"
        "p{margin:.3em 0}.line span{display:inline-block;margin-right:1em}"
        ".e{color:#a00}.t{overflow-x:auto}table{border-collapse:collapse;"
        "margin:.5em 0}caption{text-align:left;color:#666}"
        "th,td{padding:.2em .6em;text-align:left;border-bottom:1px solid #ddd;"
        "white-space:nowrap}</style></head>\n<body><h1>Application pool</h1>\n",
        r);
    apppool_status_body(r, doc);
    ap_rputs("</body></html>\n", r);
}
