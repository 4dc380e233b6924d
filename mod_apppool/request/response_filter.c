/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/response_filter.h"

#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_filter.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/body/response_buffer.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/body/sendfile.h"

static ap_filter_rec_t *done;

/* Is there one that can't be read? */
static int has_error(apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b))
        if (AP_BUCKET_IS_ERROR(b))
            return 1;
    return 0;
}

static void see_begin(apppool_visit_t *v)
{
    uint32_t lasts = apppool_lasting_is(v->r);

    v->started = 1;
    apppool_visit_unhide(v);
    /* A page of httpd's own comes from no process. */
    if (v->hold.session != 0) {
        if (lasts)
            apl_checkout_endless(apppool_pool(), &v->hold, lasts);
        apppool_await_begun(v);
        v->file = apppool_sendfile_name(v->r, v->error);
        if (!v->file)
            v->drain =
                apppool_drain_make(v->r, v->app->label, v->wire, v->timeout);
    }
    if (v->error && v->r->status == HTTP_OK) {
        v->r->status = v->error;
        v->r->status_line = NULL;
    }
}

/* The end of an event stream whose process was stopped, in the place of an
 * error. Its client asks for another one. */
static void end_well(apr_bucket_brigade *bb)
{
    apr_bucket *b, *next;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (APR_BUCKET_IS_METADATA(b))
            apr_bucket_delete(b);
    }
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
}

static int ends(const apr_bucket_brigade *bb)
{
    return !APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
}

/* The app's own body is of no use then, but has to be read. */
static void replace_body(apppool_visit_t *v, apr_bucket_brigade *bb)
{
    if (!ends(bb))
        apr_brigade_cleanup(bb);
    else if (has_error(bb))
        v->file = NULL;
    else
        apppool_sendfile(v->r, v->app, v->file, bb);
}

/* The end of what an scgi app says may be its own. */
static int is_bereft(apppool_visit_t *v)
{
    return v->hold.wire.protocol == APL_SCGI && apppool_visit_bereaved(v);
}

/* In the place of an end that is none. */
static void spoil_end(const apppool_visit_t *v, apr_bucket_brigade *bb)
{
    if (!APR_BRIGADE_EMPTY(bb))
        apr_bucket_delete(APR_BRIGADE_LAST(bb));
    apppool_proxy.ap_proxy_backend_broke(v->r, bb);
}

/* An answer without a length ends with its connection, and so does one whose
 * process is killed. Over scgi mod_proxy reads past our filters. */
static int is_torn(const apppool_visit_t *v)
{
    return v->whole.length < 0 && !v->r->header_only &&
           !AP_STATUS_IS_HEADER_ONLY(v->r->status) &&
           (v->hold.wire.protocol == APL_SCGI ||
            apppool_tap_ended(apppool_channel_tap(v->channel))) &&
           apppool_visit_killed(v);
}

/* Who is below may have answered itself: that something is wrong with this. */
static apr_status_t pass(apppool_visit_t *v, apr_status_t rv)
{
    v->answered |= rv == AP_FILTER_ERROR;
    return rv;
}

/* It would be an event stream too many: in place of the app, httpd answers. */
static apr_status_t refuse(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_visit_t *v = f->ctx;

    v->started = v->ended = v->answered = 1;
    apppool_visit_unhide(v);
    ap_remove_output_filter(f);
    apr_brigade_cleanup(bb);
    ap_die(apppool_answer_lasting(v->r, v->app), v->r);
    return AP_FILTER_ERROR;
}

static apr_status_t see_part(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_visit_t *v = f->ctx;
    ap_filter_t *next = f->next;
    apr_status_t rv = APR_SUCCESS;

    if (!v->started && v->hold.session != 0 &&
        !apppool_whole_first(&v->whole, v->r, bb))
        return APR_EGENERAL;
    if (!v->started && v->hold.session != 0 &&
        apppool_lasting_is(v->r) == APL_LINKS &&
        apppool_lasting_full(v->app, &v->hold))
        return refuse(f, bb);
    if (!v->started)
        see_begin(v);
    if (v->hold.session != 0 && !v->file)
        apppool_whole_part(&v->whole, v->r, bb);
    if (v->hold.session != 0 && !v->file && ends(bb) && is_torn(v))
        spoil_end(v, bb);
    if (has_error(bb) && apppool_visit_closed(v))
        end_well(bb);
    if (v->drain)
        rv = pass(v, apppool_drain(v->drain, next, bb));
    else if (v->file)
        replace_body(v, bb);
    if (rv != APR_SUCCESS || APR_BRIGADE_EMPTY(bb))
        return rv;
    if (ends(bb)) {
        v->ended = 1;
        if ((v->file || !has_error(bb)) && !is_bereft(v))
            apppool_visit_checkin(v);
        ap_remove_output_filter(f);
    }
    return pass(v, ap_pass_brigade(next, bb));
}

/* Take what comes first out of an answer that has yet to be read. */
static void take_first(apppool_visit_t *v, apr_bucket_brigade *bb,
                       apr_bucket_brigade *part, apr_read_type_e *mode)
{
    apr_bucket *b = APR_BRIGADE_FIRST(bb);
    apr_status_t rv = APR_SUCCESS;
    const char *data;
    apr_size_t n;

    if (!APR_BUCKET_IS_METADATA(b))
        rv = apr_bucket_read(b, &data, &n, *mode);
    if (*mode == APR_NONBLOCK_READ && APR_STATUS_IS_EAGAIN(rv)) {
        APR_BRIGADE_INSERT_TAIL(part,
                                apr_bucket_flush_create(bb->bucket_alloc));
        *mode = APR_BLOCK_READ;
        return;
    }
    *mode = APR_NONBLOCK_READ;
    if (rv == APR_SUCCESS) {
        APR_BUCKET_REMOVE(b);
        APR_BRIGADE_INSERT_TAIL(part, b);
        return;
    }
    apr_brigade_cleanup(bb);
    apppool_proxy.ap_proxy_backend_broke(v->r, part);
}

/* mod_proxy_scgi passes the connection to the app itself, with the end of the
 * answer behind it, for whoever writes it to read. */
static apr_status_t see_answer(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_visit_t *v = f->ctx;
    apr_read_type_e mode = APR_NONBLOCK_READ;
    apr_bucket_brigade *part;
    apr_status_t rv = APR_SUCCESS;

    if (v->hold.session == 0 || v->hold.wire.protocol != APL_SCGI)
        return see_part(f, bb);
    part = apr_brigade_create(v->r->pool, bb->bucket_alloc);
    while (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb)) {
        take_first(v, bb, part, &mode);
        rv = see_part(f, part);
        apr_brigade_cleanup(part);
    }
    return rv;
}

/* ---- begin and end ---- */

void apppool_reply_register(void)
{
    /* Before all that may hold the answer back, such as compression. */
    done = ap_register_output_filter("APPPOOL_DONE", see_answer, NULL,
                                     AP_FTYPE_RESOURCE - 1);
    apppool_lasting_register();
}

void apppool_reply_begin(apppool_visit_t *v)
{
    ap_add_output_filter_handle(done, v, v->r, v->r->connection);
}

void apppool_reply_end(apppool_visit_t *v)
{
    ap_filter_t *f;

    for (f = v->r->output_filters; f; f = f->next)
        if (f->frec == done && f->ctx == v) {
            ap_remove_output_filter(f);
            break;
        }
}

void apppool_reply_finish(apppool_visit_t *v)
{
    apr_bucket_alloc_t *list = v->r->connection->bucket_alloc;
    apr_bucket_brigade *bb;

    if (v->ended || (!v->started && v->hold.wire.protocol != APL_FCGI))
        return;
    bb = apr_brigade_create(v->r->pool, list);
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(list));
    if (apppool_visit_killed(v))
        spoil_end(v, bb);
    ap_pass_brigade(v->r->output_filters, bb);
}
