/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/forwarded.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#include "mod_apppool/request/raw_path.h"
#include "shm/format/format.h"

/* A note of a request: what it said before mod_proxy added to it. */
#define FORWARDED_HOST "apppool-forwarded-host"

/* CGI's variables have it otherwise. A proxy before this httpd may have come
 * by TLS when nobody speaks it here. */
static void tell_https(request_rec *r, const char *scheme)
{
    if (!ap_cstr_casecmp(scheme, "https"))
        apr_table_setn(r->subprocess_env, "HTTPS", "on");
}

void apppool_forwarded_headers(request_rec *r, const char *base_uri,
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
    if (*base_uri)
        apr_table_setn(r->headers_in, "X-Forwarded-Prefix", base_uri);
    if (!scheme)
        apr_table_setn(r->headers_in, "X-Forwarded-Proto", ap_http_scheme(r));
}

int apppool_forwarded_fixups(request_rec *r)
{
    const char *host = apr_table_get(r->notes, FORWARDED_HOST);

    if (host)
        apr_table_setn(r->headers_in, "X-Forwarded-Host", host);
    return DECLINED;
}

const char *apppool_forwarded_path(const request_rec *r, const char *base_uri)
{
    size_t n = strlen(base_uri);

    if (n == 0 || strncmp(r->uri, base_uri, n) ||
        (r->uri[n] != '/' && r->uri[n] != 0))
        return r->uri;
    return r->uri[n] ? r->uri + n : "/";
}

char *apppool_forwarded_url(request_rec *r, const char *scheme,
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
    /* CGI's variables have it decoded. */
    if (path && !strcmp(scheme, "http"))
        apr_table_setn(r->notes, "proxy-noencode", "1");
    else
        path = apppool_forwarded_path(r, base_uri);
    return apr_pstrcat(r->pool, scheme, "://", host, port ? ":" : "",
                       port ? port : "", path, NULL);
}
