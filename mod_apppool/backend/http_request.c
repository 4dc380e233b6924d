/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/backend/http_request.h"

#include <apr_strings.h>
#include <apr_uri.h>
#include <http_core.h>
#include <http_log.h>

#include "mod_apppool/backend/proxy_api.h"

APLOG_USE_MODULE(apppool);

/* A later mod_proxy may have more fields than its header of today says. */
#define SPARE 256 /* bytes */

/* mod_proxy asks it for settings, and all are off. It is never connected. */
static proxy_worker *worker;

void apppool_http_request_init(apr_pool_t *p)
{
    worker = NULL;
    apppool_proxy.ap_proxy_define_worker(p, &worker, NULL, NULL,
                                         "http://localhost", 0);
}

char *apppool_http_request_port(request_rec *r)
{
    apr_port_t port = ap_get_server_port(r);

    return ap_is_default_port(port, r) ? apr_pstrdup(r->pool, "")
                                       : apr_psprintf(r->pool, ":%d", port);
}

int apppool_http_request_make(apppool_http_request_t *request, request_rec *r,
                              const char *url, apr_off_t body)
{
    proxy_server_conf *conf = apppool_proxy_api_conf(r->server);
    proxy_conn_rec *conn = apr_pcalloc(r->pool, sizeof *conn + SPARE);
    apr_bucket_brigade *bb =
        apr_brigade_create(r->pool, r->connection->bucket_alloc);
    int status, expects = r->expecting_100 != 0;
    char *length, *coding;
    const char *path;
    apr_uri_t uri;

    if (!worker || apr_uri_parse(r->pool, url, &uri) != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "apppool: mod_proxy cannot make a request for %s", url);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    path = ap_strchr_c(url + strlen("http://"), '/');
    conn->worker = worker;
    /* The module itself has an answer for Expect. */
    r->expecting_100 = 0;
    status = apppool_proxy.ap_proxy_create_hdrbrgd(
        r->pool, bb, r, conn, worker, conf, &uri,
        apr_pstrdup(r->pool, path ? path : "/"), apppool_http_request_port(r),
        &length, &coding);
    r->expecting_100 = expects != 0;
    if (status != OK)
        return status;
    request->is_chunked = body < 0;
    if (body < 0)
        apr_brigade_puts(bb, NULL, NULL, "Transfer-Encoding: chunked\r\n");
    /* Some servers refuse a POST without a length, also of a body of no
     * bytes. */
    else if (body > 0 || (!r->main && (length || coding)))
        apr_brigade_printf(bb, NULL, NULL,
                           "Content-Length: %" APR_OFF_T_FMT "\r\n", body);
    if (request->upgrade)
        apr_brigade_printf(bb, NULL, NULL, "Upgrade: %s\r\n", request->upgrade);
    if (apr_brigade_pflatten(bb, &request->bytes, &request->size, r->pool) !=
        APR_SUCCESS)
        return HTTP_INTERNAL_SERVER_ERROR;
    apr_brigade_cleanup(bb);
    request->closes = conn->close != 0;
    return OK;
}
