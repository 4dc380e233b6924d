/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/body/response_check.h"

#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/backend/proxy_api.h"
#include "shm/format/format.h"

APLOG_USE_MODULE(apppool);

void apppool_response_check_begin(apppool_response_check_t *check,
                                  request_rec *r, const char *label,
                                  uint32_t protocol)
{
    check->label = label;
    check->protocol = protocol;
    check->is_none = 0;
    check->length = -1;
    check->seen = 0;
    /* A request for an ErrorDocument has the status of the error. */
    r->status = HTTP_OK;
    /* Remove the types that mod_mime derives from the URL: the app sends its
     * own. */
    r->content_type = NULL;
    r->content_encoding = NULL;
    r->content_languages = NULL;
}

static int has_end(const apr_bucket_brigade *bb)
{
    return !APR_BRIGADE_EMPTY(bb) && APR_BUCKET_IS_EOS(APR_BRIGADE_LAST(bb));
}

/* The client would wait for another response, and take the body for it. */
static int is_final(const apppool_response_check_t *check, const request_rec *r)
{
    if (r->status >= HTTP_OK)
        return 1;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s: the status of the response is %d", check->label,
                  r->status);
    return 0;
}

/* @return 0: Content-Length is not a number, or there are two */
static int read_length(apppool_response_check_t *check, const request_rec *r)
{
    const char *text =
        apr_table_getm(r->pool, r->headers_out, "Content-Length");

    if (!text)
        return 1;
    if (ap_parse_strict_length(&check->length, text))
        return 1;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                  "apppool: %s: Content-Length of the response is not a number",
                  check->label);
    return 0;
}

int apppool_response_check_first(apppool_response_check_t *check,
                                 const request_rec *r)
{
    if (check->is_none)
        return 0;
    check->is_none = !is_final(check, r) ||
                     (check->protocol != APL_HTTP && !read_length(check, r));
    return !check->is_none;
}

/* Remove bytes that the client would take for the next response. */
static void cut(apppool_response_check_t *check, const request_rec *r,
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
    if (check->seen <= check->length)
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      "apppool: %s: the response is longer than its "
                      "Content-Length; the rest is dropped",
                      check->label);
}

void apppool_response_check_part(apppool_response_check_t *check,
                                 request_rec *r, apr_bucket_brigade *bb)
{
    apr_off_t n = 0;

    if (check->length < 0 || r->header_only ||
        AP_STATUS_IS_HEADER_ONLY(r->status))
        return;
    apr_brigade_length(bb, 1, &n);
    if (n > check->length - check->seen)
        cut(check, r, bb,
            check->seen < check->length ? check->length - check->seen : 0);
    check->seen += n;
    if (check->seen >= check->length || !has_end(bb))
        return;
    apr_bucket_delete(APR_BRIGADE_LAST(bb));
    apppool_proxy.ap_proxy_backend_broke(r, bb);
}

int apppool_response_check_overridden(const request_rec *r)
{
    return apr_table_get(r->notes, "proxy-error-override") != NULL;
}

int apppool_response_check_status(const apppool_response_check_t *check,
                                  const request_rec *r, int status, int begun)
{
    if (check->is_none)
        return HTTP_BAD_GATEWAY;
    if (check->protocol == APL_HTTP || apppool_response_check_overridden(r))
        return status;
    if (status == HTTP_INTERNAL_SERVER_ERROR ||
        (status == AP_FILTER_ERROR && !begun))
        return HTTP_BAD_GATEWAY;
    return status;
}
