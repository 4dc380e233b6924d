/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/response_filter.h"

#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/body/response_buffer.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/body/sendfile.h"

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
static void begin_response(apppool_session_t *s, int is_whole)
{
    uint32_t kind = apppool_streaming_kind(s->r);

    s->started = 1;
    apppool_session_restore(s);
    /* A page of httpd itself does not come from a process. */
    if (s->ref.session != 0) {
        if (kind)
            apl_checkout_set_long_lived(s->pool, &s->ref, kind);
        apppool_stream_client_begin(&s->client, s->r, s->app->label,
                                    kind == APL_LONG_LIVED_CONNECTION);
        s->file = apppool_sendfile_name(s->r, s->error);
        if (!s->file && !is_whole)
            s->buffer = apppool_response_buffer_make(s->r, s->app->label,
                                                     s->socket, s->timeout);
    }
    if (s->error && s->r->status == HTTP_OK) {
        s->r->status = s->error;
        s->r->status_line = NULL;
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
static void replace_body(apppool_session_t *s, apr_bucket_brigade *bb)
{
    if (!has_end(bb))
        apr_brigade_cleanup(bb);
    else if (has_error(bb))
        s->file = NULL;
    else
        apppool_sendfile_replace(s->r, s->app, s->file, bb);
}

/* The response is not complete. Pass on an error instead of its end. */
static void replace_end_by_error(const apppool_session_t *s,
                                 apr_bucket_brigade *bb)
{
    if (!APR_BRIGADE_EMPTY(bb))
        apr_bucket_delete(APR_BRIGADE_LAST(bb));
    apppool_proxy.ap_proxy_backend_broke(s->r, bb);
}

/* Has the app closed it? */
static int has_closed(const apppool_session_t *s)
{
    if (s->fcgi)
        return apppool_fcgi_has_ended(s->fcgi);
    if (s->http)
        return apppool_http_has_closed(s->http);
    return s->connection ? apppool_connection_filter_has_ended(
                               apppool_connection_filter(s->connection))
                         : s->closed;
}

/* A response without a length ends with its connection. Over FastCGI it ends
 * with a record. */
static int is_cut_short(const apppool_session_t *s)
{
    return s->ref.wire.protocol != APL_FCGI && s->check.length < 0 &&
           !s->r->header_only && !AP_STATUS_IS_HEADER_ONLY(s->r->status) &&
           has_closed(s) && apppool_session_is_killed(s);
}

/* A filter below may have sent an error response itself. A write may find out
 * first that the client has left: the log says so in this case, too. */
static apr_status_t pass(apppool_session_t *s, apr_status_t rv)
{
    s->responded |= rv == AP_FILTER_ERROR;
    if (rv != APR_SUCCESS && s->r->connection->aborted)
        apppool_stream_client_has_left(&s->client);
    return rv;
}

/* The event stream is one more than AppMaxLongLived: httpd sends an error. */
static apr_status_t refuse(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_session_t *s = f->ctx;

    s->started = s->ended = s->responded = 1;
    apppool_session_restore(s);
    ap_remove_output_filter(f);
    apr_brigade_cleanup(bb);
    ap_die(apppool_error_response_streaming(s->r, s->app), s->r);
    return AP_FILTER_ERROR;
}

/* The response is complete. */
static void give_back(apppool_session_t *s)
{
    s->unanswered = 0;
    /* A process may be busy with a request whose response has ended. */
    if (s->fcgi && !apppool_fcgi_has_ended(s->fcgi))
        return;
    apppool_session_checkin(s);
    /* It may still be open over scgi and uwsgi. The client may be slow. */
    if (s->fcgi)
        apppool_fcgi_close(s->fcgi);
}

static apr_status_t filter_response(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_session_t *s = f->ctx;
    ap_filter_t *next = f->next;
    apr_status_t rv = APR_SUCCESS;

    if (!s->started && s->ref.session != 0 &&
        !apppool_response_check_first(&s->check, s->r))
        return APR_EGENERAL;
    if (!s->started && s->ref.session != 0 &&
        apppool_streaming_kind(s->r) == APL_LONG_LIVED_CONNECTION &&
        apppool_streaming_is_full(s->app, s->pool, &s->ref))
        return refuse(f, bb);
    if (!s->started)
        begin_response(s, has_end(bb));
    if (s->ref.session != 0 && !s->file)
        apppool_response_check_part(&s->check, s->r, bb);
    if (s->ref.session != 0 && !s->file && has_end(bb) && is_cut_short(s))
        replace_end_by_error(s, bb);
    if (has_error(bb) && apppool_session_is_cut_off(s))
        end_stream(bb);
    if (s->buffer)
        rv = pass(s, apppool_response_buffer_pass(s->buffer, next, bb));
    else if (s->file)
        replace_body(s, bb);
    if (rv != APR_SUCCESS || APR_BRIGADE_EMPTY(bb))
        return rv;
    if (has_end(bb)) {
        s->ended = 1;
        if (s->file || !has_error(bb))
            give_back(s);
        ap_remove_output_filter(f);
    }
    return pass(s, ap_pass_brigade(next, bb));
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

void apppool_response_filter_add(apppool_session_t *s)
{
    ap_add_output_filter_handle(filter_rec, s, s->r, s->r->connection);
}

void apppool_response_filter_remove(apppool_session_t *s)
{
    ap_filter_t *f;

    for (f = s->r->output_filters; f; f = f->next)
        if (f->frec == filter_rec && f->ctx == s) {
            ap_remove_output_filter(f);
            break;
        }
}

void apppool_response_filter_finish(apppool_session_t *s)
{
    apr_bucket_alloc_t *list = s->r->connection->bucket_alloc;
    apr_bucket_brigade *bb;

    if (s->ended || !s->started)
        return;
    bb = apr_brigade_create(s->r->pool, list);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(list));
    if (apppool_session_is_killed(s))
        replace_end_by_error(s, bb);
    ap_pass_brigade(s->r->output_filters, bb);
}
