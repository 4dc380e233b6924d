/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/exchange.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/backend/connection_idle.h"
#include "mod_apppool/backend/direct_connection.h"
#include "mod_apppool/backend/outcome.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/request/client.h"
#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/packet.h"
#include "mod_apppool/request/response_filter.h"
#include "shm/lock/alive.h"
#include "shm/slots/group.h"

#define RESETS 4 /* connections that one process may reset */

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

/* The app may close the connection at this moment. So only a request that can
 * be sent again may use it. */
static int may_reuse(const apppool_session_t *s)
{
    return apppool_outcome_is_safe(s->r) &&
           !apppool_request_body_is_there(s->body);
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
        .may_reuse = may_reuse(s),
        .has_body = apppool_request_body_is_there(s->body),
        .timeout = timeout != APPPOOL_UNSET ? timeout
                   : conf->timeout_set      ? conf->timeout
                                            : s->r->server->timeout,
    };

    return endpoint;
}

static apppool_first_byte_t first_byte_of(const apppool_session_t *s)
{
    int64_t kill_after = s->app->pool.options.kill_after;
    apppool_first_byte_t first_byte = {
        .pool = s->pool,
        .ref = &s->ref,
        .kill_at = kill_after == 0 ? 0 : s->process_since + kill_after,
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

/* mod_proxy's scgi does not say whether the app has read the request. So the
 * process has to be alive before the request is sent: a process that is being
 * killed still accepts connections for a moment. */
static int tells_if_unread(const apppool_endpoint_t *endpoint)
{
    return endpoint->wire.protocol != APL_SCGI;
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
        status =
            apppool_connection_run(s->connection, s->r, &first_byte, s->url);
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

/* An app may have read a request whose connection was reset. It is sent again
 * if the process was killed, or if the connection had carried another request.
 * But it is sent again only once, because it may be the cause of the death. */
static int may_repeat(apppool_session_t *s, int reused)
{
    return !s->repeated++ && (reused || apl_alive_ending(s->ref.pid));
}

/* For the log. */
static const char *label_of(const apppool_session_t *s)
{
    return apr_pstrcat(s->r->pool, s->app->label, "[",
                       apr_itoa(s->r->pool, s->ref.pid), "]", NULL);
}

static apppool_fcgi_t *make_fcgi(apppool_session_t *s)
{
    return apppool_fcgi_make(
        s->r, label_of(s),
        !apppool_request_body_is_there(s->body)   ? APPPOOL_FCGI_NO_BODY
        : apppool_request_body_is_stored(s->body) ? APPPOOL_FCGI_STORED
                                                  : APPPOOL_FCGI_STREAMED,
        s->ref.wire.protocol == APL_UWSGI ? &s->packet : NULL);
}

int apppool_exchange_fixups(request_rec *r)
{
    const apppool_session_t *s =
        ap_get_module_config(r->request_config, &apppool_module);

    if (s && s->connection)
        apppool_connection_header_is_made(s->connection);
    return DECLINED;
}

/* As try_once(), over FastCGI or uwsgi. */
static int try_fcgi(apppool_session_t *s, const apppool_endpoint_t *endpoint,
                    int *status, apr_status_t *rv)
{
    apppool_fcgi_t *fcgi = make_fcgi(s);
    int is_uwsgi = endpoint->wire.protocol == APL_UWSGI;
    apppool_outcome_t outcome;

    apppool_session_prepare(s);
    *rv = apppool_fcgi_open(fcgi, endpoint, &s->shared, s->deadline);
    if (*rv != APR_SUCCESS) {
        apppool_session_restore(s);
        return 0;
    }
    s->fcgi = fcgi;
    s->socket = apppool_fcgi_descriptor(fcgi);
    s->timeout = endpoint->timeout;
    *status = run(s);
    outcome = apppool_fcgi_outcome(fcgi);
    s->closed = apppool_fcgi_has_ended(fcgi);
    s->overloaded = apppool_fcgi_is_overloaded(fcgi);
    s->fcgi = NULL;
    apppool_fcgi_close(fcgi);
    if (outcome == APPPOOL_UNREAD && !is_uwsgi &&
        !may_repeat(s, apppool_fcgi_has_reused(fcgi)))
        outcome = APPPOOL_HEARD;
    return s->started || outcome == APPPOOL_HEARD ||
           *status != HTTP_BAD_GATEWAY;
}

/* As try_once(), over HTTP without mod_proxy. */
static int try_http(apppool_session_t *s, const apppool_endpoint_t *endpoint,
                    int *status, apr_status_t *rv)
{
    apppool_http_t *http =
        apppool_http_make(s->r, label_of(s), &s->http_request);
    apppool_outcome_t outcome;

    *rv = apppool_http_open(http, endpoint, &s->shared, s->deadline);
    if (*rv != APR_SUCCESS)
        return 0;
    s->http = http;
    s->socket = apppool_http_descriptor(http);
    s->timeout = endpoint->timeout;
    apppool_session_prepare(s);
    *status = run(s);
    outcome = apppool_http_outcome(http);
    s->closed = apppool_http_has_ended(http);
    s->http = NULL;
    apppool_http_close(http);
    return s->started || outcome == APPPOOL_HEARD ||
           *status != HTTP_BAD_GATEWAY;
}

/* As try_once(), by mod_proxy. */
static int try_proxy(apppool_session_t *s, const apppool_endpoint_t *endpoint,
                     int *status, apr_status_t *rv)
{
    apppool_connection_t *c = apppool_connection_take(s->r->server);
    apppool_outcome_t outcome;

    if (!c) {
        *status = HTTP_INTERNAL_SERVER_ERROR;
        return 1;
    }
    *rv = apppool_connection_open(c, s->r, endpoint, s->deadline);
    if (*rv != APR_SUCCESS ||
        (!tells_if_unread(endpoint) && apl_alive_ending(s->ref.pid))) {
        apppool_connection_give(c, s->r->server);
        return 0;
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
    return s->started || outcome == APPPOOL_HEARD ||
           (*status != HTTP_BAD_GATEWAY && *status != HTTP_SERVICE_UNAVAILABLE);
}

/* Try one connection. @return 1: *status is the result; 0: *rv says why the
 * request should be sent to this process again, or to another one */
static int try_once(apppool_session_t *s, const apppool_endpoint_t *endpoint,
                    int *status, apr_status_t *rv)
{
    uint32_t protocol = endpoint->wire.protocol;

    if (protocol != APL_UWSGI)
        apppool_shared_connection_begin(&s->shared, s->pool, &s->ref,
                                        endpoint->may_share,
                                        endpoint->may_reuse);
    if (protocol == APL_FCGI || protocol == APL_UWSGI)
        return try_fcgi(s, endpoint, status, rv);
    return protocol == APL_HTTP && !apppool_packet_needs_proxy(s)
               ? try_http(s, endpoint, status, rv)
               : try_proxy(s, endpoint, status, rv);
}

int apppool_exchange(apppool_session_t *s, int *status)
{
    apppool_endpoint_t endpoint = endpoint_of(s);
    apr_status_t rv = APR_SUCCESS;
    int i, done;

    for (i = 0; i < RESETS; i++) {
        done = try_once(s, &endpoint, status, &rv);
        if (rv == APR_SUCCESS && !s->started && apppool_session_is_killed(s)) {
            *status = apppool_error_response_killed(s->r, s->app, &s->ref);
            return 1;
        }
        if (done && !s->started &&
            !apppool_response_check_overridden(&s->check, s->r)) {
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
        apr_sleep(1000 << i); /* the process lives, but resets connections */
    }
    *status = apppool_error_response_app(s->r, s->app, &s->ref, *status);
    return 1;
}
