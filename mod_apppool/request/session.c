/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/session.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>

#include "mod_apppool/request/client.h"
#include "mod_apppool/parent/lifecycle.h"
#include "mod_apppool/request/response_filter.h"
#include "shm/lock/alive.h"
#include "shm/verbs/checkin.h"
#include "shm/slots/group.h"

APLOG_USE_MODULE(apppool);

/* ---- for LogFormat and the like ---- */

static void note_ms(const request_rec *r, const char *name, int64_t us)
{
    apr_table_setn(r->subprocess_env, name, apr_off_t_toa(r->pool, us / 1000));
}

static void note_begin(apppool_visit_t *v)
{
    request_rec *r = v->r;

    v->since = apl_now();
    apr_table_setn(r->subprocess_env, "APPPOOL_PID",
                   apr_itoa(r->pool, v->hold.pid));
    note_ms(r, "APPPOOL_QUEUE_MS", v->hold.queued);
    /* Of a process before, which died. */
    apr_table_unset(r->subprocess_env, "APPPOOL_APP_MS");
}

static void note_end(const apppool_visit_t *v)
{
    note_ms(v->r, "APPPOOL_APP_MS", apl_now() - v->since);
}

/* ---- begin and end ---- */

static apr_status_t last_resort(void *data)
{
    apppool_visit_t *v = data;

    /* It may be this very thread that holds the pool lock. */
    if (!apppool_child_dying())
        apppool_visit_checkin(v);
    return APR_SUCCESS;
}

/* mod_proxy_fcgi asks for an ErrorDocument, in place of an answer that it has
 * read, before its handler returns: so the process may be asked again. */
static void release_before(const request_rec *r)
{
    apppool_visit_t *v =
        r->prev ? ap_get_module_config(r->prev->request_config, &apppool_module)
                : NULL;

    if (v && v->hold.wire.protocol == APL_FCGI) {
        apppool_visit_unhide(v);
        apppool_visit_checkin(v);
    }
}

apppool_visit_t *apppool_visit_begin(request_rec *r,
                                     const apppool_mount_t *mount,
                                     apppool_body_t *body)
{
    apppool_visit_t *v = apr_pcalloc(r->pool, sizeof *v);

    v->r = r;
    v->mount = mount;
    v->app = mount->app;
    v->body = body;
    v->filename = r->filename;
    v->deadline = apl_now() + apppool_queue_timeout(r);
    v->keepalives = -1;
    v->error = ap_is_HTTP_ERROR(r->status) ? r->status : 0;
    ap_set_module_config(r->request_config, &apppool_module, v);
    release_before(r);
    apr_pool_cleanup_register(r->pool, v, last_resort, apr_pool_cleanup_null);
    apppool_reply_begin(v);
    return v;
}

/* An app that did not answer, or whose answer was not read to its end, may
 * still work on the request: also when the client has left. */
static void give_back(apppool_visit_t *v)
{
    if (v->hold.session == 0 || v->closed || !(v->silent || v->started)) {
        apppool_visit_checkin(v);
        return;
    }
    note_end(v);
    apl_checkin_abandon(apppool_pool(), &v->hold, apl_now());
}

void apppool_visit_end(apppool_visit_t *v)
{
    apppool_visit_unhide(v);
    if (!apppool_visit_bereaved(v))
        give_back(v);
    apr_pool_cleanup_kill(v->r->pool, v, last_resort);
    apppool_reply_end(v);
}

void apppool_visit_hide(apppool_visit_t *v)
{
    v->keepalives = v->r->connection->keepalives;
    v->r->connection->keepalives = 0;
    apppool_lasting_begin(&v->lasting, v->r, &v->hold);
    apppool_whole_begin(&v->whole, v->r, v->app->label, v->hold.wire.protocol);
    if (v->hold.wire.protocol != APL_HTTP)
        apppool_script_begin(v->r, v->mount, v->hold.wire.protocol, v->filename,
                             &v->script);
}

void apppool_visit_unhide(apppool_visit_t *v)
{
    if (v->keepalives >= 0)
        v->r->connection->keepalives = v->keepalives;
    v->keepalives = -1;
    apppool_lasting_end(&v->lasting);
    apppool_whole_end(&v->whole, v->r);
    if (v->script.uri)
        apppool_script_end(v->r, &v->script);
    v->script.uri = NULL;
}

/* ---- a process ---- */

/* Ask for a process; one that asks for a place among the lasting ones may be
 * refused before it waits. */
static apr_status_t ask(apppool_visit_t *v, const apl_look_t *look, int64_t now)
{
    request_rec *r = v->r;
    apl_request_t request = {r->method, r->uri, r->useragent_ip,
                             apppool_config()->queries ? r->args : NULL,
                             apppool_lasting_asks(r)};
    apr_status_t rv = apl_checkout(apppool_pool(), &v->hold, &v->app->pool,
                                   &request, look, now);

    if (!request.lasting || v->hold.session == 0 ||
        !apppool_lasting_full(v->app, &v->hold))
        return rv;
    apl_checkin_unused(apppool_pool(), &v->hold, now);
    return APL_ELASTING;
}

apr_status_t apppool_visit_checkout(apppool_visit_t *v)
{
    request_rec *r = v->r;
    apl_pool_t *pool = apppool_pool();
    const apl_app_t *app = &v->app->pool;
    apppool_client_t client = {r, 0};
    int64_t now = apl_now();
    apl_look_t look;
    int looked, tries = 3;
    apr_status_t rv;

    looked = apl_restart_look(pool, apl_group_index(pool, app->key, app->name),
                              v->app->restart_dir, now, &look);
    do {
        rv = ask(v, looked ? &look : NULL, now);
        if (rv == APL_EWAIT)
            rv = apl_checkout_wait(pool, &v->hold, v->deadline,
                                   apppool_client_gone, &client);
        /* Its place in the queue was lost in a repair: queue up again. */
    } while (rv == APL_EDAMAGED && --tries > 0);
    if (rv == APR_SUCCESS)
        note_begin(v);
    else
        note_ms(r, "APPPOOL_QUEUE_MS", apl_now() - now);
    return rv;
}

void apppool_visit_checkin(apppool_visit_t *v)
{
    if (v->hold.session == 0)
        return;
    note_end(v);
    apl_checkin(apppool_pool(), &v->hold, apl_now());
}

int apppool_visit_killed(const apppool_visit_t *v)
{
    return v->hold.session != 0 &&
           apl_checkout_killed(apppool_pool(), &v->hold);
}

int apppool_visit_dying(const apppool_visit_t *v)
{
    return v->hold.session != 0 && apl_checkout_dying(apppool_pool(), &v->hold);
}

int apppool_visit_closed(const apppool_visit_t *v)
{
    return v->hold.session != 0 &&
           apl_checkout_closed(apppool_pool(), &v->hold);
}

int apppool_visit_bereaved(apppool_visit_t *v)
{
    if (v->hold.session == 0 || !apl_alive_ending(v->hold.pid))
        return 0;
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, v->r,
                  "apppool: %s[%d] is ending: it gets no more requests",
                  v->app->label, (int)v->hold.pid);
    note_end(v);
    apl_checkin_refused(apppool_pool(), &v->hold, apl_now());
    return 1;
}

void apppool_visit_refused(apppool_visit_t *v)
{
    ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, v->r,
                  "apppool: %s[%d] refuses to connect; trying another process",
                  v->app->label, (int)v->hold.pid);
    apl_checkin_refused(apppool_pool(), &v->hold, apl_now());
}
