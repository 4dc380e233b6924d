/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/connection_filter.h"

#include <http_config.h>
#include <http_log.h>
#include <string.h>
#include <util_filter.h>

#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/request/session.h"

APLOG_USE_MODULE(apppool);

static ap_filter_rec_t *input, *output;

/* With a body, part of it may have been acted upon. A reset of a TCP connection
 * says less than one of a Unix socket: the app may have asked for it. */
int apppool_tap_may_repeat(const request_rec *r, int local)
{
    return !ap_request_has_body((request_rec *)r) &&
           (local || r->method_number == M_GET ||
            r->method_number == M_OPTIONS);
}

static int repeatable(const apppool_tap_t *tap)
{
    return apppool_tap_may_repeat(tap->r, tap->local);
}

static const apppool_visit_t *visit_of(const apppool_tap_t *tap)
{
    return ap_get_module_config(tap->r->request_config, &apppool_module);
}

/* mod_proxy is about to complain of what will be tried again. */
static void silence(request_rec *r)
{
    static const char *const speakers[] = {
        "mod_proxy.c", "mod_proxy_http.c", "mod_proxy_fcgi.c",
        "mod_proxy_scgi.c", "mod_proxy_uwsgi.c"};
    struct ap_logconf *quiet;
    size_t i;

    quiet = ap_new_log_config(r->pool, r->log               ? r->log
                                       : r->connection->log ? r->connection->log
                                                            : &r->server->log);
    for (i = 0; i < sizeof speakers / sizeof *speakers; i++) {
        const module *m = ap_find_linked_module(speakers[i]);

        if (m && !APLOG_R_MODULE_IS_LEVEL(r, m->module_index, APLOG_DEBUG))
            ap_set_module_loglevel(r->pool, quiet, m->module_index, APLOG_CRIT);
    }
    r->log = quiet;
}

/* The connection broke before anything was sent. mod_proxy is kept from
 * connecting by itself: to a worker in error it does not. */
static void give_up(apppool_tap_t *tap)
{
    tap->worker->s->status |= PROXY_WORKER_IN_ERROR;
    silence(tap->r);
}

/* An app may answer without reading the body, and hang up: 413, say. What it
 * has not read makes that a reset, and not the plain end that it meant. */
static int hung_up(apr_status_t rv)
{
    return APR_STATUS_IS_EPIPE(rv) || APR_STATUS_IS_ECONNRESET(rv);
}

/* All of a body that was sent may be in the kernel yet, so that no write has
 * failed. The reset comes after what the app has answered. */
static int may_be_deaf(const apppool_tap_t *tap)
{
    return tap->deaf || ap_request_has_body(tap->r);
}

/* mod_proxy_http takes whatever begins otherwise for HTTP/0.9, and hands it to
 * the client as a page. A line without anything may go before. */
static int is_http(apr_bucket_brigade *bb)
{
    char begin[5] = "";
    apr_size_t n = sizeof begin;

    return apr_brigade_flatten(bb, begin, &n) == APR_SUCCESS &&
           (*begin == '\r' || *begin == '\n' || !memcmp(begin, "HTTP/", n));
}

/* mod_proxy reads the header line by line, and then what the app sends. */
static int is_websocket(const apppool_tap_t *tap, ap_input_mode_t mode)
{
    const char *wish = apr_table_get(tap->r->headers_in, "Upgrade");

    return mode == AP_MODE_READBYTES &&
           tap->r->status == HTTP_SWITCHING_PROTOCOLS && wish &&
           !ap_cstr_casecmp(wish, "websocket");
}

static void see_frames(apppool_tap_t *tap, const apr_bucket_brigade *bb)
{
    const char *bytes;
    apr_bucket *b;
    apr_size_t n;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b))
        if (!APR_BUCKET_IS_METADATA(b) &&
            apr_bucket_read(b, &bytes, &n, APR_NONBLOCK_READ) == APR_SUCCESS)
            apppool_farewell_see(&tap->farewell, bytes, n);
}

/* The process was stopped, and this was a link to it: that is no failure.
 * @return 1: there is something to be read yet */
static int end_well(apppool_tap_t *tap, apr_bucket_brigade *bb,
                    ap_input_mode_t mode)
{
    const apppool_visit_t *v = visit_of(tap);

    if (!v || !apppool_visit_closed(v))
        return 0;
    silence(tap->r);
    return is_websocket(tap, mode) && apppool_farewell_say(&tap->farewell, bb);
}

static int is_end(apr_status_t rv, const apr_bucket_brigade *bb)
{
    return rv == APR_SUCCESS ? !APR_BRIGADE_EMPTY(bb) &&
                                   APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb))
                             : !APR_STATUS_IS_EAGAIN(rv);
}

/* Read, but not for longer than somebody may wait for the answer. */
static apr_status_t read_some(ap_filter_t *f, apr_bucket_brigade *bb,
                              ap_input_mode_t mode, apr_read_type_e block,
                              apr_off_t bytes)
{
    const apppool_tap_t *tap = f->ctx;
    const apppool_visit_t *v = tap->r ? visit_of(tap) : NULL;
    apr_status_t rv = APR_SUCCESS;

    if (v && !tap->answered && block == APR_BLOCK_READ)
        rv = apppool_await(v, f->next);
    if (APR_STATUS_IS_ECONNABORTED(rv))
        silence(tap->r);
    return rv == APR_SUCCESS ? ap_get_brigade(f->next, bb, mode, block, bytes)
                             : rv;
}

static apr_status_t tap_in(ap_filter_t *f, apr_bucket_brigade *bb,
                           ap_input_mode_t mode, apr_read_type_e block,
                           apr_off_t bytes)
{
    apppool_tap_t *tap = f->ctx;
    apr_status_t rv = read_some(f, bb, mode, block, bytes);

    if (!tap->r)
        return rv;
    if (mode == AP_MODE_SPECULATIVE) {
        if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv))
            give_up(tap);
        return rv;
    }
    if (tap->answered && hung_up(rv) && may_be_deaf(tap)) {
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
        tap->deaf = tap->ended = 1;
        return APR_SUCCESS;
    }
    if (is_end(rv, bb) && end_well(tap, bb, mode))
        return APR_SUCCESS;
    if (rv == APR_SUCCESS && is_websocket(tap, mode))
        see_frames(tap, bb);
    if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb)) {
        if (!tap->answered && tap->http && !is_http(bb))
            rv = APR_EGENERAL;
        tap->answered = 1;
        tap->ended = APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
    }
    else if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv)) {
        tap->error = rv;
        if (!tap->answered && APR_STATUS_IS_ECONNRESET(rv) && repeatable(tap))
            silence(tap->r);
    }
    return rv;
}

/* mod_proxy reads an answer only when it could send all of the request. */
static apr_status_t tap_out(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_tap_t *tap = f->ctx;
    apr_status_t rv = tap->deaf ? APR_SUCCESS : ap_pass_brigade(f->next, bb);

    if (rv != APR_SUCCESS && tap->r) {
        tap->unwritten = 1;
        if (repeatable(tap))
            silence(tap->r);
        else if (hung_up(rv))
            tap->deaf = 1;
    }
    if (!tap->deaf)
        return rv;
    apr_brigade_cleanup(bb);
    return APR_SUCCESS;
}

int apppool_tap_ended(const apppool_tap_t *tap)
{
    return tap->ended || APR_STATUS_IS_EOF(tap->error);
}

apppool_fate_t apppool_tap_fate(const apppool_tap_t *tap)
{
    int answered = tap->answered || tap->worker->s->read != tap->read;

    if (tap->worker->s->transferred == tap->sent && !answered)
        return APPPOOL_UNSENT;
    if (answered || !repeatable(tap))
        return APPPOOL_HEARD;
    return tap->unwritten || APR_STATUS_IS_ECONNRESET(tap->error)
               ? APPPOOL_UNREAD
               : APPPOOL_HEARD;
}

void apppool_taps_register(void)
{
    input = ap_register_input_filter("APPPOOL_TAP", tap_in, NULL,
                                     AP_FTYPE_CONNECTION);
    output = ap_register_output_filter("APPPOOL_TAP", tap_out, NULL,
                                       AP_FTYPE_CONNECTION);
}

void apppool_tap_put(apppool_tap_t *tap, conn_rec *c)
{
    ap_add_input_filter_handle(input, tap, NULL, c);
    ap_add_output_filter_handle(output, tap, NULL, c);
}

void apppool_tap_begin(apppool_tap_t *tap, request_rec *r)
{
    tap->r = r;
    tap->log = r->log;
    tap->unwritten = tap->answered = tap->deaf = tap->ended = 0;
    tap->error = APR_SUCCESS;
    memset(&tap->farewell, 0, sizeof tap->farewell);
    tap->sent = tap->worker->s->transferred;
    tap->read = tap->worker->s->read;
}

void apppool_tap_end(apppool_tap_t *tap)
{
    tap->worker->s->status &= ~(unsigned)PROXY_WORKER_IN_ERROR;
    /* As mod_proxy_http notes it, and the others do not. */
    if (!tap->answered && APR_STATUS_IS_TIMEUP(tap->error))
        apr_table_setn(tap->r->notes, "proxy_timedout", "1");
    tap->r->log = tap->log;
}
