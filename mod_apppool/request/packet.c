/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/packet.h"

#include <http_log.h>

#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/backend/scgi_request.h"
#include "mod_apppool/backend/uwsgi_request.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/request/app_headers.h"

APLOG_USE_MODULE(apppool);

int apppool_packet_needs_proxy(const apppool_session_t *s)
{
    return apppool_request_body_is_there(s->body) ||
           apppool_streaming_wants_upgrade(s->r);
}

/* Let mod_proxy check and encode the URL. */
static int make_url(apppool_session_t *s)
{
    request_rec *r = s->r;
    int status = apppool_proxy.proxy_run_canon_handler(
        r, apppool_app_headers_url(r, apppool_protocol_name(APL_HTTP),
                                   s->mount->base_uri));

    if (status == OK)
        s->url = r->filename + strlen("proxy:");
    if (status != DECLINED)
        return status;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s", s->app->label,
                  apppool_protocol_missing(r->pool, APL_HTTP));
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int make_http(apppool_session_t *s)
{
    int status = make_url(s);

    if (status != OK || apppool_packet_needs_proxy(s))
        return status;
    return apppool_http_request_make(&s->http_request, s->r, s->url);
}

static int make_bare(apppool_session_t *s, uint32_t protocol)
{
    const apl_session_ref_t any = {.wire.protocol = (uint16_t)protocol};
    request_rec *r = s->r;
    apppool_cgi_variables_t own;

    apppool_cgi_variables_set(r, s->mount, &any, s->filename, &own);
    apppool_cgi_environment_add(r);
    apppool_cgi_variables_restore(r, &own);
    s->packet.is_uwsgi = protocol == APL_UWSGI;
    s->packet.bytes = (s->packet.is_uwsgi ? apppool_uwsgi_request_make
                                          : apppool_scgi_request_make)(
        r->pool, r->subprocess_env, &s->packet.size);
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

int apppool_packet_make(apppool_session_t *s, uint32_t protocol)
{
    int is_bare = apppool_protocol_is_bare(protocol), status;

    /* These take a body only if its length is known. */
    if (is_bare && apr_table_get(s->r->headers_in, "Transfer-Encoding"))
        return HTTP_LENGTH_REQUIRED;
    apppool_app_headers_set_origin(s->r, s->mount, protocol);
    s->r->proxyreq = PROXYREQ_REVERSE;
    if (protocol == APL_HTTP)
        return make_http(s);
    status = apppool_request_body_find_length(s->body);
    return status == OK && is_bare ? make_bare(s, protocol) : status;
}
