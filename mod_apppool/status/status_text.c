/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <stdio.h>
#include <string.h>

/* Replace control characters by "?": curl shows a page in a terminal, which
 * would obey them, and a browser does not show them. */
static char *visible(apr_pool_t *p, const char *text)
{
    char *copy = apr_pstrdup(p, text), *c;

    for (c = copy; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if ((unsigned char)*c == 0xc2 && (unsigned char)c[1] < 0xa0)
            c[0] = c[1] = '?'; /* U+0080 to U+009F */
    return copy;
}

const char *apppool_status_show(request_rec *r, const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        return ap_escape_html(r->pool,
                              visible(r->pool, json_string_value(value)));
    case JSON_INTEGER:
        return apr_psprintf(r->pool, "%" APR_INT64_T_FMT,
                            (apr_int64_t)json_integer_value(value));
    case JSON_REAL:
        return apr_psprintf(r->pool, "%.1f", json_real_value(value));
    default:
        return APPPOOL_STATUS_NONE;
    }
}

const char *apppool_status_member(request_rec *r, const json_t *object,
                                  const char *key)
{
    return apppool_status_show(r, json_object_get(object, key));
}

const char *apppool_status_word(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));

    return word ? word : "";
}

apr_int64_t apppool_status_number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

const char *apppool_status_bytes(request_rec *r, const json_t *value)
{
    double mb = (double)json_integer_value(value) / 1048576.0;

    return json_is_integer(value)
               ? apr_psprintf(r->pool, mb < 10 ? "%.1f MB" : "%.0f MB", mb)
               : APPPOOL_STATUS_NONE;
}

const char *apppool_status_span(request_rec *r, double s)
{
    /* A segment may contain any number. No system is as old as this. */
    apr_int64_t n = s > 1e12 ? APR_INT64_C(1000000000000) : (apr_int64_t)s;

    if (s < 0)
        return APPPOOL_STATUS_NONE;
    if (s < 1)
        return apr_psprintf(r->pool, s < .01 ? "%.1f ms" : "%.0f ms", s * 1000);
    if (s < 10)
        return apr_psprintf(r->pool, "%.1f s", s);
    if (n < 120)
        return apr_psprintf(r->pool, "%d s", (int)n);
    if (n < 7200)
        return apr_psprintf(r->pool, "%d min", (int)(n / 60));
    if (n < 172800)
        return apr_psprintf(r->pool, "%d h %d min", (int)(n / 3600),
                            (int)(n / 60 % 60));
    return apr_psprintf(r->pool, "%" APR_INT64_T_FMT " d %d h", n / 86400,
                        (int)(n / 3600 % 24));
}

double apppool_status_since(request_rec *r, const json_t *instant)
{
    const char *iso = json_string_value(instant);
    apr_time_exp_t e;
    apr_time_t then;
    double s;

    memset(&e, 0, sizeof e);
    if (!iso || sscanf(iso, "%d-%d-%dT%d:%d:%d", &e.tm_year, &e.tm_mon,
                       &e.tm_mday, &e.tm_hour, &e.tm_min, &e.tm_sec) != 6)
        return -1;
    e.tm_year -= 1900;
    e.tm_mon--;
    if (apr_time_exp_gmt_get(&then, &e) != APR_SUCCESS)
        return -1;
    s = (double)(r->request_time - then) / APR_USEC_PER_SEC;
    return s > 0 ? s : 0;
}

const char *apppool_status_clock(request_rec *r, const json_t *instant)
{
    const char *iso = json_string_value(instant);
    const char *clock = iso ? strchr(iso, 'T') : NULL;

    return clock
               ? ap_escape_html(r->pool, apr_pstrmemdup(r->pool, clock + 1,
                                                        strnlen(clock + 1, 8)))
               : APPPOOL_STATUS_NONE;
}

const char *apppool_status_within(request_rec *r, const json_t *histogram,
                                  double part)
{
    double all = json_number_value(json_object_get(histogram, "count")), le = 0;
    const json_t *bucket;
    size_t i;

    if (all <= 0)
        return APPPOOL_STATUS_NONE;
    json_array_foreach(json_object_get(histogram, "buckets"), i, bucket)
    {
        le = json_number_value(json_object_get(bucket, "le"));
        if (json_number_value(json_object_get(bucket, "count")) >= part * all)
            return apr_pstrcat(r->pool, "&le; ", apppool_status_span(r, le),
                               NULL);
    }
    return apr_pstrcat(r->pool, "&gt; ", apppool_status_span(r, le), NULL);
}
