/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/handler.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/exchange.h"
#include "mod_apppool/body/request_body.h"
#include "mod_apppool/request/app_headers.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/request/packet.h"
#include "mod_apppool/request/response_filter.h"
#include "mod_apppool/body/sendfile.h"
#include "mod_apppool/request/session.h"
#include "mod_apppool/request/routing.h"

APLOG_USE_MODULE(apppool);

#define ATTEMPTS 10 /* processes that may refuse */

static int serve(apppool_session_t *s)
{
    uint32_t protocol = (uint32_t)s->app->protocol;
    apr_status_t rv;
    int i, status;

    apppool_sendfile_offer(s->r);
    apppool_app_headers_set_start(s->r);
    status = protocol == APL_AUTO ? OK : apppool_packet_make(s, protocol);
    for (i = 0; status == OK && i < ATTEMPTS; i++) {
        rv = apppool_session_checkout(s);
        if (rv != APR_SUCCESS)
            return apppool_error_response_pool(s->r, s->app, &s->ref, rv);
        /* There is no such process: its slot has another one by now, which
         * starts, or the slot is damaged. */
        if (s->ref.wire.protocol >= APL_AUTO) {
            apppool_session_detach_refusing(s);
            continue;
        }
        /* AppProtocol is auto, or this process was started under another
         * AppProtocol: build the request for its protocol. */
        if (s->ref.wire.protocol != protocol) {
            protocol = s->ref.wire.protocol;
            status = apppool_packet_make(s, protocol);
            if (status != OK)
                break;
        }
        if (apppool_exchange(s, &status))
            return status;
    }
    return status == OK ? apppool_error_response_refused(s->r, s->app) : status;
}

/* An scgi app has named another path (backend/fcgi_response.h). Its process is
 * free again. */
static void respond_elsewhere(request_rec *r)
{
    const char *path = apr_table_get(r->headers_out, "Location");

    r->status_line = NULL;
    if (r->method_number != M_GET) { /* which HEAD is, too */
        r->method = "GET";
        r->method_number = M_GET;
    }
    apr_table_unset(r->headers_in, "Content-Length");
    ap_internal_redirect_handler(path, r);
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
    status = apppool_routing_admit(r, mount);
    if (status != OK)
        return status;
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
    if (status == OK && !s->started && s->ref.wire.protocol == APL_SCGI)
        respond_elsewhere(r);
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
