/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/response_check.h"

#include <http_log.h>
#include <http_protocol.h>
#include <util_script.h>

#include "mod_apppool/backend/proxy_api.h"
#include "shm/format/format.h"

APLOG_USE_MODULE(apppool);

static int count_headers(const request_rec *r)
{
    return apr_table_elts(r->headers_out)->nelts +
           apr_table_elts(r->err_headers_out)->nelts +
           (r->content_type != NULL);
}

void apppool_whole_begin(apppool_whole_t *w, request_rec *r, const char *label,
                         uint32_t protocol)
{
    w->label = label;
    w->protocol = protocol;
    w->none = 0;
    w->length = -1;
    w->seen = 0;
    /* Of an ErrorDocument it is the error's. */
    r->status = HTTP_OK;
    /* Not what mod_mime makes of the URL: the app says what it is. */
    r->content_type = NULL;
    r->content_encoding = NULL;
    r->content_languages = NULL;
    /* Else mod_proxy_scgi takes Content-Length out of the answer. */
    w->trusts = protocol == APL_SCGI &&
                !apr_table_get(r->subprocess_env, AP_TRUST_CGILIKE_CL_ENVVAR);
    if (w->trusts)
        apr_table_setn(r->subprocess_env, AP_TRUST_CGILIKE_CL_ENVVAR, "1");
    w->headers = count_headers(r);
}

void apppool_whole_end(apppool_whole_t *w, request_rec *r)
{
    if (w->trusts)
        apr_table_unset(r->subprocess_env, AP_TRUST_CGILIKE_CL_ENVVAR);
    w->trusts = 0;
}

static int ends(const apr_bucket_brigade *bb)
{
    return !APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
}

/* Without any field of it, or with one that is none: then httpd says 500, but
 * not with the app's words. */
static int has_no_header(const apppool_whole_t *w, const request_rec *r)
{
    return !r->status_line && (r->status == HTTP_INTERNAL_SERVER_ERROR ||
                               count_headers(r) == w->headers);
}

/* @return 0: it says what no length is, or two of them */
static int read_length(apppool_whole_t *w, const request_rec *r)
{
    const char *text =
        apr_table_getm(r->pool, r->headers_out, "Content-Length");

    if (!text)
        return 1;
    if (ap_parse_strict_length(&w->length, text))
        return 1;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s: Content-Length of the answer is not a number",
                  w->label);
    return 0;
}

int apppool_whole_first(apppool_whole_t *w, const request_rec *r,
                        apr_bucket_brigade *bb)
{
    apr_off_t n = 0;

    if (w->none || w->protocol == APL_HTTP)
        return !w->none;
    /* mod_proxy_fcgi passes what follows a header before the end. */
    if (w->protocol == APL_FCGI)
        apr_brigade_length(bb, 0, &n);
    w->none = (w->protocol == APL_FCGI && ends(bb) &&
               (n > 0 || has_no_header(w, r))) ||
              !read_length(w, r);
    return !w->none;
}

/* The client would take it for the next answer. */
static void cut(apppool_whole_t *w, const request_rec *r,
                apr_bucket_brigade *bb, apr_off_t room)
{
    apr_bucket *b, *next;

    if (apr_brigade_partition(bb, room, &b) != APR_SUCCESS)
        b = APR_BRIGADE_FIRST(bb);
    for (; b != APR_BRIGADE_SENTINEL(bb); b = next) {
        next = APR_BUCKET_NEXT(b);
        if (!APR_BUCKET_IS_METADATA(b))
            apr_bucket_delete(b);
    }
    if (w->seen <= w->length)
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "apppool: %s: the answer is longer than its "
                      "Content-Length; the rest is dropped",
                      w->label);
}

void apppool_whole_part(apppool_whole_t *w, request_rec *r,
                        apr_bucket_brigade *bb)
{
    apr_off_t n = 0;

    if (w->length < 0 || r->header_only || AP_STATUS_IS_HEADER_ONLY(r->status))
        return;
    apr_brigade_length(bb, 1, &n);
    if (n > w->length - w->seen)
        cut(w, r, bb, w->seen < w->length ? w->length - w->seen : 0);
    w->seen += n;
    if (w->seen >= w->length || !ends(bb))
        return;
    apr_bucket_delete(APR_BRIGADE_LAST(bb));
    apppool_proxy.ap_proxy_backend_broke(r, bb);
}

int apppool_whole_overridden(const apppool_whole_t *w, const request_rec *r,
                             int status)
{
    if (w->protocol == APL_HTTP)
        return apr_table_get(r->notes, "proxy-error-override") != NULL;
    /* It leaves the header of an answer there, and of none nothing. */
    return w->protocol == APL_UWSGI && ap_is_HTTP_ERROR(status) &&
           count_headers(r) > w->headers;
}

int apppool_whole_status(const apppool_whole_t *w, const request_rec *r,
                         int status, int begun)
{
    if (w->protocol == APL_HTTP || apppool_whole_overridden(w, r, status))
        return status;
    if (w->none || status == HTTP_INTERNAL_SERVER_ERROR ||
        (status == AP_FILTER_ERROR && !begun) ||
        (status == OK && !begun && w->protocol == APL_FCGI &&
         has_no_header(w, r)))
        return HTTP_BAD_GATEWAY;
    return status;
}
