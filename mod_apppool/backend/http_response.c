/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/http_response.h"

#include <apr_date.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <string.h>

#include "mod_apppool/backend/field_name.h"
#include "mod_apppool/backend/http_request.h"
#include "mod_apppool/backend/proxy_api.h"

APLOG_USE_MODULE(apppool);

#define LENGTH(names) (sizeof names / sizeof *names)

/* ---- names ---- */

/* These hold for one connection only, as all that Connection names. */
static const char *const hops[] = {
    "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection",
    "TE",         "Trailer",    "Transfer-Encoding",  "Upgrade",
};

static const char *const dates[] = {"Date", "Expires", "Last-Modified"};

/* ProxyPassReverse changes them. */
static const char *const urls[] = {"Location", "Content-Location", "URI",
                                   "Destination"};

/* ---- fields ---- */

/* HTTP has three forms of a date. All clients know one of them. */
static const char *date_of(apr_pool_t *p, const char *value)
{
    static const char form[] = "Sun, 06 Nov 1994 08:49:37 GMT";
    apr_time_t time;
    char *made;

    if (strlen(value) == sizeof form - 1 && value[3] == ',')
        return value;
    time = apr_date_parse_http(value);
    made = apr_palloc(p, APR_RFC822_DATE_LEN);
    return time && apr_rfc822_date(made, time) == APR_SUCCESS ? made : value;
}

static const char *value_of(request_rec *r, const char *name, const char *value)
{
    proxy_dir_conf *conf =
        ap_get_module_config(r->per_dir_config, apppool_proxy.proxy_module);

    if (apppool_field_name_is_among(name, dates, LENGTH(dates)))
        return date_of(r->pool, value);
    if (apppool_field_name_is_among(name, urls, LENGTH(urls)))
        return apppool_proxy.ap_proxy_location_reverse_map(r, conf, value);
    if (!ap_cstr_casecmp(name, "Set-Cookie"))
        return apppool_proxy.ap_proxy_cookie_reverse_map(r, conf, value);
    return value;
}

static int take_field(void *r_, const char *name, const char *value)
{
    request_rec *r = r_;

    if (!apppool_field_name_is_among(name, hops, LENGTH(hops)))
        apr_table_addn(r->headers_out, name, value_of(r, name, value));
    return 1;
}

/* httpd does not look at the header of an interim response. */
static int take_interim_field(void *r, const char *name, const char *value)
{
    return *ap_scan_http_field_content(value) || take_field(r, name, value);
}

static int copy_field(void *table, const char *name, const char *value)
{
    apr_table_addn(table, name, value);
    return 1;
}

static const char *connection_of(request_rec *r,
                                 const apppool_http_parser_t *parser)
{
    return apr_table_getm(r->pool, parser->fields, "Connection");
}

/* What Connection names. */
static void drop_named(request_rec *r, const char *connection, int *closes)
{
    char *words = apr_pstrdup(r->pool, connection), *state, *word;

    for (word = apr_strtok(words, ",; \t", &state); word;
         word = apr_strtok(NULL, ",; \t", &state)) {
        *closes |= !ap_cstr_casecmp(word, "close");
        apr_table_unset(r->headers_out, word);
    }
}

/* Without it, a client does not know what 426 asks for. */
static void keep_upgrade(request_rec *r, const apr_table_t *fields)
{
    const char *upgrade = apr_table_get(fields, "Upgrade");

    if (r->status != HTTP_UPGRADE_REQUIRED || !upgrade)
        return;
    apr_table_setn(r->headers_out, "Connection", "Upgrade");
    apr_table_setn(r->headers_out, "Upgrade", upgrade);
}

static void add_via(request_rec *r)
{
    const proxy_server_conf *conf = apppool_proxy_api_conf(r->server);
    const char *host;

    if (conf->viaopt == via_off || conf->viaopt == via_block)
        return;
    host = ap_get_server_name(r);
    if (host == r->hostname) /* it is the client's */
        host = r->server->server_hostname;
    apr_table_addn(
        r->headers_out, "Via",
        apr_psprintf(
            r->pool, "%d.%d %s%s%s%s%s", HTTP_VERSION_MAJOR(r->proto_num),
            HTTP_VERSION_MINOR(r->proto_num), host,
            apppool_http_request_port(r), conf->viaopt == via_full ? " (" : "",
            conf->viaopt == via_full ? AP_SERVER_BASEVERSION : "",
            conf->viaopt == via_full ? ")" : ""));
}

/* ---- a header ---- */

void apppool_http_response_take(request_rec *r,
                                const apppool_http_parser_t *parser,
                                int *closes)
{
    apr_table_t *before = r->headers_out;
    const char *connection, *type;

    r->headers_out = apr_table_make(r->pool, 20);
    /* Another module may have set one. */
    apr_table_do(copy_field, r->headers_out, before, "Set-Cookie", NULL);
    apr_table_do(take_field, r, parser->fields, NULL);
    connection = connection_of(r, parser);
    if (connection)
        drop_named(r, connection, closes);
    if (parser->is_ambiguous)
        apr_table_unset(r->headers_out, "Content-Length");
    else if (parser->left >= 0) /* once, in one form */
        apr_table_setn(r->headers_out, "Content-Length",
                       apr_off_t_toa(r->pool, parser->left));
    r->status = parser->status;
    r->status_line = parser->status_line;
    apr_table_setn(r->notes, "proxy-status",
                   apr_pstrmemdup(r->pool, parser->status_line, 3));
    type = apr_table_get(r->headers_out, "Content-Type");
    if (type)
        ap_set_content_type(r, type);
    keep_upgrade(r, parser->fields);
    add_via(r);
    r->sent_bodyct = 1;
}

/* Does the administrator want clients to get it? */
static int passes_interim(request_rec *r, int status)
{
    const char *policy =
        apr_table_get(r->subprocess_env, "proxy-interim-response");

    if (!policy)
        return 1;
    if (!ap_cstr_casecmp(policy, "RFC")) {
        /* Otherwise httpd sends it only to a client that waits for it. */
        if (status == HTTP_CONTINUE)
            r->expecting_100 = 1;
        return 1;
    }
    if (ap_cstr_casecmp(policy, "Suppress"))
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "apppool: proxy-interim-response is `RFC' or `Suppress', "
                      "not `%s'",
                      policy);
    return 0;
}

void apppool_http_response_interim(request_rec *r,
                                   const apppool_http_parser_t *parser)
{
    const char *connection = connection_of(r, parser);
    apr_table_t *headers = r->headers_out;
    const char *line = r->status_line;
    int status = r->status, closes = 0;

    if (!passes_interim(r, parser->status))
        return;
    r->headers_out = apr_table_make(r->pool, 4);
    apr_table_do(take_interim_field, r, parser->fields, NULL);
    if (connection)
        drop_named(r, connection, &closes);
    r->status = parser->status;
    r->status_line = *ap_scan_http_field_content(parser->status_line)
                         ? NULL
                         : parser->status_line;
    ap_send_interim_response(r, 1);
    r->headers_out = headers;
    r->status = status;
    r->status_line = line;
}

void apppool_http_response_trailer(request_rec *r,
                                   const apppool_http_parser_t *parser)
{
    if (parser->trailers)
        r->trailers_out = parser->trailers;
}
