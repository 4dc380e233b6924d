/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/exchange.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/backend/kept.h"
#include "mod_apppool/backend/app_connection.h"
#include "mod_apppool/backend/client_cgi.h"
#include "mod_apppool/backend/client_http.h"
#include "mod_apppool/backend/client_proxy.h"
#include "mod_apppool/config/setting.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/instance/current.h"
#include "mod_apppool/request/client.h"
#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/request_head.h"
#include "mod_apppool/request/response_filter.h"
#include "mod_apppool/request/request_state.h"
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

    return !req->repeated && apppool_app_client_may_repeat(req->r, has_body);
}

static uint32_t concurrency_of(const apppool_app_request_t *req)
{
    return apl_concurrency(&req->app->pool.options, &req->ref.wire);
}

static apppool_endpoint_t endpoint_of(const apppool_app_request_t *req)
{
    apr_int64_t timeout = apppool_setting_here(req->r, APPPOOL_AppTimeout);
    proxy_server_conf *conf = apppool_proxy_api_conf(req->r->server);
    apppool_endpoint_t endpoint = {
        .id = req->ref.id,
        .wire = req->ref.wire,
        .runtime = apppool_current()->runtime,
        .keep = req->ref.wire.protocol == APL_HTTP && may_keep(req) &&
                apppool_kept_is_allowed(req->ref.id, concurrency_of(req)),
        .may_share = may_keep(req),
        /* The app may close a kept connection at this moment. */
        .may_reuse = may_repeat(req),
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
        .client = &req->stream_client,
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

/* @return what the handler is to return, if the app has responded */
static int settle(apppool_app_request_t *req, int status)
{
    status = apppool_response_check_status(&req->check, req->r, status,
                                           req->started);
    if (status == AP_FILTER_ERROR && req->started)
        status = req->responded ? DONE : break_off(req->r);
    if (status == OK)
        apppool_response_filter_finish(req);
    return status;
}

/* Send the request, which is prepared, over the connection that is open.
 * @return what the handler is to return, if the app has responded; or
 *         SUSPENDED */
static int run(apppool_app_request_t *req)
{
    apppool_first_byte_t first_byte = first_byte_of(req);
    int status;

    /* The app's server may not know Expect, and would then wait for the
     * body. */
    apppool_client_send_continue(req->r);
    apppool_request_body_rewind(req->body);
    status = req->client->does->run(req->client, &first_byte);
    apppool_app_request_restore(req);
    return status == SUSPENDED ? status : settle(req, status);
}

/* For the log. */
static const char *label_of(const apppool_app_request_t *req)
{
    return apr_pstrcat(req->r->pool, req->app->label, "[",
                       apr_itoa(req->r->pool, req->ref.pid), "]", NULL);
}

static apppool_sending_kind_t kind_of(const apppool_request_body_t *body)
{
    if (!apppool_request_body_is_there(body))
        return APPPOOL_SENDING_NO_BODY;
    return apppool_request_body_is_stored(body) ? APPPOOL_SENDING_STORED
                                                : APPPOOL_SENDING_STREAMED;
}

static apppool_app_client_t *make_cgi(apppool_app_request_t *req)
{
    apppool_app_client_t *client = apppool_client_cgi_make(
        req->r, label_of(req), kind_of(req->body),
        apppool_protocol_is_bare(req->ref.wire.protocol) ? &req->packet : NULL);

    apppool_client_cgi_log_to(client, req->pool, req->ref.id,
                              req->app->set->log != NULL);
    return client;
}

/* @return NULL: mod_proxy cannot make one */
static apppool_app_client_t *make_client(apppool_app_request_t *req)
{
    if (req->ref.wire.protocol != APL_HTTP)
        return make_cgi(req);
    return apppool_request_head_needs_proxy(req)
               ? apppool_client_proxy_make(req->r, label_of(req), req->url)
               : apppool_client_http_make(req->r, label_of(req),
                                          &req->http_request,
                                          kind_of(req->body));
}

int apppool_exchange_fixups(request_rec *r)
{
    const apppool_request_state_t *state = apppool_request_state_of(r);
    const apppool_app_request_t *req = state ? state->app_request : NULL;

    if (req && req->client)
        apppool_client_proxy_header_is_made(req->client);
    return DECLINED;
}

/* How a request went that has no response. It may be the cause of the break, so
 * it is sent once more at most. */
static apppool_outcome_t outcome_of(apppool_app_request_t *req, int status)
{
    apppool_outcome_t outcome = req->client->does->outcome(req->client);

    req->overloaded = outcome == APPPOOL_OVERLOADED;
    req->elsewhere = outcome == APPPOOL_ELSEWHERE && status == OK;
    if (req->started || req->overloaded ||
        (status != HTTP_BAD_GATEWAY && status != HTTP_SERVICE_UNAVAILABLE))
        return APPPOOL_HEARD;
    return outcome == APPPOOL_BROKEN && req->repeated++ ? APPPOOL_HEARD
                                                        : outcome;
}

static void close_client(apppool_app_request_t *req)
{
    apppool_app_client_t *client = req->client;

    req->closed = client->does->has_ended(client);
    req->broken = client->does->has_closed(client);
    req->client = NULL; /* another request may have it at once */
    client->does->close(client);
}

/* Try one connection.
 * @param rv APR_SUCCESS, or why there is no connection
 * @return APPPOOL_HEARD: *status is the result. Otherwise the request may be
 *         sent to this process again, or to another one */
static apppool_outcome_t try_once(apppool_app_request_t *req,
                                  const apppool_endpoint_t *endpoint,
                                  int *status, apr_status_t *rv)
{
    apppool_app_client_t *client = make_client(req);
    apppool_outcome_t outcome;

    if (!client) {
        *status = HTTP_INTERNAL_SERVER_ERROR;
        return APPPOOL_HEARD;
    }
    apppool_parked_begin(&req->parked, req->pool, &req->ref,
                         endpoint->may_share, endpoint->may_reuse);
    apppool_app_request_prepare(req);
    *rv = client->does->open(client, endpoint, &req->parked, req->deadline);
    if (*rv != APR_SUCCESS || is_too_late(req)) {
        apppool_app_request_restore(req);
        client->does->close(client);
        return APPPOOL_UNSENT;
    }
    req->client = client;
    req->socket = client->socket;
    req->timeout = endpoint->timeout;
    *status = run(req);
    if (*status == SUSPENDED)
        return APPPOOL_HEARD;
    outcome = outcome_of(req, *status);
    close_client(req);
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

/* Is the reason that there is no response, or is it what was sent? */
static int is_broken(const apppool_app_request_t *req)
{
    return !req->check.is_none &&
           (req->broken || apl_alive_ending(req->ref.pid));
}

/* Is this the end of the request? Then *status is what the handler returns. */
static int is_over(apppool_app_request_t *req, apppool_outcome_t outcome,
                   int *status)
{
    int done = outcome == APPPOOL_HEARD;

    if (is_stopped(req, outcome, *status)) {
        req->silent = outcome != APPPOOL_UNSENT && !req->closed;
        apppool_error_response_forget(req->r);
        *status = apppool_error_response_pool(req->r, req->app, &req->ref,
                                              APL_ESTOPPING);
        return 1;
    }
    if (outcome != APPPOOL_UNSENT && !req->started &&
        apppool_app_request_is_killed(req)) {
        *status = apppool_error_response_killed(req->r, req->app, &req->ref);
        return 1;
    }
    if (done && !req->started && !apppool_response_check_overridden(req->r)) {
        *status =
            req->overloaded
                ? apppool_error_response_overloaded(req->r, req->app, &req->ref)
                : apppool_error_response_app(req->r, req->app, &req->ref,
                                             *status, is_broken(req));
        req->silent = *status == HTTP_GATEWAY_TIME_OUT;
    }
    return done;
}

/* There is no connection, or the process ends. @return as apppool_exchange();
 * -1: the process lives, and may get the request again */
static int leave(apppool_app_request_t *req, apr_status_t rv, int *status)
{
    if (rv != APR_SUCCESS && !refused(rv)) {
        *status =
            apppool_error_response_connect(req->r, req->app, &req->ref, rv);
        return 1;
    }
    if (rv != APR_SUCCESS)
        apppool_app_request_detach_refusing(req);
    else if (!apppool_app_request_detach_if_ending(req))
        return -1;
    *status = OK;
    return 0;
}

int apppool_exchange(apppool_app_request_t *req, int *status)
{
    apppool_endpoint_t endpoint = endpoint_of(req);
    apr_status_t rv = APR_SUCCESS;
    apppool_outcome_t outcome;
    int i, left;

    for (i = 0; i < BREAKS; i++) {
        outcome = try_once(req, &endpoint, status, &rv);
        if (*status == SUSPENDED || is_over(req, outcome, status))
            return 1;
        apppool_error_response_forget(req->r);
        left = leave(req, rv, status);
        if (left >= 0)
            return left;
        endpoint.may_reuse = 0; /* others may be closed, too */
        apr_sleep(1000 << i);   /* the process lives, but ends connections */
    }
    *status =
        apppool_error_response_app(req->r, req->app, &req->ref, *status, 1);
    return 1;
}

int apppool_exchange_resume(apppool_app_request_t *req, apppool_link_why_t why)
{
    int status;

    req->is_left = why == APPPOOL_LINK_STOPPED;
    status = settle(req, req->client->does->resume(req->client, why));
    close_client(req);
    return status;
}
