/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/app_request.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/pump/suspend.h"
#include "mod_apppool/request/client.h"
#include "mod_apppool/request/error_response.h"
#include "mod_apppool/request/request_state.h"
#include "mod_apppool/request/response_count.h"
#include "mod_apppool/instance/current.h"
#include "shm/lock/alive.h"
#include "shm/verbs/checkin.h"
#include "shm/slots/group.h"

APLOG_USE_MODULE(apppool);

/* ---- for LogFormat and the like ---- */

static void note_ms(const request_rec *r, const char *name, int64_t us)
{
    apr_table_setn(r->subprocess_env, name, apr_off_t_toa(r->pool, us / 1000));
}

static void note_begin(apppool_app_request_t *req)
{
    request_rec *r = req->r;

    req->process_since = apl_now();
    apr_table_setn(r->subprocess_env, "APPPOOL_PID",
                   apr_itoa(r->pool, req->ref.pid));
    note_ms(r, "APPPOOL_QUEUE_MS", req->ref.queued);
    /* Remove the value of an earlier process, which died. */
    apr_table_unset(r->subprocess_env, "APPPOOL_APP_MS");
}

/* No process: a request that was refused at once says nothing about time. */
static void note_wait(request_rec *r, int64_t since, int waited)
{
    int64_t now = apl_now();

    note_ms(r, "APPPOOL_QUEUE_MS", now - since);
    if (waited)
        apppool_response_count_ended(r, now);
}

static void note_end(const apppool_app_request_t *req)
{
    int64_t now = apl_now();

    note_ms(req->r, "APPPOOL_APP_MS", now - req->process_since);
    apppool_response_count_ended(req->r, now);
}

/* ---- begin and end ---- */

static apr_status_t checkin_at_cleanup(void *data)
{
    apppool_app_request_t *req = data;

    /* This thread may hold the pool lock. */
    if (!apppool_current()->is_dying)
        apppool_app_request_checkin(req);
    return APR_SUCCESS;
}

apppool_app_request_t *apppool_app_request_begin(request_rec *r,
                                                 const apppool_mount_t *mount,
                                                 apppool_request_body_t *body)
{
    apppool_app_request_t *req = apr_pcalloc(r->pool, sizeof *req);
    int64_t now = apl_now();

    apppool_response_count_arrived(r, now);
    req->r = r;
    req->pool = apppool_current()->pool;
    req->mount = mount;
    req->app = mount->app;
    req->body = body;
    req->filename = r->filename;
    req->deadline = now + apppool_error_response_patience(r);
    req->keepalives = -1;
    req->error = ap_is_HTTP_ERROR(r->status) ? r->status : 0;
    req->may_leave_worker = apppool_streaming_wants_upgrade(r) &&
                            !apppool_request_body_is_there(body) &&
                            apppool_suspend_reserve(r);
    apppool_request_state_begin(r)->app_request = req;
    apr_pool_cleanup_register(r->pool, req, checkin_at_cleanup,
                              apr_pool_cleanup_null);
    return req;
}

/* Has the process responded, though it still has the request? The end of a
 * response to the client gives the process back. Three responses have none: one
 * that httpd overrides, one that names another path, and an upgrade. */
static int has_responded(const apppool_app_request_t *req)
{
    return req->elsewhere || req->r->status == HTTP_SWITCHING_PROTOCOLS ||
           apppool_response_check_overridden(req->r);
}

/* An app that did not respond, or whose response was not read to its end, may
 * still work on the request, also when the client has left. */
static void give_back(apppool_app_request_t *req)
{
    if (req->ref.session == 0)
        return;
    note_end(req);
    if (!req->closed && (req->silent || req->started))
        apl_checkin_abandon(req->pool, &req->ref, apl_now());
    else if (has_responded(req))
        apl_checkin(req->pool, &req->ref, apl_now());
    else
        apl_checkin_unanswered(req->pool, &req->ref, apl_now());
}

void apppool_app_request_end(apppool_app_request_t *req)
{
    apppool_app_request_restore(req);
    if (!apppool_app_request_detach_if_ending(req))
        give_back(req);
    apr_pool_cleanup_kill(req->r->pool, req, checkin_at_cleanup);
}

void apppool_app_request_prepare(apppool_app_request_t *req)
{
    req->keepalives = req->r->connection->keepalives;
    req->r->connection->keepalives = 0;
    apppool_streaming_begin(&req->streaming, req->r, req->pool, &req->ref);
    apppool_response_check_begin(&req->check, req->r, req->app->label,
                                 req->ref.wire.protocol);
    if (req->ref.wire.protocol != APL_HTTP)
        apppool_cgi_variables_set(req->r, req->mount, &req->ref, req->filename,
                                  &req->cgi);
}

void apppool_app_request_restore(apppool_app_request_t *req)
{
    if (req->keepalives >= 0)
        req->r->connection->keepalives = req->keepalives;
    req->keepalives = -1;
    apppool_streaming_end(&req->streaming);
    if (req->cgi.uri)
        apppool_cgi_variables_restore(req->r, &req->cgi);
    req->cgi.uri = NULL;
}

/* ---- a process ---- */

/* Ask for a process. A request for an upgrade may be refused before it waits
 * (AppMaxLongLived). */
static apr_status_t ask_pool(apppool_app_request_t *req,
                             const apl_restart_seen_t *look, int64_t now)
{
    request_rec *r = req->r;
    apl_request_t request = {r->method, r->uri, r->useragent_ip,
                             apppool_config()->queries ? r->args : NULL,
                             apppool_streaming_wants_upgrade(r)};
    apr_status_t rv = apl_checkout(req->pool, &req->ref, &req->app->pool,
                                   &request, look, now);

    if (!request.wants_upgrade || req->ref.session == 0)
        return rv;
    req->limit = apppool_streaming_is_full(req->app, req->pool, &req->ref,
                                           req->may_leave_worker);
    if (req->limit == 0)
        return rv;
    apl_checkin_unused(req->pool, &req->ref, now);
    return APL_ELONGLIVED;
}

apr_status_t apppool_app_request_checkout(apppool_app_request_t *req)
{
    request_rec *r = req->r;
    apl_pool_t *pool = req->pool;
    const apl_app_t *app = &req->app->pool;
    apppool_client_t client = {r, 0};
    int64_t now = apl_now();
    apl_restart_seen_t look;
    int looked, tries = 3, waited = 0;
    apr_status_t rv;

    looked = apl_restart_poll(pool, apl_group_index(pool, app->key, app->name),
                              req->app->restart_dir, now, &look);
    do {
        rv = ask_pool(req, looked ? &look : NULL, now);
        waited |= rv == APL_EWAIT;
        if (rv == APL_EWAIT)
            rv = apl_checkout_wait(pool, &req->ref, req->deadline,
                                   apppool_client_has_left, &client);
        /* A repair has lost its place in the queue: wait in the queue again. */
    } while (rv == APL_EDAMAGED && --tries > 0);
    if (rv == APR_SUCCESS)
        note_begin(req);
    else
        note_wait(r, now, waited);
    return rv;
}

void apppool_app_request_checkin(apppool_app_request_t *req)
{
    if (req->ref.session == 0)
        return;
    note_end(req);
    apl_checkin(req->pool, &req->ref, apl_now());
}

int apppool_app_request_is_killed(const apppool_app_request_t *req)
{
    return req->ref.session != 0 && apl_checkout_killed(req->pool, &req->ref);
}

int apppool_app_request_is_cut_off(const apppool_app_request_t *req)
{
    return req->ref.session != 0 && apl_checkout_closed(req->pool, &req->ref);
}

int apppool_app_request_detach_if_ending(apppool_app_request_t *req)
{
    if (req->ref.session == 0 || !apl_alive_ending(req->ref.pid))
        return 0;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, req->r,
                  "apppool: %s[%d] is ending: it gets no more requests",
                  req->app->label, (int)req->ref.pid);
    note_end(req);
    if (has_responded(req))
        apl_checkin_last(req->pool, &req->ref, apl_now());
    else
        apl_checkin_refused(req->pool, &req->ref, apl_now());
    return 1;
}

void apppool_app_request_detach_refusing(apppool_app_request_t *req)
{
    ap_log_rerror(
        APLOG_MARK, APLOG_INFO, 0, req->r,
        "apppool: %s[%d] refuses the connection; trying another process",
        req->app->label, (int)req->ref.pid);
    apl_checkin_refused(req->pool, &req->ref, apl_now());
}
