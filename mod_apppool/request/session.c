/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/session.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/request/client.h"
#include "mod_apppool/parent/lifecycle.h"
#include "shm/lock/alive.h"
#include "shm/verbs/checkin.h"
#include "shm/slots/group.h"

APLOG_USE_MODULE(apppool);

/* ---- for LogFormat and the like ---- */

static void note_ms(const request_rec *r, const char *name, int64_t us)
{
    apr_table_setn(r->subprocess_env, name, apr_off_t_toa(r->pool, us / 1000));
}

static void note_begin(apppool_session_t *s)
{
    request_rec *r = s->r;

    s->process_since = apl_now();
    apr_table_setn(r->subprocess_env, "APPPOOL_PID",
                   apr_itoa(r->pool, s->ref.pid));
    note_ms(r, "APPPOOL_QUEUE_MS", s->ref.queued);
    /* Remove the value of an earlier process, which died. */
    apr_table_unset(r->subprocess_env, "APPPOOL_APP_MS");
}

static void note_end(const apppool_session_t *s)
{
    note_ms(s->r, "APPPOOL_APP_MS", apl_now() - s->process_since);
}

/* ---- begin and end ---- */

static apr_status_t checkin_at_cleanup(void *data)
{
    apppool_session_t *s = data;

    /* This thread may hold the pool lock. */
    if (!apppool_lifecycle_child_is_dying())
        apppool_session_checkin(s);
    return APR_SUCCESS;
}

apppool_session_t *apppool_session_begin(request_rec *r,
                                         const apppool_mount_t *mount,
                                         apppool_request_body_t *body)
{
    apppool_session_t *s = apr_pcalloc(r->pool, sizeof *s);

    s->r = r;
    s->pool = apppool_lifecycle_pool();
    s->mount = mount;
    s->app = mount->app;
    s->body = body;
    s->filename = r->filename;
    s->deadline = apl_now() + apppool_config_queue_timeout(r);
    s->keepalives = -1;
    s->error = ap_is_HTTP_ERROR(r->status) ? r->status : 0;
    ap_set_module_config(r->request_config, &apppool_module, s);
    apr_pool_cleanup_register(r->pool, s, checkin_at_cleanup,
                              apr_pool_cleanup_null);
    return s;
}

/* An app that did not respond, or whose response was not read to its end, may
 * still work on the request, also when the client has left. */
static void give_back(apppool_session_t *s)
{
    if (s->ref.session == 0)
        return;
    note_end(s);
    if (!s->closed && (s->silent || s->started))
        apl_checkin_abandon(s->pool, &s->ref, apl_now());
    else if (s->unanswered)
        apl_checkin_unanswered(s->pool, &s->ref, apl_now());
    else
        apl_checkin(s->pool, &s->ref, apl_now());
}

void apppool_session_end(apppool_session_t *s)
{
    apppool_session_restore(s);
    if (!apppool_session_detach_if_ending(s))
        give_back(s);
    apr_pool_cleanup_kill(s->r->pool, s, checkin_at_cleanup);
}

void apppool_session_prepare(apppool_session_t *s)
{
    s->keepalives = s->r->connection->keepalives;
    s->r->connection->keepalives = 0;
    apppool_streaming_begin(&s->streaming, s->r, s->pool, &s->ref);
    apppool_response_check_begin(&s->check, s->r, s->app->label,
                                 s->ref.wire.protocol);
    if (s->ref.wire.protocol != APL_HTTP)
        apppool_cgi_variables_set(s->r, s->mount, &s->ref, s->filename,
                                  &s->cgi);
}

void apppool_session_restore(apppool_session_t *s)
{
    if (s->keepalives >= 0)
        s->r->connection->keepalives = s->keepalives;
    s->keepalives = -1;
    apppool_streaming_end(&s->streaming);
    if (s->cgi.uri)
        apppool_cgi_variables_restore(s->r, &s->cgi);
    s->cgi.uri = NULL;
}

/* ---- a process ---- */

/* Ask for a process. A request for an upgrade may be refused before it waits
 * (AppMaxLongLived). */
static apr_status_t ask_pool(apppool_session_t *s,
                             const apl_restart_seen_t *look, int64_t now)
{
    request_rec *r = s->r;
    apl_request_t request = {r->method, r->uri, r->useragent_ip,
                             apppool_config()->queries ? r->args : NULL,
                             apppool_streaming_wants_upgrade(r)};
    apr_status_t rv =
        apl_checkout(s->pool, &s->ref, &s->app->pool, &request, look, now);

    if (!request.wants_upgrade || s->ref.session == 0 ||
        !apppool_streaming_is_full(s->app, s->pool, &s->ref))
        return rv;
    apl_checkin_unused(s->pool, &s->ref, now);
    return APL_ELONGLIVED;
}

apr_status_t apppool_session_checkout(apppool_session_t *s)
{
    request_rec *r = s->r;
    apl_pool_t *pool = s->pool;
    const apl_app_t *app = &s->app->pool;
    apppool_client_t client = {r, 0};
    int64_t now = apl_now();
    apl_restart_seen_t look;
    int looked, tries = 3;
    apr_status_t rv;

    looked = apl_restart_poll(pool, apl_group_index(pool, app->key, app->name),
                              s->app->restart_dir, now, &look);
    do {
        rv = ask_pool(s, looked ? &look : NULL, now);
        if (rv == APL_EWAIT)
            rv = apl_checkout_wait(pool, &s->ref, s->deadline,
                                   apppool_client_has_left, &client);
        /* A repair has lost its place in the queue: wait in the queue again. */
    } while (rv == APL_EDAMAGED && --tries > 0);
    if (rv == APR_SUCCESS)
        note_begin(s);
    else
        note_ms(r, "APPPOOL_QUEUE_MS", apl_now() - now);
    return rv;
}

void apppool_session_checkin(apppool_session_t *s)
{
    if (s->ref.session == 0)
        return;
    note_end(s);
    apl_checkin(s->pool, &s->ref, apl_now());
}

int apppool_session_is_killed(const apppool_session_t *s)
{
    return s->ref.session != 0 && apl_checkout_killed(s->pool, &s->ref);
}

int apppool_session_is_cut_off(const apppool_session_t *s)
{
    return s->ref.session != 0 && apl_checkout_closed(s->pool, &s->ref);
}

int apppool_session_detach_if_ending(apppool_session_t *s)
{
    if (s->ref.session == 0 || !apl_alive_ending(s->ref.pid))
        return 0;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, s->r,
                  "apppool: %s[%d] is ending: it gets no more requests",
                  s->app->label, (int)s->ref.pid);
    note_end(s);
    if (s->unanswered)
        apl_checkin_refused(s->pool, &s->ref, apl_now());
    else
        apl_checkin_last(s->pool, &s->ref, apl_now());
    return 1;
}

void apppool_session_detach_refusing(apppool_session_t *s)
{
    ap_log_rerror(
        APLOG_MARK, APLOG_INFO, 0, s->r,
        "apppool: %s[%d] refuses the connection; trying another process",
        s->app->label, (int)s->ref.pid);
    apl_checkin_refused(s->pool, &s->ref, apl_now());
}
