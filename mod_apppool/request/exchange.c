/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/exchange.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/backend/kept.h"
#include "mod_apppool/backend/in_use.h"
#include "mod_apppool/backend/app_connection.h"
#include "mod_apppool/backend/outcome.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/request/client.h"
#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/request_head.h"
#include "mod_apppool/request/response_filter.h"
#include "shm/lock/alive.h"
#include "shm/slots/group.h"

#define BREAKS 4 /* connections of one process that may break unused */

/* Does the process keep connections? Over TCP it is not known whether the
 * process has read what was sent. So we could not know that a new connection
 * waits for the end of an idle one, or that a byte belongs to an earlier
 * request. */
static int keeps(const apppool_app_request_t *req)
{
    if (req->ref.wire.listen == APL_LISTEN_TCP)
        return 0;
    return req->ref.wire.protocol == APL_FCGI
               ? apppool_app_connection_may_keep(req->ref.id)
               : req->ref.wire.protocol == APL_HTTP;
}

/* May the connection be used again after this request? It may not if it has
 * carried a body: a server that has not read the body may take it for the next
 * request, and the next client would get the response to it. */
static int may_keep(const apppool_app_request_t *req)
{
    return keeps(req) && !apppool_request_body_is_there(req->body) &&
           !apr_table_get(req->r->headers_in, "Upgrade");
}

/* May the request be sent once more if the connection breaks? */
static int may_repeat(const apppool_app_request_t *req)
{
    int has_body = apppool_request_body_is_there(req->body);

    return !req->repeated && apppool_outcome_may_repeat(req->r, has_body);
}

static uint32_t concurrency_of(const apppool_app_request_t *req)
{
    return apl_concurrency(&req->app->pool.options, &req->ref.wire);
}

static apppool_endpoint_t endpoint_of(const apppool_app_request_t *req)
{
    apr_int64_t timeout = apppool_config_timeout(req->r);
    proxy_server_conf *conf = apppool_proxy_api_conf(req->r->server);
    apppool_endpoint_t endpoint = {
        .id = req->ref.id,
        .wire = req->ref.wire,
        .runtime = apppool_lifecycle_runtime(),
        .keep = req->ref.wire.protocol == APL_HTTP && may_keep(req) &&
                apppool_kept_is_allowed(req->ref.id, concurrency_of(req)),
        /* httpd negotiates some upgrades itself. An upgrade to h2c with an app
         * would bypass everything that is configured here. */
        .refuses_upgrade = apr_table_get(req->r->headers_in, "Upgrade") &&
                           !apppool_streaming_wants_upgrade(req->r),
        .may_share = may_keep(req),
        /* The app may close a kept connection at this moment. */
        .may_reuse = may_repeat(req),
        .has_body = apppool_request_body_is_there(req->body),
        .timeout = timeout != APPPOOL_UNSET ? timeout
                   : conf->timeout_set      ? conf->timeout
                                            : req->r->server->timeout,
    };

    return endpoint;
}

static apppool_first_byte_t first_byte_of(apppool_app_request_t *req)
{
    apppool_first_byte_t first_byte = {
        .pool = req->pool,
        .ref = &req->ref,
        .label = req->app->label,
        .client = &req->client,
        .timeout = req->timeout,
        .socket = req->socket,
        .needs_room = req->ref.wire.protocol == APL_HTTP &&
                      req->ref.wire.listen != APL_LISTEN_TCP &&
                      concurrency_of(req) != 1,
        .is_unlimited = concurrency_of(req) == 0,
    };

    return first_byte;
}

static int refused(apr_status_t rv)
{
    return APR_STATUS_IS_ECONNREFUSED(rv) || APR_STATUS_IS_ENOENT(rv) ||
           APR_STATUS_IS_ECONNRESET(rv);
}

/* The app ended in the middle of its response, so the response to the client
 * also ends. */
static int break_off(request_rec *r)
{
    apr_bucket_brigade *bb =
        apr_brigade_create(r->pool, r->connection->bucket_alloc);

    apppool_proxy.ap_proxy_backend_broke(r, bb);
    ap_pass_brigade(r->output_filters, bb);
    return DONE;
}

/* A process that is being killed still accepts connections for a moment. A
 * request that cannot be repeated must not be sent there. */
static int is_too_late(const apppool_app_request_t *req)
{
    return !may_repeat(req) && apl_alive_ending(req->ref.pid);
}

/* mod_proxy does not say when it closes the connection. */
static int run_proxied(apppool_app_request_t *req,
                       const apppool_first_byte_t *first)
{
    apppool_in_use_t use;
    int status;

    apppool_in_use_begin_proxied(&use, req->socket, req->r,
                                 apppool_streaming_wants_upgrade(req->r));
    status = apppool_client_proxy_run(req->connection, req->r, first, req->url);
    apppool_in_use_end(&use);
    return status;
}

/* Send the request, which is prepared, over the connection that is open.
 * @return what the handler is to return, if the app has responded */
static int run(apppool_app_request_t *req)
{
    apppool_first_byte_t first_byte = first_byte_of(req);
    int status;

    /* The app's server may not know Expect, and would then wait for the
     * body. */
    apppool_client_send_continue(req->r);
    apppool_request_body_rewind(req->body);
    if (req->connection)
        status = run_proxied(req, &first_byte);
    else
        status = req->http ? apppool_client_http_run(req->http, &first_byte)
                           : apppool_client_cgi_run(req->fcgi, &first_byte);
    apppool_app_request_restore(req);
    status = apppool_response_check_status(&req->check, req->r, status,
                                           req->started);
    if (status == AP_FILTER_ERROR && req->started)
        status = req->responded ? DONE : break_off(req->r);
    if (status == OK)
        apppool_response_filter_finish(req);
    return status;
}

/* For the log. */
static const char *label_of(const apppool_app_request_t *req)
{
    return apr_pstrcat(req->r->pool, req->app->label, "[",
                       apr_itoa(req->r->pool, req->ref.pid), "]", NULL);
}

static apppool_client_cgi_t *make_fcgi(apppool_app_request_t *req)
{
    apppool_client_cgi_t *fcgi = apppool_client_cgi_make(
        req->r, label_of(req),
        !apppool_request_body_is_there(req->body)   ? APPPOOL_FCGI_NO_BODY
        : apppool_request_body_is_stored(req->body) ? APPPOOL_FCGI_STORED
                                                    : APPPOOL_FCGI_STREAMED,
        apppool_protocol_is_bare(req->ref.wire.protocol) ? &req->packet : NULL);

    apppool_client_cgi_log_to(fcgi, req->pool, req->ref.id,
                              req->app->set->log != NULL);
    return fcgi;
}

int apppool_exchange_fixups(request_rec *r)
{
    const apppool_app_request_t *req =
        ap_get_module_config(r->request_config, &apppool_module);

    if (req && req->connection)
        apppool_client_proxy_header_is_made(req->connection);
    return DECLINED;
}

/* An app that speaks FastCGI may reset the connection after it has read the
 * request, for example to refuse it. So the request is repeated only if the
 * process was killed, or if the connection had carried another request. */
static int is_reset_by_app(const apppool_app_request_t *req,
                           const apppool_client_cgi_t *fcgi)
{
    return req->ref.wire.protocol == APL_FCGI &&
           !apppool_client_cgi_has_reused(fcgi) &&
           !apl_alive_ending(req->ref.pid);
}

/* As try_once(), over FastCGI, scgi or uwsgi. */
static apppool_outcome_t try_fcgi(apppool_app_request_t *req,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    apppool_client_cgi_t *fcgi = make_fcgi(req);
    apppool_outcome_t outcome;

    apppool_app_request_prepare(req);
    *rv = apppool_client_cgi_open(fcgi, endpoint, &req->shared, req->deadline);
    if (*rv != APR_SUCCESS || is_too_late(req)) {
        apppool_app_request_restore(req);
        apppool_client_cgi_close(fcgi);
        return APPPOOL_UNSENT;
    }
    req->fcgi = fcgi;
    req->socket = apppool_client_cgi_descriptor(fcgi);
    req->timeout = endpoint->timeout;
    *status = run(req);
    outcome = apppool_client_cgi_outcome(fcgi);
    req->closed = apppool_client_cgi_has_ended(fcgi);
    req->overloaded = apppool_client_cgi_is_overloaded(fcgi);
    req->fcgi = NULL;
    if (outcome == APPPOOL_BROKEN && is_reset_by_app(req, fcgi))
        outcome = APPPOOL_HEARD;
    apppool_client_cgi_close(fcgi);
    return *status == HTTP_BAD_GATEWAY ? outcome : APPPOOL_HEARD;
}

/* As try_once(), over HTTP without mod_proxy. */
static apppool_outcome_t try_http(apppool_app_request_t *req,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    apppool_client_http_t *http =
        apppool_client_http_make(req->r, label_of(req), &req->http_request);
    apppool_outcome_t outcome;

    *rv = apppool_client_http_open(http, endpoint, &req->shared, req->deadline);
    if (*rv != APR_SUCCESS || is_too_late(req)) {
        apppool_client_http_close(http);
        return APPPOOL_UNSENT;
    }
    req->http = http;
    req->socket = apppool_client_http_descriptor(http);
    req->timeout = endpoint->timeout;
    apppool_app_request_prepare(req);
    *status = run(req);
    outcome = apppool_client_http_outcome(http);
    req->closed = apppool_client_http_has_ended(http);
    req->http = NULL;
    apppool_client_http_close(http);
    return *status == HTTP_BAD_GATEWAY ? outcome : APPPOOL_HEARD;
}

/* As try_once(), by mod_proxy. */
static apppool_outcome_t try_proxy(apppool_app_request_t *req,
                                   const apppool_endpoint_t *endpoint,
                                   int *status, apr_status_t *rv)
{
    apppool_client_proxy_t *c = apppool_client_proxy_take(req->r->server);
    apppool_outcome_t outcome;

    if (!c) {
        *status = HTTP_INTERNAL_SERVER_ERROR;
        return APPPOOL_HEARD;
    }
    *rv = apppool_client_proxy_open(c, req->r, endpoint, req->deadline);
    if (*rv != APR_SUCCESS || is_too_late(req)) {
        apppool_client_proxy_give(c, req->r->server);
        return APPPOOL_UNSENT;
    }
    req->connection = c;
    req->socket = apppool_client_proxy_descriptor(c);
    req->timeout = endpoint->timeout;
    apppool_app_request_prepare(req);
    *status = run(req);
    outcome = apppool_proxy_filter_outcome(apppool_client_proxy_filter(c));
    req->closed =
        apppool_proxy_filter_has_ended(apppool_client_proxy_filter(c));
    req->connection = NULL; /* another request may have it at once */
    apppool_client_proxy_give(c, req->r->server);
    return *status == HTTP_BAD_GATEWAY || *status == HTTP_SERVICE_UNAVAILABLE
               ? outcome
               : APPPOOL_HEARD;
}

/* Try one connection.
 * @param rv APR_SUCCESS, or why there is no connection
 * @return APPPOOL_HEARD: *status is the result. Otherwise the request may be
 *         sent to this process again, or to another one */
static apppool_outcome_t try_once(apppool_app_request_t *req,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    uint32_t protocol = endpoint->wire.protocol;
    apppool_outcome_t outcome;

    if (!apppool_protocol_is_bare(protocol))
        apppool_parked_begin(&req->shared, req->pool, &req->ref,
                             endpoint->may_share, endpoint->may_reuse);
    if (protocol != APL_HTTP)
        outcome = try_fcgi(req, endpoint, status, rv);
    else
        outcome = apppool_request_head_needs_proxy(req)
                      ? try_proxy(req, endpoint, status, rv)
                      : try_http(req, endpoint, status, rv);
    /* The request may be the cause of the break. */
    if (req->started || (outcome == APPPOOL_BROKEN && req->repeated++))
        outcome = APPPOOL_HEARD;
    return outcome;
}

/* Has this child been stopped before the request had its response? Then no
 * other process is tried. The app may still work on it. */
static int is_stopped(const apppool_app_request_t *req,
                      apppool_outcome_t outcome, int status)
{
    return req->pool->stopping && !req->started &&
           !apppool_response_check_overridden(req->r) &&
           (outcome != APPPOOL_HEARD || ap_is_HTTP_ERROR(status));
}

int apppool_exchange(apppool_app_request_t *req, int *status)
{
    apppool_endpoint_t endpoint = endpoint_of(req);
    apr_status_t rv = APR_SUCCESS;
    apppool_outcome_t outcome;
    int i, done;

    for (i = 0; i < BREAKS; i++) {
        req->unanswered = 1;
        outcome = try_once(req, &endpoint, status, &rv);
        done = outcome == APPPOOL_HEARD;
        if (is_stopped(req, outcome, *status)) {
            req->silent = outcome != APPPOOL_UNSENT && !req->closed;
            apppool_error_response_forget(req->r);
            *status = apppool_error_response_pool(req->r, req->app, &req->ref,
                                                  APL_ESTOPPING);
            return 1;
        }
        if (outcome != APPPOOL_UNSENT && !req->started &&
            apppool_app_request_is_killed(req)) {
            *status =
                apppool_error_response_killed(req->r, req->app, &req->ref);
            return 1;
        }
        if (apppool_response_check_overridden(req->r))
            req->unanswered = 0;
        else if (done && !req->started) {
            *status = req->overloaded
                          ? apppool_error_response_overloaded(req->r, req->app,
                                                              &req->ref)
                          : apppool_error_response_app(req->r, req->app,
                                                       &req->ref, *status);
            req->silent = *status == HTTP_GATEWAY_TIME_OUT;
        }
        if (done)
            return 1;
        apppool_error_response_forget(req->r);
        if (rv != APR_SUCCESS && refused(rv)) {
            *status = OK;
            apppool_app_request_detach_refusing(req);
            return 0;
        }
        if (rv != APR_SUCCESS) {
            *status =
                apppool_error_response_connect(req->r, req->app, &req->ref, rv);
            return 1;
        }
        if (apppool_app_request_detach_if_ending(req)) {
            *status = OK;
            return 0;
        }
        endpoint.may_reuse = 0; /* others may be closed, too */
        apr_sleep(1000 << i);   /* the process lives, but ends connections */
    }
    *status = apppool_error_response_app(req->r, req->app, &req->ref, *status);
    return 1;
}
