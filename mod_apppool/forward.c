/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/forward.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_protocol.h>

#include "mod_apppool/path.h"
#include "shm/format.h"

/* ---- what the client says ---- */

/* All that makes variables of headers, as CGI does, takes X_Forwarded_Prefix
 * for X-Forwarded-Prefix. httpd leaves such names out of CGI's variables. */
static int note_odd(void *odd, const char *name, const char *value)
{
    const char *c;

    (void)value;
    for (c = name; apr_isalnum(*c) || *c == '-'; c++)
        ;
    if (*c)
        APR_ARRAY_PUSH((apr_array_header_t *)odd, const char *) = name;
    return 1;
}

static void unset_odd(request_rec *r)
{
    apr_array_header_t *odd = apr_array_make(r->pool, 1, sizeof(char *));
    int i;

    apr_table_do(note_odd, odd, r->headers_in, NULL);
    for (i = 0; i < odd->nelts; i++)
        apr_table_unset(r->headers_in, APR_ARRAY_IDX(odd, i, const char *));
}

/* mod_proxy takes away what Connection names, also what we say, or what
 * RequestHeader does. */
static void fit_connection(request_rec *r)
{
    static const char *const known[] = {"close", "keep-alive", "upgrade", "te",
                                        "http2-settings"};
    const char *connection = apr_table_get(r->headers_in, "Connection");
    char *word, *state = NULL;
    size_t i;

    if (!connection)
        return;
    connection = apr_pstrdup(r->pool, connection);
    apr_table_unset(r->headers_in, "Connection");
    for (word = apr_strtok((char *)connection, ",; \t", &state); word;
         word = apr_strtok(NULL, ",; \t", &state))
        for (i = 0; i < sizeof known / sizeof *known; i++)
            if (!ap_cstr_casecmp(word, known[i]))
                apr_table_mergen(r->headers_in, "Connection", known[i]);
}

void apppool_forward_clean(request_rec *r)
{
    unset_odd(r);
    fit_connection(r);
    apr_table_unset(r->headers_in, "X-Forwarded-Prefix");
    apr_table_unset(r->headers_in, "X-Script-Name");
    apr_table_unset(r->headers_in, "Script-Name");
    apr_table_unset(r->headers_in, "X-Sendfile-Type");
    apr_table_unset(r->headers_in, "X-Accel-Mapping");
}

/* ---- what the app is told ---- */

void apppool_forward_headers(request_rec *r, const char *base_uri,
                             apr_int64_t protocol)
{
    apr_table_unset(r->headers_in, "X-Forwarded-Prefix");
    if (protocol != APL_HTTP)
        return;
    if (*base_uri)
        apr_table_setn(r->headers_in, "X-Forwarded-Prefix", base_uri);
    if (!strcmp(ap_http_scheme(r), "https"))
        apr_table_setn(r->headers_in, "X-Forwarded-Proto", "https");
}

const char *apppool_forward_path(const request_rec *r, const char *base_uri)
{
    size_t n = strlen(base_uri);

    if (n == 0 || strncmp(r->uri, base_uri, n) ||
        (r->uri[n] != '/' && r->uri[n] != 0))
        return r->uri;
    return r->uri[n] ? r->uri + n : "/";
}

char *apppool_forward_url(request_rec *r, const char *scheme,
                          const char *base_uri)
{
    const char *host = r->hostname && *r->hostname
                           ? r->hostname
                           : ap_get_server_name_for_url(r);
    const char *port = r->hostname ? r->parsed_uri.port_str : NULL;
    const char *path = apppool_path_encoded(r, base_uri);

    if (ap_strchr_c(host, ':') && *host != '[')
        host = apr_pstrcat(r->pool, "[", host, "]", NULL);
    apr_table_unset(r->notes, "proxy-noencode");
    /* CGI's variables have it decoded. */
    if (path && !strcmp(scheme, "http"))
        apr_table_setn(r->notes, "proxy-noencode", "1");
    else
        path = apppool_forward_path(r, base_uri);
    return apr_pstrcat(r->pool, scheme, "://", host, port ? ":" : "",
                       port ? port : "", path, NULL);
}
