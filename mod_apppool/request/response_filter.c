/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/response_filter.h"

#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/response_count.h"
#include "mod_apppool/body/response_buffer.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/body/sendfile.h"
#include "mod_apppool/pump/suspend.h"

static ap_filter_rec_t *filter_rec;

/* Does it hold an error? */
static int has_error(apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b))
        if (AP_BUCKET_IS_ERROR(b))
            return 1;
    return 0;
}

static int has_end(const apr_bucket_brigade *bb)
{
    return !APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
}

/* @param is_whole the first part of the response is also the last: there is
 *        nothing to store */
static void begin_response(apppool_app_request_t *req, int is_whole)
{
    uint32_t kind = apppool_streaming_kind(req->r);

    req->started = 1;
    if (kind)
        apppool_response_count_untimed(req->r);
    apppool_app_request_restore(req);
    /* A page of httpd itself does not come from a process. */
    if (req->ref.session != 0) {
        if (kind)
            apl_checkout_set_long_lived(req->pool, &req->ref, kind);
        apppool_stream_client_begin(&req->stream_client, req->r,
                                    req->app->label,
                                    kind == APL_LONG_LIVED_CONNECTION);
        req->file = apppool_sendfile_name(req->r, req->error);
        if (!req->file && !is_whole)
            req->buffer = apppool_response_buffer_make(
                req->r, req->app->label, req->socket, req->timeout);
    }
    if (req->error && req->r->status == HTTP_OK) {
        req->r->status = req->error;
        req->r->status_line = NULL;
    }
}

/* The process of an event stream was stopped. Pass on an end instead of an
 * error: the client will connect again. */
static void end_stream(apr_bucket_brigade *bb)
{
    apr_bucket *b, *next;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (APR_BUCKET_IS_METADATA(b))
            apr_bucket_delete(b);
    }
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
}

/* The app has named a file: its own body is read and dropped. */
static void replace_body(apppool_app_request_t *req, apr_bucket_brigade *bb)
{
    if (!has_end(bb))
        apr_brigade_cleanup(bb);
    else if (has_error(bb))
        req->file = NULL;
    else
        apppool_sendfile_replace(req->r, req->app, req->file, bb);
}

/* The response is not complete. Pass on an error instead of its end. */
static void replace_end_by_error(const apppool_app_request_t *req,
                                 apr_bucket_brigade *bb)
{
    if (!APR_BRIGADE_EMPTY(bb))
        apr_bucket_delete(APR_BRIGADE_LAST(bb));
    apppool_proxy.ap_proxy_backend_broke(req->r, bb);
}

/* Has the app closed it? */
static int has_closed(const apppool_app_request_t *req)
{
    return req->client ? req->client->does->has_closed(req->client)
                       : req->closed;
}

/* A response without a length ends with its connection. Over FastCGI it ends
 * with a record. */
static int is_cut_short(const apppool_app_request_t *req)
{
    return req->ref.wire.protocol != APL_FCGI && req->check.length < 0 &&
           !req->r->header_only && !AP_STATUS_IS_HEADER_ONLY(req->r->status) &&
           has_closed(req) && apppool_app_request_is_killed(req);
}

/* A filter below may have sent an error response itself. A write may find out
 * first that the client has left: the log says so in this case, too. */
static apr_status_t pass(apppool_app_request_t *req, apr_status_t rv)
{
    req->responded |= rv == AP_FILTER_ERROR;
    if (rv != APR_SUCCESS && req->r->connection->aborted)
        apppool_stream_client_has_left(&req->stream_client);
    return rv;
}

/* May the event stream leave its worker? @return 0; or the limit that it is
 * above */
static uint32_t admit_stream(apppool_app_request_t *req)
{
    int leaves = req->may_leave_worker ||
                 (req->ref.wire.protocol == APL_HTTP && !req->error &&
                  apppool_suspend_reserve(req->r));

    req->may_leave_worker = req->stream_client.may_leave = leaves;
    return apppool_streaming_is_full(req->app, req->pool, &req->ref, leaves);
}

/* The event stream is one more than AppMaxLongLived: httpd sends an error. */
static apr_status_t refuse(ap_filter_t *f, apr_bucket_brigade *bb,
                           uint32_t limit)
{
    apppool_app_request_t *req = f->ctx;
    int status;

    req->started = req->ended = req->responded = 1;
    apppool_app_request_restore(req);
    ap_remove_output_filter(f);
    apr_brigade_cleanup(bb);
    status = apppool_error_response_send(
        req->r, req->app,
        apppool_error_response_streaming(req->r, req->app, limit));
    if (status != OK)
        ap_die(status, req->r);
    return AP_FILTER_ERROR;
}

/* The response is complete. */
static void give_back(apppool_app_request_t *req)
{
    apppool_app_client_t *client = req->client;

    /* The process may be busy with a request whose response has ended. */
    if (client && client->may_outlast && !client->does->has_ended(client))
        return;
    apppool_app_request_checkin(req);
    /* The client of httpd may be slow, and needs no connection to the app. */
    if (client)
        client->does->close(client);
}

static apr_status_t filter_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_app_request_t *req = f->ctx;
    ap_filter_t *next = f->next;
    apr_status_t rv = APR_SUCCESS;
    uint32_t limit;

    if (!req->started && req->ref.session != 0 &&
        !apppool_response_check_first(&req->check, req->r))
        return APR_EGENERAL;
    if (!req->started && req->ref.session != 0 &&
        apppool_streaming_kind(req->r) == APL_LONG_LIVED_CONNECTION) {
        limit = admit_stream(req);
        if (limit > 0)
            return refuse(f, bb, limit);
    }
    if (!req->started)
        begin_response(req, has_end(bb));
    if (req->ref.session != 0 && !req->file)
        apppool_response_check_part(&req->check, req->r, bb);
    if (req->ref.session != 0 && !req->file && has_end(bb) && is_cut_short(req))
        replace_end_by_error(req, bb);
    if (has_error(bb) && (apppool_app_request_is_cut_off(req) || req->is_left))
        end_stream(bb);
    if (req->buffer)
        rv = pass(req, apppool_response_buffer_pass(req->buffer, next, bb));
    else if (req->file)
        replace_body(req, bb);
    if (rv != APR_SUCCESS || APR_BRIGADE_EMPTY(bb))
        return rv;
    if (has_end(bb)) {
        req->ended = 1;
        if (req->file || (!has_error(bb) && !req->is_left))
            give_back(req);
        ap_remove_output_filter(f);
    }
    return pass(req, ap_pass_brigade(next, bb));
}

/* ---- begin and end ---- */

void apppool_response_filter_register(void)
{
    /* Before all filters that may hold the response back, such as
     * compression. */
    filter_rec = ap_register_output_filter("APPPOOL_DONE", filter_response,
                                           NULL, AP_FTYPE_RESOURCE - 1);
    apppool_streaming_register();
}

void apppool_response_filter_add(apppool_app_request_t *req)
{
    ap_add_output_filter_handle(filter_rec, req, req->r, req->r->connection);
}

void apppool_response_filter_remove(apppool_app_request_t *req)
{
    ap_filter_t *f;

    for (f = req->r->output_filters; f; f = f->next)
        if (f->frec == filter_rec && f->ctx == req) {
            ap_remove_output_filter(f);
            break;
        }
}

void apppool_response_filter_finish(apppool_app_request_t *req)
{
    apr_bucket_alloc_t *list = req->r->connection->bucket_alloc;
    apr_bucket_brigade *bb;

    if (req->ended || !req->started)
        return;
    bb = apr_brigade_create(req->r->pool, list);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(list));
    if (apppool_app_request_is_killed(req))
        replace_end_by_error(req, bb);
    ap_pass_brigade(req->r->output_filters, bb);
}
