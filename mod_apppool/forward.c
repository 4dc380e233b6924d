/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/forward.h"

#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

void apppool_forward_headers(request_rec *r, const char *base_uri)
{
    apr_table_unset(r->headers_in, "X-Forwarded-Prefix");
    apr_table_unset(r->headers_in, "X-Script-Name");
    apr_table_unset(r->headers_in, "Script-Name");
    apr_table_unset(r->headers_in, "SCRIPT_NAME");
    apr_table_unset(r->headers_in, "PATH_INFO");
    if (*base_uri)
        apr_table_setn(r->headers_in, "X-Forwarded-Prefix", base_uri);
    if (!strcmp(ap_http_scheme(r), "https"))
        apr_table_setn(r->headers_in, "X-Forwarded-Proto", "https");
}

/* The path without the prefix. */
static const char *path_of(const request_rec *r, const char *base_uri)
{
    size_t n = strlen(base_uri);

    if (n == 0 || strncmp(r->uri, base_uri, n) ||
        (r->uri[n] != '/' && r->uri[n] != 0))
        return r->uri;
    return r->uri[n] ? r->uri + n : "/";
}

char *apppool_forward_url(request_rec *r, const char *base_uri)
{
    const char *host = r->hostname && *r->hostname
                           ? r->hostname
                           : ap_get_server_name_for_url(r);
    const char *port = r->hostname ? r->parsed_uri.port_str : NULL;

    if (ap_strchr_c(host, ':') && *host != '[')
        host = apr_pstrcat(r->pool, "[", host, "]", NULL);
    return apr_pstrcat(r->pool, "http://", host, port ? ":" : "",
                       port ? port : "", path_of(r, base_uri), NULL);
}
