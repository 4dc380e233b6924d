/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/exchange.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/backend/connection_idle.h"
#include "mod_apppool/backend/connection_use.h"
#include "mod_apppool/backend/direct_connection.h"
#include "mod_apppool/backend/outcome.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/request/client.h"
#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/packet.h"
#include "mod_apppool/request/response_filter.h"
#include "shm/lock/alive.h"
#include "shm/slots/group.h"

#define BREAKS 4 /* connections of one process that may break unused */

/* Does the process keep connections? Over TCP it is not known whether the
 * process has read what was sent. So we could not know that a new connection
 * waits for the end of an idle one, or that a byte belongs to an earlier
 * request. */
static int keeps(const apppool_session_t *s)
{
    if (s->ref.wire.listen == APL_LISTEN_TCP)
        return 0;
    return s->ref.wire.protocol == APL_FCGI
               ? apppool_direct_connection_is_kept(s->ref.id)
               : s->ref.wire.protocol == APL_HTTP;
}

/* May the connection be used again after this request? It may not if it has
 * carried a body: a server that has not read the body may take it for the next
 * request, and the next client would get the response to it. */
static int may_keep(const apppool_session_t *s)
{
    return keeps(s) && !apppool_request_body_is_there(s->body) &&
           !apr_table_get(s->r->headers_in, "Upgrade");
}

/* May the request be sent once more if the connection breaks? */
static int may_repeat(const apppool_session_t *s)
{
    int has_body = apppool_request_body_is_there(s->body);

    return !s->repeated && apppool_outcome_may_repeat(s->r, has_body);
}

static uint32_t concurrency_of(const apppool_session_t *s)
{
    return apl_concurrency(&s->app->pool.options, &s->ref.wire);
}

static apppool_endpoint_t endpoint_of(const apppool_session_t *s)
{
    apr_int64_t timeout = apppool_config_timeout(s->r);
    proxy_server_conf *conf = apppool_proxy_api_conf(s->r->server);
    apppool_endpoint_t endpoint = {
        .id = s->ref.id,
        .wire = s->ref.wire,
        .runtime = apppool_lifecycle_runtime(),
        .keep = s->ref.wire.protocol == APL_HTTP && may_keep(s) &&
                apppool_connection_idle_are_kept(s->ref.id, concurrency_of(s)),
        /* httpd negotiates some upgrades itself. An upgrade to h2c with an app
         * would bypass everything that is configured here. */
        .refuses_upgrade = apr_table_get(s->r->headers_in, "Upgrade") &&
                           !apppool_streaming_wants_upgrade(s->r),
        .may_share = may_keep(s),
        /* The app may close a kept connection at this moment. */
        .may_reuse = may_repeat(s),
        .has_body = apppool_request_body_is_there(s->body),
        .timeout = timeout != APPPOOL_UNSET ? timeout
                   : conf->timeout_set      ? conf->timeout
                                            : s->r->server->timeout,
    };

    return endpoint;
}

static apppool_first_byte_t first_byte_of(apppool_session_t *s)
{
    apppool_first_byte_t first_byte = {
        .pool = s->pool,
        .ref = &s->ref,
        .label = s->app->label,
        .client = &s->client,
        .timeout = s->timeout,
        .socket = s->socket,
        .needs_room = s->ref.wire.protocol == APL_HTTP &&
                      s->ref.wire.listen != APL_LISTEN_TCP &&
                      concurrency_of(s) != 1,
        .is_unlimited = concurrency_of(s) == 0,
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
static int is_too_late(const apppool_session_t *s)
{
    return !may_repeat(s) && apl_alive_ending(s->ref.pid);
}

/* mod_proxy does not say when it closes the connection. */
static int run_proxied(apppool_session_t *s, const apppool_first_byte_t *first)
{
    apppool_connection_use_t use;
    int status;

    apppool_connection_use_begin_proxied(&use, s->socket, s->r,
                                         apppool_streaming_wants_upgrade(s->r));
    status = apppool_connection_run(s->connection, s->r, first, s->url);
    apppool_connection_use_end(&use);
    return status;
}

/* Send the request, which is prepared, over the connection that is open.
 * @return what the handler is to return, if the app has responded */
static int run(apppool_session_t *s)
{
    apppool_first_byte_t first_byte = first_byte_of(s);
    int status;

    /* The app's server may not know Expect, and would then wait for the
     * body. */
    apppool_client_send_continue(s->r);
    apppool_request_body_rewind(s->body);
    if (s->connection)
        status = run_proxied(s, &first_byte);
    else
        status = s->http ? apppool_http_run(s->http, &first_byte)
                         : apppool_fcgi_run(s->fcgi, &first_byte);
    apppool_session_restore(s);
    status = apppool_response_check_status(&s->check, s->r, status, s->started);
    if (status == AP_FILTER_ERROR && s->started)
        status = s->responded ? DONE : break_off(s->r);
    if (status == OK)
        apppool_response_filter_finish(s);
    return status;
}

/* For the log. */
static const char *label_of(const apppool_session_t *s)
{
    return apr_pstrcat(s->r->pool, s->app->label, "[",
                       apr_itoa(s->r->pool, s->ref.pid), "]", NULL);
}

static apppool_fcgi_t *make_fcgi(apppool_session_t *s)
{
    apppool_fcgi_t *fcgi = apppool_fcgi_make(
        s->r, label_of(s),
        !apppool_request_body_is_there(s->body)   ? APPPOOL_FCGI_NO_BODY
        : apppool_request_body_is_stored(s->body) ? APPPOOL_FCGI_STORED
                                                  : APPPOOL_FCGI_STREAMED,
        apppool_protocol_is_bare(s->ref.wire.protocol) ? &s->packet : NULL);

    apppool_fcgi_log_to(fcgi, s->pool, s->ref.id, s->app->set->log != NULL);
    return fcgi;
}

int apppool_exchange_fixups(request_rec *r)
{
    const apppool_session_t *s =
        ap_get_module_config(r->request_config, &apppool_module);

    if (s && s->connection)
        apppool_connection_header_is_made(s->connection);
    return DECLINED;
}

/* An app that speaks FastCGI may reset the connection after it has read the
 * request, for example to refuse it. So the request is repeated only if the
 * process was killed, or if the connection had carried another request. */
static int is_reset_by_app(const apppool_session_t *s,
                           const apppool_fcgi_t *fcgi)
{
    return s->ref.wire.protocol == APL_FCGI && !apppool_fcgi_has_reused(fcgi) &&
           !apl_alive_ending(s->ref.pid);
}

/* As try_once(), over FastCGI, scgi or uwsgi. */
static apppool_outcome_t try_fcgi(apppool_session_t *s,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    apppool_fcgi_t *fcgi = make_fcgi(s);
    apppool_outcome_t outcome;

    apppool_session_prepare(s);
    *rv = apppool_fcgi_open(fcgi, endpoint, &s->shared, s->deadline);
    if (*rv != APR_SUCCESS || is_too_late(s)) {
        apppool_session_restore(s);
        apppool_fcgi_close(fcgi);
        return APPPOOL_UNSENT;
    }
    s->fcgi = fcgi;
    s->socket = apppool_fcgi_descriptor(fcgi);
    s->timeout = endpoint->timeout;
    *status = run(s);
    outcome = apppool_fcgi_outcome(fcgi);
    s->closed = apppool_fcgi_has_ended(fcgi);
    s->overloaded = apppool_fcgi_is_overloaded(fcgi);
    s->fcgi = NULL;
    if (outcome == APPPOOL_BROKEN && is_reset_by_app(s, fcgi))
        outcome = APPPOOL_HEARD;
    apppool_fcgi_close(fcgi);
    return *status == HTTP_BAD_GATEWAY ? outcome : APPPOOL_HEARD;
}

/* As try_once(), over HTTP without mod_proxy. */
static apppool_outcome_t try_http(apppool_session_t *s,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    apppool_http_t *http =
        apppool_http_make(s->r, label_of(s), &s->http_request);
    apppool_outcome_t outcome;

    *rv = apppool_http_open(http, endpoint, &s->shared, s->deadline);
    if (*rv != APR_SUCCESS || is_too_late(s)) {
        apppool_http_close(http);
        return APPPOOL_UNSENT;
    }
    s->http = http;
    s->socket = apppool_http_descriptor(http);
    s->timeout = endpoint->timeout;
    apppool_session_prepare(s);
    *status = run(s);
    outcome = apppool_http_outcome(http);
    s->closed = apppool_http_has_ended(http);
    s->http = NULL;
    apppool_http_close(http);
    return *status == HTTP_BAD_GATEWAY ? outcome : APPPOOL_HEARD;
}

/* As try_once(), by mod_proxy. */
static apppool_outcome_t try_proxy(apppool_session_t *s,
                                   const apppool_endpoint_t *endpoint,
                                   int *status, apr_status_t *rv)
{
    apppool_connection_t *c = apppool_connection_take(s->r->server);
    apppool_outcome_t outcome;

    if (!c) {
        *status = HTTP_INTERNAL_SERVER_ERROR;
        return APPPOOL_HEARD;
    }
    *rv = apppool_connection_open(c, s->r, endpoint, s->deadline);
    if (*rv != APR_SUCCESS || is_too_late(s)) {
        apppool_connection_give(c, s->r->server);
        return APPPOOL_UNSENT;
    }
    s->connection = c;
    s->socket = apppool_connection_descriptor(c);
    s->timeout = endpoint->timeout;
    apppool_session_prepare(s);
    *status = run(s);
    outcome = apppool_connection_filter_outcome(apppool_connection_filter(c));
    s->closed =
        apppool_connection_filter_has_ended(apppool_connection_filter(c));
    s->connection = NULL; /* another request may have it at once */
    apppool_connection_give(c, s->r->server);
    return *status == HTTP_BAD_GATEWAY || *status == HTTP_SERVICE_UNAVAILABLE
               ? outcome
               : APPPOOL_HEARD;
}

/* Try one connection.
 * @param rv APR_SUCCESS, or why there is no connection
 * @return APPPOOL_HEARD: *status is the result. Otherwise the request may be
 *         sent to this process again, or to another one */
static apppool_outcome_t try_once(apppool_session_t *s,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    uint32_t protocol = endpoint->wire.protocol;
    apppool_outcome_t outcome;

    if (!apppool_protocol_is_bare(protocol))
        apppool_shared_connection_begin(&s->shared, s->pool, &s->ref,
                                        endpoint->may_share,
                                        endpoint->may_reuse);
    if (protocol != APL_HTTP)
        outcome = try_fcgi(s, endpoint, status, rv);
    else
        outcome = apppool_packet_needs_proxy(s)
                      ? try_proxy(s, endpoint, status, rv)
                      : try_http(s, endpoint, status, rv);
    /* The request may be the cause of the break. */
    if (s->started || (outcome == APPPOOL_BROKEN && s->repeated++))
        outcome = APPPOOL_HEARD;
    return outcome;
}

/* Has this child been stopped before the request had its response? Then no
 * other process is tried. The app may still work on it. */
static int is_stopped(const apppool_session_t *s, apppool_outcome_t outcome,
                      int status)
{
    return s->pool->stopping && !s->started &&
           !apppool_response_check_overridden(s->r) &&
           (outcome != APPPOOL_HEARD || ap_is_HTTP_ERROR(status));
}

int apppool_exchange(apppool_session_t *s, int *status)
{
    apppool_endpoint_t endpoint = endpoint_of(s);
    apr_status_t rv = APR_SUCCESS;
    apppool_outcome_t outcome;
    int i, done;

    for (i = 0; i < BREAKS; i++) {
        s->unanswered = 1;
        outcome = try_once(s, &endpoint, status, &rv);
        done = outcome == APPPOOL_HEARD;
        if (is_stopped(s, outcome, *status)) {
            s->silent = outcome != APPPOOL_UNSENT && !s->closed;
            apppool_error_response_forget(s->r);
            *status = apppool_error_response_pool(s->r, s->app, &s->ref,
                                                  APL_ESTOPPING);
            return 1;
        }
        if (outcome != APPPOOL_UNSENT && !s->started &&
            apppool_session_is_killed(s)) {
            *status = apppool_error_response_killed(s->r, s->app, &s->ref);
            return 1;
        }
        if (apppool_response_check_overridden(s->r))
            s->unanswered = 0;
        else if (done && !s->started) {
            *status =
                s->overloaded
                    ? apppool_error_response_overloaded(s->r, s->app, &s->ref)
                    : apppool_error_response_app(s->r, s->app, &s->ref,
                                                 *status);
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
            *status = apppool_error_response_connect(s->r, s->app, &s->ref, rv);
            return 1;
        }
        if (apppool_session_detach_if_ending(s)) {
            *status = OK;
            return 0;
        }
        endpoint.may_reuse = 0; /* others may be closed, too */
        apr_sleep(1000 << i);   /* the process lives, but ends connections */
    }
    *status = apppool_error_response_app(s->r, s->app, &s->ref, *status);
    return 1;
}
