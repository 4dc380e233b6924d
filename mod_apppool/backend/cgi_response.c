/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/cgi_response.h"

#include <http_config.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <util_script.h>

#include "mod_apppool/backend/header_size.h"
#include "mod_apppool/backend/uwsgi_head.h"

APLOG_USE_MODULE(apppool);

#define SAY(r, ...)                                                            \
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: " __VA_ARGS__)

#define EMPTY_LINE 2 /* bytes, at most */

/* ---- the header ---- */

/* The header ends with an empty line. @return how many of these bytes belong to
 * it; 0: all of them, and more will come */
static apr_size_t find_end(apppool_cgi_response_t *response, const char *bytes,
                           apr_size_t n)
{
    apr_size_t i;

    for (i = 0; i < n; i++) {
        if (bytes[i] == '\n' && !response->is_in_line)
            return i + 1;
        if (bytes[i] != '\r')
            response->is_in_line = bytes[i] != '\n';
    }
    return 0;
}

/* What httpd reads of a header. */
typedef struct {
    const char *at, *end;
} text_t;

/* httpd wants the next line, without its end. It would take 8 KB of it, but the
 * buffer has room for the whole header. @return 0: there is none */
static int get_line(char *line, int most, void *data)
{
    text_t *text = data;

    (void)most;
    for (; text->at < text->end && *text->at != '\n'; text->at++)
        if (*text->at != '\r')
            *line++ = *text->at;
    *line = 0;
    return text->at++ < text->end;
}

static int scan(apppool_cgi_response_t *response, request_rec *r)
{
    apr_size_t n = 0;
    char *bytes = NULL;
    text_t text;

    if (apr_brigade_pflatten(response->head, &bytes, &n, r->pool) !=
        APR_SUCCESS)
        return HTTP_BAD_GATEWAY;
    text = (text_t){bytes, bytes + n};
    return ap_scan_script_header_err_core_ex(
        r, apr_palloc(r->pool, n + 1), get_line, &text, APLOG_MODULE_INDEX);
}

/* httpd has found that the client already has this response, or does not want
 * it (If-Match). */
static int is_condition(int status)
{
    return status == HTTP_NOT_MODIFIED || status == HTTP_PRECONDITION_FAILED;
}

static int is_elsewhere(const apppool_cgi_response_t *response,
                        const request_rec *r)
{
    const char *path = apr_table_get(r->headers_out, "Location");

    return response->is_bare && !response->is_uwsgi && r->status == HTTP_OK &&
           path && *path == '/';
}

/* A redirect of CGI has no status (RFC 3875, 6.2.3). If the app sends a status,
 * as it always does over uwsgi, there is a line of it. */
static int is_redirect(const request_rec *r)
{
    return !r->status_line && r->status == HTTP_OK &&
           apr_table_get(r->headers_out, "Location");
}

/* @return OK, or HTTP_BAD_GATEWAY */
static int read_header(apppool_cgi_response_t *response, request_rec *r)
{
    const char *wrong = NULL;
    int status;

    if (response->head_size <= EMPTY_LINE)
        wrong = "the response has no header";
    else if (response->is_uwsgi)
        wrong = apppool_uwsgi_head_convert(response->head, r->pool);
    if (wrong) {
        SAY(r, "%s: %s", response->label, wrong);
        return HTTP_BAD_GATEWAY;
    }
    status = scan(response, r);
    apr_brigade_cleanup(response->head);
    response->has_header = 1;
    if (!response->is_bare &&
        !apr_table_get(r->subprocess_env, AP_TRUST_CGILIKE_CL_ENVVAR))
        apr_table_unset(r->headers_out, "Content-Length");
    apr_table_unset(r->headers_out, "Transfer-Encoding");
    if (is_condition(status)) {
        /* The length of a body that is not sent. With 304 it may stay. */
        if (status == HTTP_PRECONDITION_FAILED)
            apr_table_unset(r->headers_out, "Content-Length");
        r->status = status;
        response->parts.drops = 1;
        return OK;
    }
    if (status != OK)
        return HTTP_BAD_GATEWAY;
    response->is_elsewhere = response->parts.drops = is_elsewhere(response, r);
    if (!response->is_elsewhere && is_redirect(r))
        r->status = HTTP_MOVED_TEMPORARILY;
    /* The page for an error may have the status of an error. */
    if (ap_is_initial_req(r))
        apppool_response_parts_override(&response->parts, r);
    return OK;
}

static int end_too_long(apppool_cgi_response_t *response, request_rec *r)
{
    apppool_header_size_t size = {0};
    apr_size_t n = 0;
    char *text = NULL;

    if (apr_brigade_pflatten(response->head, &text, &n, r->pool) == APR_SUCCESS)
        apppool_header_size_add(&size, text, n);
    SAY(r, "%s: %s", response->label,
        apppool_header_size_wrong(&size, r->pool));
    return HTTP_BAD_GATEWAY;
}

/* @param used bytes that belong to it @return OK, or HTTP_BAD_GATEWAY */
static int add_header(apppool_cgi_response_t *response, request_rec *r,
                      const char *bytes, apr_size_t n, apr_size_t *used)
{
    apr_bucket_alloc_t *list = r->connection->bucket_alloc;
    apr_size_t end = find_end(response, bytes, n);

    *used = end ? end : n;
    response->head_size += *used;
    if (!response->head)
        response->head = apr_brigade_create(r->pool, list);
    apr_brigade_write(response->head, NULL, NULL, bytes, *used);
    if (response->head_size > APPPOOL_HEADER_MOST)
        return end_too_long(response, r);
    return end ? read_header(response, r) : OK;
}

/* ---- the body ---- */

int apppool_cgi_response_add(apppool_cgi_response_t *response, request_rec *r,
                             const char *bytes, apr_size_t n)
{
    apr_size_t used = 0;
    int status = OK;

    if (!response->has_header)
        status = add_header(response, r, bytes, n, &used);
    if (status == OK)
        apppool_response_parts_add(&response->parts, r, bytes + used, n - used);
    return status;
}

int apppool_cgi_response_flush(apppool_cgi_response_t *response, request_rec *r)
{
    return response->has_header
               ? apppool_response_parts_flush(&response->parts, r)
               : OK;
}

int apppool_cgi_response_end(apppool_cgi_response_t *response, request_rec *r)
{
    if (response->is_elsewhere)
        return OK;
    if (response->has_header)
        return apppool_response_parts_end(&response->parts, r);
    SAY(r, "%s has ended the request without a header of a response",
        response->label);
    return HTTP_BAD_GATEWAY;
}
