/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/whole.h"

#include <apr_strings.h>
#include <http_protocol.h>

#include "mod_apppool/proxy_api.h"
#include "shm/format.h"

static int count_headers(const request_rec *r)
{
    return apr_table_elts(r->headers_out)->nelts +
           apr_table_elts(r->err_headers_out)->nelts +
           (r->content_type != NULL);
}

void apppool_whole_begin(apppool_whole_t *w, const request_rec *r)
{
    w->headers = count_headers(r);
    w->seen = 0;
}

/* Without any field of it, or with one that is none: then httpd says 500, but
 * not with the app's words. */
static int has_no_header(const apppool_whole_t *w, const request_rec *r)
{
    return !r->status_line && (r->status == HTTP_INTERNAL_SERVER_ERROR ||
                               count_headers(r) == w->headers);
}

static int ends(const apr_bucket_brigade *bb)
{
    return !APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
}

static void look_at_length(apppool_whole_t *w, request_rec *r,
                           apr_bucket_brigade *bb, apr_off_t n)
{
    const char *length = apr_table_get(r->headers_out, "Content-Length");

    w->seen += n;
    if (!length || r->header_only || AP_STATUS_IS_HEADER_ONLY(r->status) ||
        !ends(bb) || w->seen >= apr_atoi64(length))
        return;
    apr_bucket_delete(APR_BRIGADE_LAST(bb));
    apppool_proxy.ap_proxy_backend_broke(r, bb);
}

int apppool_whole_look(apppool_whole_t *w, request_rec *r, uint32_t protocol,
                       apr_bucket_brigade *bb, int first)
{
    apr_off_t n = 0;

    if (protocol != APL_UWSGI && protocol != APL_FCGI)
        return 1;
    apr_brigade_length(bb, 0, &n);
    if (protocol == APL_UWSGI)
        look_at_length(w, r, bb, n);
    /* mod_proxy_fcgi passes what follows a header before it passes the end. */
    else if (first && ends(bb) && (n > 0 || has_no_header(w, r)))
        return 0;
    return 1;
}

int apppool_whole_status(const apppool_whole_t *w, const request_rec *r,
                         uint32_t protocol, int status, int begun)
{
    if (protocol == APL_HTTP)
        return status;
    if (status == HTTP_INTERNAL_SERVER_ERROR ||
        (status == AP_FILTER_ERROR && !begun) ||
        (status == OK && !begun && protocol == APL_FCGI && has_no_header(w, r)))
        return HTTP_BAD_GATEWAY;
    return status;
}
