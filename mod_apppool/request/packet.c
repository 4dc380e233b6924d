/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/packet.h"

#include <http_log.h>

#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/request/app_headers.h"

APLOG_USE_MODULE(apppool);

int apppool_packet_needs_proxy(const apppool_session_t *s)
{
    return apppool_request_body_is_there(s->body) ||
           apppool_streaming_wants_upgrade(s->r);
}

/* Let mod_proxy check and encode the URL. */
static int make_url(apppool_session_t *s, uint32_t protocol)
{
    request_rec *r = s->r;
    int status = apppool_proxy.proxy_run_canon_handler(
        r, apppool_app_headers_url(r, apppool_protocol_name(protocol),
                                   s->mount->base_uri));

    if (status == OK)
        s->url = r->filename + strlen("proxy:");
    if (status != DECLINED)
        return status;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s", s->app->label,
                  apppool_protocol_missing(r->pool, protocol));
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int make_http(apppool_session_t *s)
{
    int status = make_url(s, APL_HTTP);

    if (status != OK || apppool_packet_needs_proxy(s))
        return status;
    return apppool_http_request_make(&s->http_request, s->r, s->url);
}

static int make_uwsgi(apppool_session_t *s)
{
    const apl_session_ref_t any = {.wire.protocol = APL_UWSGI};
    request_rec *r = s->r;
    apppool_cgi_variables_t own;

    apppool_cgi_variables_set(r, s->mount, &any, s->filename, &own);
    apppool_cgi_environment_add(r);
    apppool_cgi_variables_restore(r, &own);
    s->packet.bytes =
        apppool_uwsgi_request_make(r->pool, r->subprocess_env, &s->packet.size);
    if (s->packet.bytes) {
        /* Without it, another one is made when a process was found. */
        if (s->app->listen != APL_LISTEN_TCP && !s->packet.sock)
            apppool_connect_prepare(&s->packet.sock, r->pool);
        return OK;
    }
    ap_log_rerror(
        APLOG_MARK, APLOG_ERR, 0, r,
        "apppool: %s: the request has more than %d bytes of variables",
        s->app->label, UWSGI_MOST);
    return HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
}

/* scgi and uwsgi take a body only if its length is known. */
static int takes_body(const apppool_session_t *s, uint32_t protocol)
{
    return (protocol != APL_SCGI && protocol != APL_UWSGI) ||
           !apr_table_get(s->r->headers_in, "Transfer-Encoding");
}

int apppool_packet_make(apppool_session_t *s, uint32_t protocol)
{
    int status = OK;

    if (!takes_body(s, protocol))
        return HTTP_LENGTH_REQUIRED;
    apppool_app_headers_set_origin(s->r, s->mount->base_uri, protocol);
    s->r->proxyreq = PROXYREQ_REVERSE;
    switch (protocol) {
    case APL_HTTP:
        return make_http(s);
    case APL_SCGI:
        return make_url(s, protocol);
    default:
        status = apppool_request_body_find_length(s->body);
        return status == OK && protocol == APL_UWSGI ? make_uwsgi(s) : status;
    }
}
