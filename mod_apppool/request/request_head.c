/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/request_head.h"

#include <http_log.h>

#include "mod_apppool/backend/cgi_environment.h"
#include "mod_apppool/backend/connect.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/request/app_headers.h"

APLOG_USE_MODULE(apppool);

int apppool_request_head_needs_proxy(const apppool_app_request_t *req)
{
    return apppool_streaming_wants_upgrade(req->r) &&
           !apppool_request_body_is_there(req->body) && !req->may_leave_worker;
}

/* Let mod_proxy check and encode the URL. */
static int make_url(apppool_app_request_t *req)
{
    request_rec *r = req->r;
    int status = apppool_proxy.proxy_run_canon_handler(
        r, apppool_app_headers_url(r, apppool_protocol_name(APL_HTTP),
                                   req->mount->stripped));

    if (status == OK)
        req->url = r->filename + strlen("proxy:");
    if (status != DECLINED)
        return status;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s",
                  req->app->label, apppool_protocol_missing(r->pool, APL_HTTP));
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int make_http(apppool_app_request_t *req)
{
    const apr_table_t *variables = req->r->subprocess_env;
    int status = make_url(req);
    apr_off_t length;

    if (status != OK || apppool_request_head_needs_proxy(req))
        return status;
    length = apppool_request_body_length(req->body);
    /* HTTP/1.0 has no chunks. */
    if (length < 0 && apr_table_get(variables, "force-proxy-request-1.0")) {
        status = apppool_request_body_find_length(req->body);
        length = apppool_request_body_length(req->body);
        if (status == OK && length < 0)
            status = HTTP_LENGTH_REQUIRED;
    }
    req->http_request.upgrade =
        req->may_leave_worker ? apr_table_get(req->r->headers_in, "Upgrade")
                              : NULL;
    return status == OK ? apppool_http_request_make(&req->http_request, req->r,
                                                    req->url, length)
                        : status;
}

static int make_bare(apppool_app_request_t *req, uint32_t protocol)
{
    const apl_session_ref_t any = {.wire.protocol = (uint16_t)protocol};
    request_rec *r = req->r;
    apppool_cgi_variables_t own;

    apppool_cgi_variables_set(r, req->mount, &any, req->filename, &own);
    apppool_cgi_environment_add(r);
    apppool_cgi_variables_restore(r, &own);
    req->packet.is_uwsgi = protocol == APL_UWSGI;
    req->packet.bytes = (req->packet.is_uwsgi ? apppool_bare_packet_uwsgi
                                              : apppool_bare_packet_scgi)(
        r->pool, r->subprocess_env, &req->packet.size);
    if (req->packet.bytes) {
        /* Without it, another one is made when a process was found. */
        if (req->app->listen != APL_LISTEN_TCP && !req->packet.sock)
            apppool_connect_prepare(&req->packet.sock, r->pool);
        return OK;
    }
    ap_log_rerror(
        APLOG_MARK, APLOG_ERR, 0, r,
        "apppool: %s: the request has more than %d bytes of variables",
        req->app->label, UWSGI_MOST);
    return HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
}

int apppool_request_head_make(apppool_app_request_t *req, uint32_t protocol)
{
    int is_bare = apppool_protocol_is_bare(protocol), status;

    apppool_app_headers_set_origin(req->r, req->mount, protocol);
    req->r->proxyreq = PROXYREQ_REVERSE;
    if (protocol == APL_HTTP)
        return make_http(req);
    status = apppool_request_body_find_length(req->body);
    return status == OK && is_bare ? make_bare(req, protocol) : status;
}
