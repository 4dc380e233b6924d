/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/fcgi_body.h"

#include <util_filter.h>

#include "mod_apppool/backend/fcgi_format.h"
#include "mod_apppool/backend/fcgi_request.h"

#define PIECE (32 * 1024) /* bytes of a record */

static void prepare(apppool_fcgi_body_t *body, request_rec *r)
{
    body->bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    body->record = apr_palloc(r->pool, FCGI_HEADER + PIECE + FCGI_HEADER);
}

static void make_record(apppool_fcgi_body_t *body, apr_size_t n)
{
    unsigned char *at = body->record;

    if (body->is_bare) {
        body->size = n;
        return;
    }
    if (n > 0)
        at = apppool_fcgi_request_header(at, FCGI_STDIN, body->request, n) + n;
    if (body->ended)
        at = apppool_fcgi_request_header(at, FCGI_STDIN, body->request, 0);
    body->size = (apr_size_t)(at - body->record);
}

apr_status_t apppool_fcgi_body_next(apppool_fcgi_body_t *body, request_rec *r)
{
    apr_size_t n = PIECE, header = body->is_bare ? 0 : FCGI_HEADER;
    apr_status_t rv = APR_SUCCESS;
    apr_bucket *next;

    if (!body->bb)
        prepare(body, r);
    /* A filter of another module may have returned more than PIECE. */
    if (APR_BRIGADE_EMPTY(body->bb))
        rv = ap_get_brigade(r->input_filters, body->bb, AP_MODE_READBYTES,
                            APR_NONBLOCK_READ, PIECE);
    if (rv != APR_SUCCESS)
        return rv;
    if (APR_BRIGADE_EMPTY(body->bb))
        return APR_EAGAIN;
    rv = apr_brigade_partition(body->bb, PIECE, &next);
    if (rv != APR_SUCCESS && rv != APR_INCOMPLETE)
        return rv;
    body->rest = apr_brigade_split_ex(body->bb, next, body->rest);
    body->ended = APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(body->bb));
    rv = apr_brigade_flatten(body->bb, (char *)body->record + header, &n);
    apr_brigade_cleanup(body->bb);
    if (rv != APR_SUCCESS)
        return rv;
    APR_BRIGADE_CONCAT(body->bb, body->rest);
    make_record(body, n);
    return body->size > 0 || body->ended ? APR_SUCCESS : APR_EAGAIN;
}
