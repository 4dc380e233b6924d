/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/handler.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/request/error_response.h"
#include "mod_apppool/backend/first_byte.h"
#include "mod_apppool/body/request_body.h"
#include "mod_apppool/backend/connection.h"
#include "mod_apppool/request/client.h"
#include "mod_apppool/request/forwarded.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/request/response_filter.h"
#include "mod_apppool/body/sendfile.h"
#include "mod_apppool/request/trace_headers.h"
#include "mod_apppool/request/session.h"
#include "mod_apppool/request/routing.h"
#include "shm/lock/alive.h"
#include "shm/slots/group.h"

APLOG_USE_MODULE(apppool);

#define ATTEMPTS 10 /* processes that may refuse */
#define RESETS   4  /* connections that one process may reset */

static apppool_endpoint_t endpoint_of(const apppool_session_t *s)
{
    apr_int64_t timeout = apppool_config_timeout(s->r);
    proxy_server_conf *conf = apppool_proxy_api_conf(s->r->server);
    apppool_endpoint_t endpoint = {
        .id = s->hold.id,
        .wire = s->hold.wire,
        /* A kept one is in the way of other requests to a serial process. */
        .keep = s->hold.wire.protocol == APL_HTTP &&
                apl_concurrency(&s->app->pool.options, &s->hold.wire) != 1,
        .timeout = timeout != APPPOOL_UNSET ? timeout
                   : conf->timeout_set      ? conf->timeout
                                            : s->r->server->timeout,
    };

    return endpoint;
}

static int refused(apr_status_t rv)
{
    return APR_STATUS_IS_ECONNREFUSED(rv) || APR_STATUS_IS_ENOENT(rv) ||
           APR_STATUS_IS_ECONNRESET(rv);
}

/* The app broke off in the midst of its answer: so must we. */
static int break_off(request_rec *r)
{
    apr_bucket_brigade *bb =
        apr_brigade_create(r->pool, r->connection->bucket_alloc);

    apppool_proxy.ap_proxy_backend_broke(r, bb);
    ap_pass_brigade(r->output_filters, bb);
    return DONE;
}

/* Would we hear that nobody has read the request? mod_proxy's fcgi and scgi do
 * not tell. So the process had better live: a connection to one that is being
 * killed can be made for a moment yet. */
static int tells_if_unread(const apppool_endpoint_t *endpoint)
{
    return endpoint->wire.protocol != APL_FCGI &&
           endpoint->wire.protocol != APL_SCGI;
}

/* Over one connection. @return 1: *status is the answer; 0: *rv says why the
 * process should be asked again, or another one */
static int try_once(apppool_session_t *s, const apppool_endpoint_t *endpoint,
                    const char *url, int *status, apr_status_t *rv)
{
    apppool_connection_t *c =
        apppool_connection_take(s->r->server, endpoint->id);
    apppool_outcome_t outcome;

    if (!c) {
        *status = HTTP_INTERNAL_SERVER_ERROR;
        return 1;
    }
    *rv = apppool_connection_open(c, s->r, endpoint, s->deadline);
    if (*rv != APR_SUCCESS) {
        apppool_connection_give(c);
        return 0;
    }
    if (!tells_if_unread(endpoint) && apl_alive_ending(s->hold.pid)) {
        apppool_connection_give(c);
        return 0;
    }
    s->connection = c;
    s->socket = apppool_connection_descriptor(c);
    s->timeout = endpoint->timeout;
    apppool_first_byte_limit(s);
    /* The app's server may not know it, and would wait for the body. */
    apppool_client_send_continue(s->r);
    apppool_request_body_rewind(s->body);
    apppool_session_prepare(s);
    *status = apppool_connection_run(c, s->r, url);
    apppool_session_restore(s);
    *status =
        apppool_response_check_status(&s->check, s->r, *status, s->started);
    if (*status == AP_FILTER_ERROR && s->started)
        *status = s->answered ? DONE : break_off(s->r);
    if (*status == OK)
        apppool_response_filter_finish(s);
    outcome = apppool_connection_filter_outcome(apppool_connection_filter(c));
    s->closed =
        apppool_connection_filter_has_ended(apppool_connection_filter(c));
    apppool_connection_give(c);
    return s->started || outcome == APPPOOL_HEARD ||
           (*status != HTTP_BAD_GATEWAY && *status != HTTP_SERVICE_UNAVAILABLE);
}

/* By one process. @return 0: it refused the connection, or is ending */
static int ask_process(apppool_session_t *s, const char *url, int *status)
{
    apppool_endpoint_t endpoint = endpoint_of(s);
    apr_status_t rv = APR_SUCCESS;
    int i, done;

    for (i = 0; i < RESETS; i++) {
        done = try_once(s, &endpoint, url, status, &rv);
        if (rv == APR_SUCCESS && !s->started && apppool_session_is_killed(s)) {
            *status = apppool_error_response_killed(s->r, s->app, &s->hold);
            return 1;
        }
        if (done && !s->started &&
            !apppool_response_check_overridden(&s->check, s->r, *status)) {
            *status =
                apppool_error_response_app(s->r, s->app, &s->hold, *status);
            s->silent = *status == HTTP_GATEWAY_TIME_OUT;
        }
        if (done)
            return 1;
        apppool_error_response_forget(s->r);
        if (rv != APR_SUCCESS && refused(rv)) {
            *status = OK;
            apppool_session_detach_refusing(s);
            return 0;
        }
        if (rv != APR_SUCCESS) {
            *status =
                apppool_error_response_connect(s->r, s->app, &s->hold, rv);
            return 1;
        }
        if (apppool_session_detach_if_ending(s)) {
            *status = OK;
            return 0;
        }
        apr_sleep(1000 << i); /* it does not want us */
    }
    *status = apppool_error_response_app(s->r, s->app, &s->hold, *status);
    return 1;
}

/* mod_proxy's scgi and uwsgi take no body whose length is not known. */
static int takes_body(apppool_session_t *s, uint32_t protocol)
{
    return (protocol != APL_SCGI && protocol != APL_UWSGI) ||
           !apr_table_get(s->r->headers_in, "Transfer-Encoding");
}

/* Make it a request of this protocol. @return OK, or HTTP_* */
static int fit_request(apppool_session_t *s, uint32_t protocol,
                       const char **url)
{
    request_rec *r = s->r;
    int status;

    if (!takes_body(s, protocol))
        return HTTP_LENGTH_REQUIRED;
    apppool_forwarded_headers(r, s->mount->base_uri, protocol);
    r->proxyreq = PROXYREQ_REVERSE;
    status = apppool_proxy.proxy_run_canon_handler(
        r, apppool_forwarded_url(r, apppool_proxy_scheme(protocol),
                                 s->mount->base_uri));
    if (status == OK)
        *url = r->filename + strlen("proxy:");
    if (status != DECLINED)
        return status;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s", s->app->label,
                  apppool_proxy_speaks(r->pool, protocol));
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int serve(apppool_session_t *s)
{
    uint32_t protocol = (uint32_t)s->app->protocol;
    const char *url = NULL;
    apr_status_t rv;
    int i, status;

    apppool_sendfile_offer(s->r);
    apppool_trace_headers_start(s->r);
    status = protocol == APL_AUTO ? OK : fit_request(s, protocol, &url);
    for (i = 0; status == OK && i < ATTEMPTS; i++) {
        rv = apppool_session_checkout(s);
        if (rv != APR_SUCCESS)
            return apppool_error_response_pool(s->r, s->app, &s->hold, rv);
        /* What was found in AppRoot, or of an earlier configuration. */
        if (s->hold.wire.protocol != protocol) {
            protocol = s->hold.wire.protocol;
            status = fit_request(s, protocol, &url);
            if (status != OK)
                break;
        }
        if (ask_process(s, url, &status))
            return status;
    }
    return status == OK ? apppool_error_response_refused(s->r, s->app) : status;
}

int apppool_handler(request_rec *r)
{
    const apppool_mount_t *mount;
    apppool_request_body_t *body;
    apppool_session_t *s;
    char *filename = r->filename;
    int status;

    if (!r->handler || strcmp(r->handler, APPPOOL_HANDLER))
        return DECLINED;
    mount = apppool_config_mount(r);
    if (!mount)
        return HTTP_NOT_FOUND;
    if (!apppool_lifecycle_pool()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "apppool: %s: there is no pool; httpd said why when it "
                      "started",
                      mount->app->label);
        return HTTP_SERVICE_UNAVAILABLE;
    }
    apppool_trace_headers_parent(r);
    status = apppool_request_body_begin(&body, r, mount->app->label);
    if (status != OK)
        return status;
    s = apppool_session_begin(r, mount, body);
    status = serve(s);
    apppool_session_end(s);
    apppool_request_body_end(body);
    /* Redirects of scgi apps within httpd; the process is free again. */
    if (status == OK)
        apppool_proxy.proxy_run_request_status(&status, r);
    r->filename = filename;
    if (ap_is_HTTP_ERROR(status)) {
        r->proxyreq = PROXYREQ_NONE;
        /* Else the ErrorDocument of this one would be asked for. */
        if (s->error)
            r->status = s->error;
        /* An ErrorDocument shares our pool, but has no body. */
        apr_pool_userdata_setn(NULL, "proxy-req-input", NULL, r->pool);
    }
    return status;
}
