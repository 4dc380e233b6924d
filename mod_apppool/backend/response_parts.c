/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/response_parts.h"

#include <http_protocol.h>
#include <httpd.h>
#include <util_filter.h>

#include "mod_apppool/backend/proxy_api.h"

/* Bytes for which we have room before we read: half of the first window of
 * TCP. */
#define SENT_AT_ONCE (32 * 1024)

void apppool_response_parts_override(apppool_response_parts_t *parts,
                                     request_rec *r)
{
    proxy_dir_conf *conf =
        ap_get_module_config(r->per_dir_config, apppool_proxy.proxy_module);

    if (!apppool_proxy.ap_proxy_should_override(conf, r->status))
        return;
    apr_table_setn(r->notes, "proxy-error-override", "1");
    parts->overridden = r->status;
    parts->drops = 1;
    r->status = HTTP_OK;
}

int apppool_response_parts_break(apppool_response_parts_t *parts,
                                 request_rec *r, int status)
{
    if (parts->passed)
        return AP_FILTER_ERROR;
    if (parts->overridden)
        apr_table_unset(r->notes, "proxy-error-override");
    return status;
}

int apppool_response_parts_outlive_reset(const apppool_response_parts_t *parts,
                                         const request_rec *r, int is_tcp)
{
    const char *length = apr_table_get(r->headers_out, "Content-Length");
    apr_off_t size;

    return !is_tcp || parts->size <= SENT_AT_ONCE ||
           (length && ap_parse_strict_length(&size, length) &&
            parts->size >= size);
}

static apr_bucket_brigade *body_of(apppool_response_parts_t *parts,
                                   request_rec *r)
{
    if (!parts->body)
        parts->body = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    return parts->body;
}

void apppool_response_parts_add(apppool_response_parts_t *parts, request_rec *r,
                                const char *bytes, apr_size_t n)
{
    parts->size += (apr_off_t)n;
    if (n > 0 && !parts->drops)
        APR_BRIGADE_INSERT_TAIL(
            body_of(parts, r),
            apr_bucket_transient_create(bytes, n, r->connection->bucket_alloc));
}

static int pass(apppool_response_parts_t *parts, request_rec *r)
{
    apr_status_t rv;

    parts->passed = 1;
    rv = ap_pass_brigade(r->output_filters, parts->body);
    apr_brigade_cleanup(parts->body);
    return rv == APR_SUCCESS ? OK : AP_FILTER_ERROR;
}

int apppool_response_parts_pass(apppool_response_parts_t *parts, request_rec *r)
{
    if (!parts->body || APR_BRIGADE_EMPTY(parts->body))
        return OK;
    parts->unflushed = 1;
    return pass(parts, r);
}

int apppool_response_parts_flush(apppool_response_parts_t *parts,
                                 request_rec *r)
{
    if (parts->drops || (parts->passed && !parts->unflushed))
        return OK;
    parts->unflushed = 0;
    APR_BRIGADE_INSERT_TAIL(
        body_of(parts, r),
        apr_bucket_flush_create(r->connection->bucket_alloc));
    return pass(parts, r);
}

int apppool_response_parts_end(apppool_response_parts_t *parts, request_rec *r)
{
    if (parts->overridden)
        return parts->overridden;
    APR_BRIGADE_INSERT_TAIL(body_of(parts, r),
                            apr_bucket_eos_create(r->connection->bucket_alloc));
    return pass(parts, r);
}
