/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/trace_headers.h"

#include <apr_escape.h>
#include <apr_general.h>
#include <apr_strings.h>

#include "mod_apppool/config/config.h"

#define TRACE    16 /* bytes of a trace's id */
#define SPAN     8  /* and of its parent's */
#define RECORDED "01"

/* n digits in hex, as W3C wants them, and what follows them. */
static int is_hex(const char **text, size_t n, int zero, char end)
{
    size_t digits = strspn(*text, "0123456789abcdef");
    size_t zeros = strspn(*text, "0");

    if (digits != n || (!zero && zeros >= n) || (*text)[n] != end)
        return 0;
    *text += n + 1;
    return 1;
}

/* A later version may have more fields. */
static int is_valid(const char *text)
{
    int first = !strncmp(text, "00-", 3);

    return strncmp(text, "ff-", 3) && is_hex(&text, 2, 1, '-') &&
           is_hex(&text, 2 * TRACE, 0, '-') &&
           is_hex(&text, 2 * SPAN, 0, '-') &&
           (is_hex(&text, 2, 1, 0) || (!first && is_hex(&text, 2, 1, '-')));
}

static const char *make(apr_pool_t *p)
{
    unsigned char id[TRACE + SPAN];

    /* A number that is 0 is no id; that comes once in 2^64 times. */
    if (apr_generate_random_bytes(id, sizeof id) != APR_SUCCESS)
        return NULL;
    return apr_pstrcat(p, "00-", apr_pescape_hex(p, id, TRACE, 0), "-",
                       apr_pescape_hex(p, id + TRACE, SPAN, 0), "-" RECORDED,
                       NULL);
}

void apppool_trace_headers_parent(request_rec *r)
{
    const char *given = apr_table_get(r->headers_in, "traceparent"), *made;

    if (!apppool_config_traceparent(r) || (given && is_valid(given)))
        return;
    made = make(r->pool);
    if (made)
        apr_table_setn(r->headers_in, "traceparent", made);
    /* It tells more of the trace that the other one has named. */
    apr_table_unset(r->headers_in, "tracestate");
}

void apppool_trace_headers_start(request_rec *r)
{
    apr_time_t now = apr_time_now();

    if (apr_table_get(r->headers_in, "X-Request-Start") ||
        apr_table_get(r->headers_in, "X-Queue-Start"))
        return;
    apr_table_setn(r->headers_in, "X-Request-Start",
                   apr_psprintf(r->pool, "t=%" APR_TIME_T_FMT ".%06d",
                                apr_time_sec(now), (int)apr_time_usec(now)));
}
