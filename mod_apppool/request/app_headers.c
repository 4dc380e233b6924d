/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/app_headers.h"

#include <apr_escape.h>
#include <apr_general.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/request/raw_path.h"
#include "shm/format/format.h"

#define TRACE          16 /* bytes of a trace's id */
#define SPAN           8  /* and of its parent's */
#define RANDOM         32 /* requests that one call gets numbers for */
#define RECORDED       "01"

/* A note of the request: the header as it was before mod_proxy added to it. */
#define FORWARDED_HOST "apppool-forwarded-host"

/* ---- where the request came from ---- */

/* CGI has other variables for it. The client may speak TLS with a proxy before
 * this httpd, although there is no TLS here. */
static void tell_https(request_rec *r, const char *scheme)
{
    if (!ap_cstr_casecmp(scheme, "https"))
        apr_table_setn(r->subprocess_env, "HTTPS", "on");
}

/* The app gets the path below the prefix, and over HTTP that cannot be
 * empty. */
static void tell_prefix(request_rec *r, const apppool_mount_t *mount)
{
    apr_table_setn(r->headers_in, "X-Forwarded-Prefix", mount->prefix);
    if (!strcmp(r->uri, mount->base_uri))
        apr_table_setn(r->headers_in, "X-Forwarded-Uri", mount->prefix);
    else
        apr_table_unset(r->headers_in, "X-Forwarded-Uri");
}

void apppool_app_headers_set_origin(request_rec *r,
                                    const apppool_mount_t *mount,
                                    apr_int64_t protocol)
{
    const char *scheme = apr_table_get(r->headers_in, "X-Forwarded-Proto");
    const char *host = apr_table_get(r->headers_in, "X-Forwarded-Host");

    if (host)
        apr_table_setn(r->notes, FORWARDED_HOST, host);
    apr_table_unset(r->headers_in, "X-Forwarded-Prefix");
    if (protocol != APL_HTTP) {
        tell_https(r, scheme ? scheme : "http");
        return;
    }
    if (*mount->stripped)
        tell_prefix(r, mount);
    if (!scheme)
        apr_table_setn(r->headers_in, "X-Forwarded-Proto", ap_http_scheme(r));
}

int apppool_app_headers_fixups(request_rec *r)
{
    const char *host = apr_table_get(r->notes, FORWARDED_HOST);

    if (host)
        apr_table_setn(r->headers_in, "X-Forwarded-Host", host);
    return DECLINED;
}

const char *apppool_app_headers_path(const request_rec *r, const char *base_uri)
{
    size_t n = strlen(base_uri);

    if (n == 0 || strncmp(r->uri, base_uri, n) ||
        (r->uri[n] != '/' && r->uri[n] != 0))
        return r->uri;
    return r->uri[n] ? r->uri + n : "/";
}

char *apppool_app_headers_url(request_rec *r, const char *scheme,
                              const char *base_uri)
{
    const char *host = r->hostname && *r->hostname
                           ? r->hostname
                           : ap_get_server_name_for_url(r);
    const char *port = r->hostname ? r->parsed_uri.port_str : NULL;
    const char *path = apppool_raw_path_below(r, base_uri);

    if (ap_strchr_c(host, ':') && *host != '[')
        host = apr_pstrcat(r->pool, "[", host, "]", NULL);
    apr_table_unset(r->notes, "proxy-noencode");
    /* In CGI's variables it is decoded. */
    if (path && !strcmp(scheme, "http"))
        apr_table_setn(r->notes, "proxy-noencode", "1");
    else
        path = apppool_app_headers_path(r, base_uri);
    return apr_pstrcat(r->pool, scheme, "://", host, port ? ":" : "",
                       port ? port : "", path, NULL);
}

/* ---- for monitoring ---- */

/* Read n hex digits in the form of W3C. @return what follows them */
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

/* Get random numbers for several requests of this thread, because each time
 * costs a system call.
 * @return a number for a trace and its parent; NULL: there are none */
static const unsigned char *random_id(void)
{
    static _Thread_local unsigned char ids[RANDOM][TRACE + SPAN];
    static _Thread_local unsigned left;

    if (left == 0) {
        if (apr_generate_random_bytes(ids[0], sizeof ids) != APR_SUCCESS)
            return NULL;
        left = RANDOM;
    }
    return ids[--left];
}

static const char *make(apr_pool_t *p)
{
    /* 0 is no id. It comes once in 2^64 times. */
    const unsigned char *id = random_id();

    if (!id)
        return NULL;
    return apr_pstrcat(p, "00-", apr_pescape_hex(p, id, TRACE, 0), "-",
                       apr_pescape_hex(p, id + TRACE, SPAN, 0), "-" RECORDED,
                       NULL);
}

void apppool_app_headers_set_trace(request_rec *r)
{
    const char *given = apr_table_get(r->headers_in, "traceparent"), *made;

    if (!apppool_setting_here(r, APPPOOL_AppTraceparent) ||
        (given && is_valid(given)))
        return;
    made = make(r->pool);
    if (made)
        apr_table_setn(r->headers_in, "traceparent", made);
    /* It says more about the trace that the other header has named. */
    apr_table_unset(r->headers_in, "tracestate");
}

void apppool_app_headers_set_start(request_rec *r)
{
    static const char form[] = "t=1234567890.123456";
    apr_time_t now = apr_time_now();
    char *text, *at;

    if (apr_table_get(r->headers_in, "X-Request-Start") ||
        apr_table_get(r->headers_in, "X-Queue-Start"))
        return;
    /* Each request needs it, and apr_psprintf() costs ten times as much. */
    text = apr_pstrmemdup(r->pool, form, sizeof form - 1);
    at = text + sizeof form - 1;
    for (; *--at != '='; now /= 10) {
        if (*at == '.')
            at--;
        *at = (char)('0' + now % 10);
    }
    apr_table_setn(r->headers_in, "X-Request-Start", text);
}
