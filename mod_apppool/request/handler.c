/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/handler.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/exchange.h"
#include "mod_apppool/body/request_body.h"
#include "mod_apppool/request/app_headers.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/request/packet.h"
#include "mod_apppool/request/response_filter.h"
#include "mod_apppool/body/sendfile.h"
#include "mod_apppool/request/session.h"
#include "mod_apppool/request/routing.h"

APLOG_USE_MODULE(apppool);

#define ATTEMPTS 10 /* processes that may refuse */

/* scgi and uwsgi take a body only if its length is known. */
static int takes_body(apppool_session_t *s, uint32_t protocol)
{
    return (protocol != APL_SCGI && protocol != APL_UWSGI) ||
           !apr_table_get(s->r->headers_in, "Transfer-Encoding");
}

/* Make it a request of this protocol. @return OK, or HTTP_* */
static int fit_request(apppool_session_t *s, uint32_t protocol,
                       const char **url)
{
    request_rec *r = s->r;
    int status;

    if (!takes_body(s, protocol))
        return HTTP_LENGTH_REQUIRED;
    apppool_app_headers_set_origin(r, s->mount->base_uri, protocol);
    r->proxyreq = PROXYREQ_REVERSE;
    if (protocol == APL_FCGI || protocol == APL_UWSGI) {
        status = apppool_request_body_find_length(s->body);
        return status == OK && protocol == APL_UWSGI ? apppool_packet_make(s)
                                                     : status;
    }
    status = apppool_proxy.proxy_run_canon_handler(
        r, apppool_app_headers_url(r, apppool_protocol_name(protocol),
                                   s->mount->base_uri));
    if (status == OK)
        *url = r->filename + strlen("proxy:");
    if (status != DECLINED)
        return status;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s", s->app->label,
                  apppool_protocol_missing(r->pool, protocol));
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int serve(apppool_session_t *s)
{
    uint32_t protocol = (uint32_t)s->app->protocol;
    const char *url = NULL;
    apr_status_t rv;
    int i, status;

    apppool_sendfile_offer(s->r);
    apppool_app_headers_set_start(s->r);
    status = protocol == APL_AUTO ? OK : fit_request(s, protocol, &url);
    for (i = 0; status == OK && i < ATTEMPTS; i++) {
        rv = apppool_session_checkout(s);
        if (rv != APR_SUCCESS)
            return apppool_error_response_pool(s->r, s->app, &s->ref, rv);
        /* AppProtocol is auto, or this process was started under another
         * AppProtocol: build the request for its protocol. */
        if (s->ref.wire.protocol != protocol) {
            protocol = s->ref.wire.protocol;
            status = fit_request(s, protocol, &url);
            if (status != OK)
                break;
        }
        if (apppool_exchange(s, url, &status))
            return status;
    }
    return status == OK ? apppool_error_response_refused(s->r, s->app) : status;
}

int apppool_handler(request_rec *r)
{
    const apppool_mount_t *mount;
    apppool_request_body_t *body;
    apppool_session_t *s;
    char *filename = r->filename;
    int status;

    if (!r->handler || strcmp(r->handler, APPPOOL_HANDLER))
        return DECLINED;
    mount = apppool_config_mount(r);
    if (!mount)
        return HTTP_NOT_FOUND;
    if (!apppool_lifecycle_pool()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "apppool: %s: there is no pool; httpd logged why when it "
                      "started",
                      mount->app->label);
        return HTTP_SERVICE_UNAVAILABLE;
    }
    apppool_app_headers_set_trace(r);
    status = apppool_request_body_begin(&body, r, mount->app->label);
    if (status != OK)
        return status;
    s = apppool_session_begin(r, mount, body);
    apppool_response_filter_add(s);
    status = serve(s);
    apppool_session_end(s);
    apppool_response_filter_remove(s);
    apppool_request_body_end(body);
    /* This is for internal redirects of scgi apps. The process is free
     * again. */
    if (status == OK)
        apppool_proxy.proxy_run_request_status(&status, r);
    r->filename = filename;
    if (ap_is_HTTP_ERROR(status)) {
        r->proxyreq = PROXYREQ_NONE;
        /* Otherwise httpd would ask for the ErrorDocument of this status. */
        if (s->error)
            r->status = s->error;
        /* The request for an ErrorDocument shares our pool, but has no body. */
        apr_pool_userdata_setn(NULL, "proxy-req-input", NULL, r->pool);
    }
    return status;
}
