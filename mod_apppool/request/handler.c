/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/handler.h"

#include <apr_strings.h>
#include <http_protocol.h>
#include <http_request.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/exchange.h"
#include "mod_apppool/body/request_body.h"
#include "mod_apppool/request/app_headers.h"
#include "mod_apppool/instance/current.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/request/request_head.h"
#include "mod_apppool/request/response_count.h"
#include "mod_apppool/request/response_filter.h"
#include "mod_apppool/body/sendfile.h"
#include "mod_apppool/request/app_request.h"
#include "mod_apppool/request/routing.h"
#include "mod_apppool/request/request_state.h"

#define ATTEMPTS 10 /* processes that may refuse */

static int serve(apppool_app_request_t *req)
{
    uint32_t protocol = (uint32_t)req->app->protocol;
    apr_status_t rv;
    int i, status;

    apppool_sendfile_offer(req->r);
    apppool_app_headers_set_start(req->r);
    status =
        protocol == APL_AUTO ? OK : apppool_request_head_make(req, protocol);
    for (i = 0; status == OK && i < ATTEMPTS; i++) {
        rv = apppool_app_request_checkout(req);
        if (rv == APL_ELONGLIVED)
            return apppool_error_response_streaming(req->r, req->app,
                                                    req->limit);
        if (rv != APR_SUCCESS)
            return apppool_error_response_pool(req->r, req->app, &req->ref, rv);
        /* There is no such process: its slot has another one by now, which
         * starts, or the slot is damaged. */
        if (req->ref.wire.protocol >= APL_AUTO) {
            apppool_app_request_detach_refusing(req);
            continue;
        }
        /* AppProtocol is auto, or this process was started under another
         * AppProtocol: build the request for its protocol. */
        if (req->ref.wire.protocol != protocol) {
            protocol = req->ref.wire.protocol;
            status = apppool_request_head_make(req, protocol);
            if (status != OK)
                break;
        }
        if (apppool_exchange(req, &status))
            return status;
    }
    return status == OK ? apppool_error_response_refused(req->r, req->app)
                        : status;
}

/* The app has named another path. Its process is free again. */
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

/* @return what the handler is to return */
static int end(apppool_app_request_t *req, int status)
{
    request_rec *r = req->r;

    apppool_app_request_end(req);
    apppool_response_filter_remove(req);
    apppool_request_body_end(req->body);
    if (req->elsewhere)
        respond_elsewhere(r);
    r->filename = req->filename;
    if (ap_is_HTTP_SERVER_ERROR(status) &&
        !apppool_response_check_overridden(r))
        apppool_response_count_blame(r, APL_FAULT_OTHER);
    if (ap_is_HTTP_ERROR(status)) {
        r->proxyreq = PROXYREQ_NONE;
        /* Otherwise httpd would ask for the ErrorDocument of this status. */
        if (req->error)
            r->status = req->error;
    }
    return apppool_error_response_send(r, req->app, status);
}

int apppool_handler(request_rec *r)
{
    const apppool_mount_t *mount;
    apppool_request_body_t *body;
    apppool_app_request_t *req;
    int status;

    if (!r->handler || strcmp(r->handler, APPPOOL_HANDLER))
        return DECLINED;
    mount = apppool_config_mount(r);
    if (!mount)
        return HTTP_NOT_FOUND;
    apppool_response_count_begin(r, mount->app);
    status = apppool_routing_admit(r, mount);
    if (status != OK)
        return status;
    if (!apppool_current()->pool)
        return apppool_error_response_send(
            r, mount->app, apppool_error_response_no_pool(r, mount->app));
    apppool_app_headers_set_trace(r);
    status = apppool_request_body_begin(&body, r, mount->app->label);
    if (status != OK)
        return apppool_error_response_send(r, mount->app, status);
    req = apppool_app_request_begin(r, mount, body);
    apppool_response_filter_add(req);
    status = serve(req);
    return status == SUSPENDED ? status : end(req, status);
}

int apppool_handler_resume(request_rec *r, apppool_link_why_t why)
{
    apppool_app_request_t *req = apppool_request_state_of(r)->app_request;

    return end(req, apppool_exchange_resume(req, why));
}
