/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/proxy_filter.h"

#include <http_config.h>
#include <http_log.h>
#include <poll.h>
#include <string.h>
#include <util_filter.h>

#include "mod_apppool/backend/proxy_api.h"
#include "shm/lock/lock_token.h"

APLOG_USE_MODULE(apppool);

#define SLICE 250 /* ms between two looks for the client of an event stream */

static ap_filter_rec_t *input, *output;

static int is_repeatable(const apppool_proxy_filter_t *filter)
{
    return apppool_app_client_may_repeat(filter->r, 0);
}

/* mod_proxy is about to log an error of a request that will be tried again. */
static void silence(request_rec *r)
{
    static const char *const speakers[] = {"mod_proxy.c", "mod_proxy_http.c"};
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

/* The connection broke before anything was sent. mod_proxy must not connect by
 * itself. It does not while the worker is in the error state. */
static void give_up(apppool_proxy_filter_t *filter)
{
    filter->worker->s->status |= PROXY_WORKER_IN_ERROR;
    silence(filter->r);
}

/* mod_proxy_http takes any other beginning for HTTP/0.9, and sends it to the
 * client as a page. An empty line may come first. */
static int is_http(apr_bucket_brigade *bb)
{
    char begin[5] = "";
    apr_size_t n = sizeof begin;

    return apr_brigade_flatten(bb, begin, &n) == APR_SUCCESS &&
           (*begin == '\r' || *begin == '\n' || !memcmp(begin, "HTTP/", n));
}

/* mod_proxy reads the header line by line, and then what the app sends. */
static int is_websocket(const apppool_proxy_filter_t *filter,
                        ap_input_mode_t mode)
{
    const char *value;

    if (mode != AP_MODE_READBYTES ||
        filter->r->status != HTTP_SWITCHING_PROTOCOLS)
        return 0;
    value = apr_table_get(filter->r->headers_in, "Upgrade");
    return value && !ap_cstr_casecmp(value, "websocket");
}

/* The end of a stream is no error if its process was stopped.
 * @return 1: a Close frame was put into bb */
static int end_websocket(apppool_proxy_filter_t *filter, apr_bucket_brigade *bb,
                         ap_input_mode_t mode)
{
    const apppool_first_byte_t *of = &filter->first_byte;

    if (of->ref->session == 0 || !apl_checkout_closed(of->pool, of->ref))
        return 0;
    silence(filter->r);
    return is_websocket(filter, mode) &&
           apppool_websocket_close_insert(&filter->websocket, bb);
}

static int is_end(apr_status_t rv, const apr_bucket_brigade *bb)
{
    return rv == APR_SUCCESS ? !APR_BRIGADE_EMPTY(bb) &&
                                   APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb))
                             : !APR_STATUS_IS_EAGAIN(rv);
}

/* Is there something to read? A filter below us may hold it. */
static int has_more(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apr_status_t rv =
        ap_get_brigade(f->next, bb, AP_MODE_SPECULATIVE, APR_NONBLOCK_READ, 1);
    int is_empty = APR_BRIGADE_EMPTY(bb);

    apr_brigade_cleanup(bb);
    return rv == APR_SUCCESS ? !is_empty : !APR_STATUS_IS_EAGAIN(rv);
}

/* mod_proxy waits for more of an event stream. This wait also ends when the
 * client has left. */
static apr_status_t wait_for_more(ap_filter_t *f, apr_bucket_brigade *bb)
{
    const apppool_proxy_filter_t *filter = f->ctx;
    const apppool_first_byte_t *of = &filter->first_byte;
    struct pollfd app = {of->socket, POLLIN, 0};
    int64_t limit = apl_now() + of->timeout;

    if (has_more(f, bb))
        return APR_SUCCESS;
    while (poll(&app, 1, SLICE) <= 0) {
        if (apppool_stream_client_has_left(of->client))
            return APR_ECONNABORTED;
        if (of->timeout >= 0 && apl_now() >= limit)
            return APR_TIMEUP;
    }
    return APR_SUCCESS;
}

/* Read. The wait for the first byte also ends when that byte cannot come any
 * more. */
static apr_status_t read_some(ap_filter_t *f, apr_bucket_brigade *bb,
                              ap_input_mode_t mode, apr_read_type_e block,
                              apr_off_t bytes)
{
    apppool_proxy_filter_t *filter = f->ctx;
    apr_status_t rv = APR_SUCCESS;

    if (filter->r && !filter->responded && block == APR_BLOCK_READ &&
        !filter->is_early)
        rv = apppool_first_byte_wait(&filter->first_byte);
    else if (filter->r && block == APR_BLOCK_READ &&
             apppool_stream_client_is_there(filter->first_byte.client))
        rv = wait_for_more(f, bb);
    if (APR_STATUS_IS_ECONNABORTED(rv))
        silence(filter->r);
    return rv == APR_SUCCESS ? ap_get_brigade(f->next, bb, mode, block, bytes)
                             : rv;
}

/* mod_proxy reads the header line by line. It knows only a limit of a line. */
static void refuse_header(apppool_proxy_filter_t *filter)
{
    const apppool_first_byte_t *of = &filter->first_byte;

    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, filter->r, "apppool: %s[%d]: %s",
                  of->label, (int)of->ref->pid,
                  apppool_header_size_wrong(&filter->header, filter->r->pool));
    silence(filter->r);
}

/* Look at what mod_proxy gets: the lines of a header, or the frames behind one.
 * @return 0: the header is too long */
static int follow(apppool_proxy_filter_t *filter, const apr_bucket_brigade *bb,
                  ap_input_mode_t mode)
{
    int is_header = mode == AP_MODE_GETLINE, is_too_long = 0;
    const char *bytes;
    apr_bucket *b;
    apr_size_t n;

    if (!is_header && !is_websocket(filter, mode))
        return 1;
    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb);
         b = APR_BUCKET_NEXT(b)) {
        if (APR_BUCKET_IS_METADATA(b) ||
            apr_bucket_read(b, &bytes, &n, APR_NONBLOCK_READ) != APR_SUCCESS)
            continue;
        if (is_header)
            is_too_long |= apppool_header_size_add(&filter->header, bytes, n);
        else
            apppool_websocket_close_follow(&filter->websocket, bytes, n);
    }
    if (is_too_long)
        refuse_header(filter);
    return !is_too_long;
}

static apr_status_t filter_input(ap_filter_t *f, apr_bucket_brigade *bb,
                                 ap_input_mode_t mode, apr_read_type_e block,
                                 apr_off_t bytes)
{
    apppool_proxy_filter_t *filter = f->ctx;
    apr_status_t rv;

    rv = read_some(f, bb, mode, block, bytes);
    if (!filter->r)
        return rv;
    if (mode == AP_MODE_SPECULATIVE) {
        if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv))
            give_up(filter);
        filter->is_early |= rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb);
        return rv;
    }
    if (apppool_first_byte_is_stopped(&filter->first_byte)) {
        silence(filter->r);
        apr_brigade_cleanup(bb);
        return APR_ECONNABORTED;
    }
    if (is_end(rv, bb) && end_websocket(filter, bb, mode))
        return APR_SUCCESS;
    if (rv == APR_SUCCESS && !APR_BRIGADE_EMPTY(bb)) {
        if (!filter->responded && !is_http(bb))
            rv = APR_EGENERAL;
        else if (!follow(filter, bb, mode))
            rv = APR_EGENERAL;
        filter->responded = 1;
        filter->ended = APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
    }
    else if (rv != APR_SUCCESS && !APR_STATUS_IS_EAGAIN(rv)) {
        filter->error = rv;
        if (!filter->responded && APR_STATUS_IS_ECONNRESET(rv) &&
            is_repeatable(filter))
            silence(filter->r);
    }
    return rv;
}

static apr_status_t filter_output(ap_filter_t *f, apr_bucket_brigade *bb)
{
    apppool_proxy_filter_t *filter = f->ctx;
    apr_status_t rv = ap_pass_brigade(f->next, bb);

    if (rv != APR_SUCCESS && filter->r) {
        filter->unwritten = 1;
        if (is_repeatable(filter))
            silence(filter->r);
    }
    return rv;
}

int apppool_proxy_filter_has_ended(const apppool_proxy_filter_t *filter)
{
    return filter->ended || APR_STATUS_IS_EOF(filter->error);
}

apppool_outcome_t
apppool_proxy_filter_outcome(const apppool_proxy_filter_t *filter)
{
    int responded =
        filter->responded || filter->worker->s->read != filter->read;

    if (filter->worker->s->transferred == filter->sent && !responded)
        return APPPOOL_UNSENT;
    if (responded || !is_repeatable(filter))
        return APPPOOL_HEARD;
    return filter->unwritten || APR_STATUS_IS_ECONNRESET(filter->error)
               ? APPPOOL_BROKEN
               : APPPOOL_HEARD;
}

void apppool_proxy_filter_register(void)
{
    input = ap_register_input_filter("APPPOOL_TAP", filter_input, NULL,
                                     AP_FTYPE_CONNECTION);
    output = ap_register_output_filter("APPPOOL_TAP", filter_output, NULL,
                                       AP_FTYPE_CONNECTION);
}

void apppool_proxy_filter_add(apppool_proxy_filter_t *filter, conn_rec *c)
{
    filter->c = c;
    ap_add_input_filter_handle(input, filter, NULL, c);
    ap_add_output_filter_handle(output, filter, NULL, c);
}

void apppool_proxy_filter_begin(apppool_proxy_filter_t *filter, request_rec *r,
                                const apppool_first_byte_t *first_byte)
{
    filter->r = r;
    filter->first_byte = *first_byte;
    filter->log = r->log;
    filter->unwritten = filter->responded = filter->ended = 0;
    filter->is_early = 0;
    memset(&filter->header, 0, sizeof filter->header);
    filter->error = APR_SUCCESS;
    memset(&filter->websocket, 0, sizeof filter->websocket);
    filter->sent = filter->worker->s->transferred;
    filter->read = filter->worker->s->read;
}

void apppool_proxy_filter_end(apppool_proxy_filter_t *filter)
{
    filter->worker->s->status &= ~(unsigned)PROXY_WORKER_IN_ERROR;
    filter->r->log = filter->log;
}
