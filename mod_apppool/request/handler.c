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

static apppool_target_t target_of(const apppool_visit_t *v)
{
    apr_int64_t timeout = apppool_timeout(v->r);
    proxy_server_conf *conf = apppool_proxy_conf(v->r->server);
    apppool_target_t target = {
        .id = v->hold.id,
        .wire = v->hold.wire,
        /* A kept one is in the way of other requests to a serial process. */
        .keep = v->hold.wire.protocol == APL_HTTP &&
                apl_concurrency(&v->app->pool.options, &v->hold.wire) != 1,
        .timeout = timeout != APPPOOL_UNSET ? timeout
                   : conf->timeout_set      ? conf->timeout
                                            : v->r->server->timeout,
    };

    return target;
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
static int tells_unread(const apppool_target_t *target)
{
    return target->wire.protocol != APL_FCGI &&
           target->wire.protocol != APL_SCGI;
}

/* Over one connection. @return 1: *status is the answer; 0: *rv says why the
 * process should be asked again, or another one */
static int try_once(apppool_visit_t *v, const apppool_target_t *target,
                    const char *url, int *status, apr_status_t *rv)
{
    apppool_channel_t *ch = apppool_channel_take(v->r->server, target->id);
    apppool_fate_t fate;

    if (!ch) {
        *status = HTTP_INTERNAL_SERVER_ERROR;
        return 1;
    }
    *rv = apppool_channel_connect(ch, v->r, target, v->deadline);
    if (*rv != APR_SUCCESS) {
        apppool_channel_give(ch);
        return 0;
    }
    if (!tells_unread(target) && apl_alive_ending(v->hold.pid)) {
        apppool_channel_give(ch);
        return 0;
    }
    v->channel = ch;
    v->wire = apppool_channel_descriptor(ch);
    v->timeout = target->timeout;
    apppool_await_limit(v);
    /* The app's server may not know it, and would wait for the body. */
    apppool_client_continue(v->r);
    apppool_body_rewind(v->body);
    apppool_visit_hide(v);
    *status = apppool_channel_run(ch, v->r, url);
    apppool_visit_unhide(v);
    *status = apppool_whole_status(&v->whole, v->r, *status, v->started);
    if (*status == AP_FILTER_ERROR && v->started)
        *status = v->answered ? DONE : break_off(v->r);
    if (*status == OK)
        apppool_reply_finish(v);
    fate = apppool_tap_fate(apppool_channel_tap(ch));
    v->closed = apppool_tap_ended(apppool_channel_tap(ch));
    apppool_channel_give(ch);
    return v->started || fate == APPPOOL_HEARD ||
           (*status != HTTP_BAD_GATEWAY && *status != HTTP_SERVICE_UNAVAILABLE);
}

/* By one process. @return 0: it refused the connection, or is ending */
static int ask(apppool_visit_t *v, const char *url, int *status)
{
    apppool_target_t target = target_of(v);
    apr_status_t rv = APR_SUCCESS;
    int i, done;

    for (i = 0; i < RESETS; i++) {
        done = try_once(v, &target, url, status, &rv);
        if (rv == APR_SUCCESS && !v->started && apppool_visit_killed(v)) {
            *status = apppool_answer_killed(v->r, v->app, &v->hold);
            return 1;
        }
        if (done && !v->started &&
            !apppool_whole_overridden(&v->whole, v->r, *status)) {
            *status = apppool_answer_app(v->r, v->app, &v->hold, *status);
            v->silent = *status == HTTP_GATEWAY_TIME_OUT;
        }
        if (done)
            return 1;
        apppool_answer_forget(v->r);
        if (rv != APR_SUCCESS && refused(rv)) {
            *status = OK;
            apppool_visit_refused(v);
            return 0;
        }
        if (rv != APR_SUCCESS) {
            *status = apppool_answer_connect(v->r, v->app, &v->hold, rv);
            return 1;
        }
        if (apppool_visit_bereaved(v)) {
            *status = OK;
            return 0;
        }
        apr_sleep(1000 << i); /* it does not want us */
    }
    *status = apppool_answer_app(v->r, v->app, &v->hold, *status);
    return 1;
}

/* mod_proxy's scgi and uwsgi take no body whose length is not known. */
static int takes_body(apppool_visit_t *v, uint32_t protocol)
{
    return (protocol != APL_SCGI && protocol != APL_UWSGI) ||
           !apr_table_get(v->r->headers_in, "Transfer-Encoding");
}

/* Make it a request of this protocol. @return OK, or HTTP_* */
static int fit(apppool_visit_t *v, uint32_t protocol, const char **url)
{
    request_rec *r = v->r;
    int status;

    if (!takes_body(v, protocol))
        return HTTP_LENGTH_REQUIRED;
    apppool_forward_headers(r, v->mount->base_uri, protocol);
    r->proxyreq = PROXYREQ_REVERSE;
    status = apppool_proxy.proxy_run_canon_handler(
        r, apppool_forward_url(r, apppool_proxy_scheme(protocol),
                               v->mount->base_uri));
    if (status == OK)
        *url = r->filename + strlen("proxy:");
    if (status != DECLINED)
        return status;
    ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "apppool: %s: %s", v->app->label,
                  apppool_proxy_speaks(r->pool, protocol));
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int serve(apppool_visit_t *v)
{
    uint32_t protocol = (uint32_t)v->app->protocol;
    const char *url = NULL;
    apr_status_t rv;
    int i, status;

    apppool_sendfile_offer(v->r);
    apppool_trace_start(v->r);
    status = protocol == APL_AUTO ? OK : fit(v, protocol, &url);
    for (i = 0; status == OK && i < ATTEMPTS; i++) {
        rv = apppool_visit_checkout(v);
        if (rv != APR_SUCCESS)
            return apppool_answer_pool(v->r, v->app, &v->hold, rv);
        /* What was found in AppRoot, or of an earlier configuration. */
        if (v->hold.wire.protocol != protocol) {
            protocol = v->hold.wire.protocol;
            status = fit(v, protocol, &url);
            if (status != OK)
                break;
        }
        if (ask(v, url, &status))
            return status;
    }
    return status == OK ? apppool_answer_refused(v->r, v->app) : status;
}

int apppool_handler(request_rec *r)
{
    const apppool_mount_t *mount;
    apppool_body_t *body;
    apppool_visit_t *v;
    char *filename = r->filename;
    int status;

    if (!r->handler || strcmp(r->handler, APPPOOL_HANDLER))
        return DECLINED;
    mount = apppool_mount_of(r);
    if (!mount)
        return HTTP_NOT_FOUND;
    if (!apppool_pool()) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r,
                      "apppool: %s: there is no pool; httpd said why when it "
                      "started",
                      mount->app->label);
        return HTTP_SERVICE_UNAVAILABLE;
    }
    apppool_trace_parent(r);
    status = apppool_body_begin(&body, r, mount->app->label);
    if (status != OK)
        return status;
    v = apppool_visit_begin(r, mount, body);
    status = serve(v);
    apppool_visit_end(v);
    apppool_body_end(body);
    /* Redirects of scgi apps within httpd; the process is free again. */
    if (status == OK)
        apppool_proxy.proxy_run_request_status(&status, r);
    r->filename = filename;
    if (ap_is_HTTP_ERROR(status)) {
        r->proxyreq = PROXYREQ_NONE;
        /* Else the ErrorDocument of this one would be asked for. */
        if (v->error)
            r->status = v->error;
        /* An ErrorDocument shares our pool, but has no body. */
        apr_pool_userdata_setn(NULL, "proxy-req-input", NULL, r->pool);
    }
    return status;
}
