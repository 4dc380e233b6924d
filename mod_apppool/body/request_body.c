/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/request_body.h"

#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <util_filter.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/body/spool.h"
#include "mod_apppool/body/spool_file.h"
#include "mod_apppool/body/streaming.h"

APLOG_USE_MODULE(apppool);

struct apppool_request_body_t {
    request_rec *r;
    const char *label;
    apppool_spool_t *spool; /* NULL: passed on as it comes */
    ap_filter_t *filter;    /* NULL: there is none */
    int is_changed;         /* filters of httpd may change it */
    apr_table_t *headers;   /* r's own */
};

static ap_filter_rec_t *input;

/* ---- the filter ---- */

/* With MergeTrailers On, the end of a body adds headers. The app would trust
 * them, as untrusted headers were removed before (untrusted_headers.h). */
static apr_status_t read_client(request_rec *r, ap_filter_t *filters,
                                apr_bucket_brigade *bb, ap_input_mode_t mode,
                                apr_read_type_e block, apr_off_t most)
{
    apr_table_t *headers = r->headers_in;
    apr_status_t rv = ap_get_brigade(filters, bb, mode, block, most);

    r->headers_in = headers;
    return rv;
}

/* httpd's own filter looks up LimitRequestBody at its first read, but not for a
 * request of mod_proxy. */
static apr_status_t pass_on(ap_filter_t *f, apr_bucket_brigade *bb,
                            ap_input_mode_t mode, apr_read_type_e block,
                            apr_off_t most)
{
    int proxyreq = f->r->proxyreq;
    apr_status_t rv;

    f->r->proxyreq = PROXYREQ_NONE;
    rv = read_client(f->r, f->next, bb, mode, block, most);
    f->r->proxyreq = proxyreq;
    return rv;
}

static apr_status_t read_body(ap_filter_t *f, apr_bucket_brigade *bb,
                              ap_input_mode_t mode, apr_read_type_e block,
                              apr_off_t most)
{
    apppool_request_body_t *body = f->ctx;
    apr_status_t rv;

    if (mode != AP_MODE_READBYTES || !body->spool)
        return pass_on(f, bb, mode, block, most);
    rv = apppool_spool_get(body->spool, bb, most);
    if (rv == APR_SUCCESS && apppool_spool_left(body->spool) == 0)
        APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(bb->bucket_alloc));
    return rv;
}

void apppool_request_body_register(void)
{
    input = ap_register_input_filter("APPPOOL_BODY", read_body, NULL,
                                     AP_FTYPE_RESOURCE - 1);
}

/* ---- reading ---- */

/* httpd's own function says that HEAD has no body. */
static int has_body(const request_rec *r)
{
    const char *length = apr_table_get(r->headers_in, "Content-Length");

    return apr_table_get(r->headers_in, "Transfer-Encoding") ||
           (length && strcmp(length, "0"));
}

/* @return HTTP_* */
static int no_room(const apppool_request_body_t *body, apr_status_t rv)
{
    ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, body->r,
                  "apppool: %s: a request body of more than %" APR_OFF_T_FMT
                  " bytes cannot be stored in %s",
                  body->label, apppool_spool_size(body->spool),
                  apppool_spool_file_dir());
    /* Bytes that the client still sends belong to this body, not to a next
     * request. */
    body->r->connection->keepalive = AP_CONN_CLOSE;
    return rv == ENOSPC || rv == EDQUOT ? HTTP_INSUFFICIENT_STORAGE
                                        : HTTP_SERVICE_UNAVAILABLE;
}

/* An error of the client. @return what the handler is to return */
static int not_read(const apppool_request_body_t *body, apr_status_t rv)
{
    ap_log_rerror(APLOG_MARK, APLOG_INFO, rv, body->r,
                  "apppool: %s: the request body was not received",
                  body->label);
    return ap_map_http_request_error(rv, HTTP_BAD_REQUEST);
}

/* Empties the brigade. @return OK, or HTTP_* */
static int store(apppool_request_body_t *body, apr_bucket_brigade *bb,
                 int *last)
{
    apr_bucket *b;
    const char *bytes;
    apr_size_t count;
    apr_status_t rv;

    while (!APR_BRIGADE_EMPTY(bb)) {
        b = APR_BRIGADE_FIRST(bb);
        if (APR_BUCKET_IS_EOS(b))
            *last = 1;
        if (!APR_BUCKET_IS_METADATA(b)) {
            rv = apr_bucket_read(b, &bytes, &count, APR_BLOCK_READ);
            if (rv != APR_SUCCESS)
                return not_read(body, rv);
            rv = apppool_spool_put(body->spool, bytes, count);
            if (rv != APR_SUCCESS)
                return no_room(body, rv);
        }
        apr_bucket_delete(b);
    }
    return OK;
}

static int read_all(apppool_request_body_t *body, ap_filter_t *filters)
{
    request_rec *r = body->r;
    apr_bucket_brigade *bb =
        apr_brigade_create(r->pool, r->connection->bucket_alloc);
    int last = 0, status = OK;
    apr_status_t rv;

    while (status == OK && !last) {
        rv = read_client(r, filters, bb, AP_MODE_READBYTES, APR_BLOCK_READ,
                         HUGE_STRING_LEN);
        status =
            rv == APR_SUCCESS ? store(body, bb, &last) : not_read(body, rv);
        apr_brigade_cleanup(bb);
    }
    apr_brigade_destroy(bb);
    return status;
}

/* ---- a request ---- */

/* httpd decodes chunks if they are the last of several codings. The others
 * would not be decoded. */
static int is_coded(const request_rec *r)
{
    const char *coding = apr_table_get(r->headers_in, "Transfer-Encoding");

    return coding && ap_cstr_casecmp(coding, "chunked");
}

/* Make headers that describe the stored body. The table of the client's
 * headers stays, for the log and for code that looks for the end of that
 * body. */
static void fit_headers(apppool_request_body_t *body)
{
    request_rec *r = body->r;

    r->headers_in = apr_table_copy(r->pool, r->headers_in);
    apr_table_unset(r->headers_in, "Transfer-Encoding");
    apr_table_setn(r->headers_in, "Content-Length",
                   apr_off_t_toa(r->pool, apppool_spool_size(body->spool)));
}

/* A client must not send a body that is too long. */
static int check_length(const request_rec *r)
{
    apr_off_t size, limit = ap_get_limit_req_body(r);
    const char *length = apr_table_get(r->headers_in, "Content-Length");

    return length && limit > 0 && ap_parse_strict_length(&size, length) &&
                   size > limit
               ? HTTP_REQUEST_ENTITY_TOO_LARGE
               : OK;
}

int apppool_request_body_begin(apppool_request_body_t **body_, request_rec *r,
                               const char *label)
{
    apppool_request_body_t *body = *body_ = apr_pcalloc(r->pool, sizeof *body);
    /* A request for an ErrorDocument has headers of a body, but no body. */
    int is_document = ap_is_HTTP_ERROR(r->status), status;

    body->r = r;
    body->label = label;
    body->headers = r->headers_in;
    if (r->main || !has_body(r))
        return OK;
    if (is_coded(r) && !is_document)
        return HTTP_NOT_IMPLEMENTED;
    /* Over HTTP/2, mod_http2 says that a WebSocket has a body, which is
     * empty. */
    if (is_document || apppool_setting_here(r, APPPOOL_AppBufferRequest) ||
        apppool_streaming_wants_upgrade(r))
        body->spool = apppool_spool_make(r, APPPOOL_SPOOL_MEMORY);
    status = is_document ? OK : check_length(r);
    if (status == OK && !is_document && body->spool)
        status = read_all(body, r->input_filters);
    if (status != OK)
        return status;
    if (body->spool)
        fit_headers(body);
    body->is_changed = r->input_filters != r->proto_input_filters;
    body->filter = ap_add_input_filter_handle(input, body, r, r->connection);
    return OK;
}

int apppool_request_body_find_length(apppool_request_body_t *body)
{
    request_rec *r = body->r;
    int proxyreq = r->proxyreq, status;

    /* The length that the client has named is not that of a changed body. */
    if (!body->filter || body->spool ||
        (!body->is_changed &&
         !apr_table_get(r->headers_in, "Transfer-Encoding")))
        return OK;
    body->spool = apppool_spool_make(r, APPPOOL_SPOOL_MEMORY);
    r->proxyreq = PROXYREQ_NONE; /* as in pass_on() */
    status = read_all(body, body->filter->next);
    r->proxyreq = proxyreq;
    if (status == OK)
        fit_headers(body);
    return status;
}

int apppool_request_body_is_there(const apppool_request_body_t *body)
{
    return body->filter &&
           (!body->spool || apppool_spool_size(body->spool) > 0);
}

apr_off_t apppool_request_body_length(const apppool_request_body_t *body)
{
    request_rec *r = body->r;
    const char *length = apr_table_get(r->headers_in, "Content-Length");
    apr_off_t size;

    if (!body->filter)
        return 0;
    /* A filter before ours, or behind it, may change the length. */
    if (r->input_filters != body->filter ||
        (!body->spool && body->is_changed) || !length ||
        !ap_parse_strict_length(&size, length))
        return -1;
    return size;
}

int apppool_request_body_is_stored(const apppool_request_body_t *body)
{
    return body->spool != NULL;
}

void apppool_request_body_rewind(apppool_request_body_t *body)
{
    if (body->spool)
        apppool_spool_rewind(body->spool);
}

void apppool_request_body_end(apppool_request_body_t *body)
{
    request_rec *r = body->r;

    if (!body->filter)
        return;
    ap_remove_input_filter(body->filter);
    r->headers_in = body->headers;
}
