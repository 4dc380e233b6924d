/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/error_response.h"

#include <apr_strings.h>
#include <http_log.h>

#include "mod_apppool/config/setting.h"
#include "mod_apppool/instance/current.h"
#include "mod_apppool/request/error_page.h"
#include "mod_apppool/request/response_count.h"
#include "shm/lock/lock_token.h"
#include "shm/verbs/group_start.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, r, ...)                                                 \
    ap_log_rerror(APLOG_MARK, level, rv, r, "apppool: " __VA_ARGS__)

/* An administrator decides when a drained application comes back. */
#define DRAINED_RETRY (30 * APR_USEC_PER_SEC)

/* Each response of this file is one of ours. */
static void blame(request_rec *r, uint32_t fault)
{
    apppool_response_count_blame(r, fault);
}

static int try_later(request_rec *r, apr_int64_t us)
{
    apr_int64_t seconds = (us + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC;

    apr_table_setn(
        r->err_headers_out, "Retry-After",
        apr_psprintf(r->pool, "%" APR_INT64_T_FMT, seconds < 1 ? 1 : seconds));
    return HTTP_SERVICE_UNAVAILABLE;
}

/* A line below httpd's own text. */
static void add_note(request_rec *r, const char *text)
{
    apr_table_setn(r->notes, "error-notes", text);
    apr_table_setn(r->notes, "verbose-error-to", "*");
}

static const char *error_of(request_rec *r, apr_uint64_t id)
{
    return apr_psprintf(r->pool, CONTRACT_ID_FMT, id);
}

/* Send the page with the reason, or with the error id that is in the log. */
static int respond(request_rec *r, const apppool_app_t *app,
                   const apppool_error_page_t *about, int status)
{
    if (apppool_error_page_send(r, app, about, status))
        return OK;
    add_note(r, apr_pstrcat(r->pool,
                            about->starting_ms >= 0
                                ? "The application is still starting."
                                : "The application could not be started.",
                            " Error ", error_of(r, about->id),
                            " in the server's log.", NULL));
    return status;
}

static int respond_start_failure(request_rec *r, const apppool_app_t *app,
                                 const apl_session_ref_t *ref, int status)
{
    const apppool_error_page_t about = {ref->error_id, -1};

    return respond(r, app, &about, status);
}

static int not_started(request_rec *r, const apppool_app_t *app,
                       const apl_session_ref_t *ref, int status)
{
    SAY(APLOG_ERR, 0, r, "%s did not start: error %s", app->label,
        error_of(r, ref->error_id));
    return respond_start_failure(r, app, ref, status);
}

/* The wait for a process was too long. If the app has none yet, more is known
 * than that none was free. */
static int left_queue(request_rec *r, const apppool_app_t *app)
{
    int64_t now = apl_now();
    apr_int64_t waited =
        apppool_setting_here(r, APPPOOL_AppQueueTimeout) / 1000;
    apppool_error_page_t about;
    apl_slow_start_t slow;

    if (!apl_slow_start_read(apppool_current()->pool, &app->pool, &slow, now)) {
        SAY(APLOG_WARNING, 0, r,
            "%s: no process was free; the request has left the queue after "
            "%" APR_INT64_T_FMT " ms (AppQueueTimeout)",
            app->label, waited);
        return try_later(r, 0);
    }
    about.id = slow.id;
    about.starting_ms = (int)(apl_since(now, slow.since) / 1000);
    SAY(APLOG_WARNING, 0, r,
        "%s is still starting after %d s%s%s; the request has left the queue "
        "after %" APR_INT64_T_FMT " ms (AppQueueTimeout): error %s",
        app->label, about.starting_ms / 1000, *slow.text ? ": " : "", slow.text,
        waited, error_of(r, slow.id));
    return respond(r, app, &about, try_later(r, 0));
}

int apppool_error_response_streaming(request_rec *r, const apppool_app_t *app,
                                     uint32_t limit)
{
    SAY(APLOG_WARNING, 0, r,
        "%s: %s %s is refused: %u upgraded connections and event streams are "
        "open, as many as AppMaxLongLived",
        app->label, r->method, r->uri, limit);
    blame(r, APL_FAULT_OTHER);
    return try_later(r, 0);
}

static int client_gone(request_rec *r, const apppool_app_t *app)
{
    SAY(APLOG_DEBUG, 0, r, "%s: the client left while it waited", app->label);
    r->connection->aborted = 1;
    r->connection->keepalive = AP_CONN_CLOSE;
    r->status = APPPOOL_CLIENT_GONE;
    return DONE;
}

static uint32_t fault_of(apr_status_t rv)
{
    switch (rv) {
    case APL_EQUEUEFULL:
        return APL_FAULT_QUEUE_FULL;
    case APL_ETIMEOUT:
        return APL_FAULT_QUEUE_TIMEOUT;
    case APL_EBACKOFF:
    case APL_ESTART:
    case APL_EREFUSED:
        return APL_FAULT_START_FAILED;
    case APL_EGONE:
        return APL_FAULT_NONE;
    default:
        return APL_FAULT_OTHER;
    }
}

int apppool_error_response_pool(request_rec *r, const apppool_app_t *app,
                                const apl_session_ref_t *ref, apr_status_t rv)
{
    char text[128];

    blame(r, fault_of(rv));
    switch (rv) {
    case APL_EQUEUEFULL:
        SAY(APLOG_WARNING, 0, r,
            "%s: the queue is full: as many as AppMaxQueue %u wait", app->label,
            app->pool.options.max_queue);
        return try_later(r, 0);
    case APL_ETIMEOUT:
        return left_queue(r, app);
    case APL_EBACKOFF:
        SAY(APLOG_WARNING, 0, r,
            "%s does not start: error %s; next try in %" APR_INT64_T_FMT " ms",
            app->label, error_of(r, ref->error_id),
            (apr_int64_t)ref->retry_after / 1000);
        return respond_start_failure(r, app, ref,
                                     try_later(r, ref->retry_after));
    case APL_EUNKILLABLE:
        SAY(APLOG_ERR, 0, r,
            "%s is not started: more than AppMaxUnkillable %u of its processes "
            "survive SIGKILL",
            app->label, app->pool.options.unkillable_stop - 1);
        return try_later(r, 0);
    case APL_EDRAINED:
        SAY(APLOG_WARNING, 0, r, "%s is drained: %s %s is refused", app->label,
            r->method, r->uri);
        return try_later(r, DRAINED_RETRY);
    case APL_ESTART:
        return not_started(r, app, ref, HTTP_BAD_GATEWAY);
    case APL_EREFUSED:
        return not_started(r, app, ref, try_later(r, ref->retry_after));
    case APL_EGONE:
        return client_gone(r, app);
    case APL_ESTOPPING:
        SAY(APLOG_DEBUG, 0, r, "%s: this httpd child is being stopped",
            app->label);
        return try_later(r, 0);
    default:
        SAY(APLOG_ERR, 0, r, "%s: no place in the pool: %s", app->label,
            apl_error_text(rv, text, sizeof text));
        return try_later(r, 0);
    }
}

int apppool_error_response_connect(request_rec *r, const apppool_app_t *app,
                                   const apl_session_ref_t *ref,
                                   apr_status_t rv)
{
    SAY(APLOG_ERR, rv, r, "%s[%d] cannot be connected to", app->label,
        (int)ref->pid);
    blame(r, APL_FAULT_OTHER);
    return try_later(r, 0);
}

int apppool_error_response_refused(request_rec *r, const apppool_app_t *app)
{
    SAY(APLOG_ERR, 0, r, "%s: ten processes in a row refused the connection",
        app->label);
    blame(r, APL_FAULT_DIED);
    return try_later(r, 0);
}

void apppool_error_response_forget(request_rec *r)
{
    apr_table_unset(r->notes, "error-notes");
    apr_table_unset(r->notes, "verbose-error-to");
    r->status = HTTP_OK;
    r->status_line = NULL;
}

int apppool_error_response_overloaded(request_rec *r, const apppool_app_t *app,
                                      const apl_session_ref_t *ref)
{
    SAY(APLOG_WARNING, 0, r, "%s[%d] is overloaded: %s %s is refused",
        app->label, (int)ref->pid, r->method, r->uri);
    blame(r, APL_FAULT_OTHER);
    apppool_error_response_forget(r);
    return try_later(r, 0);
}

int apppool_error_response_killed(request_rec *r, const apppool_app_t *app,
                                  const apl_session_ref_t *ref)
{
    SAY(APLOG_ERR, 0, r, "%s[%d] was killed and gave no response: %s %s",
        app->label, (int)ref->pid, r->method, r->uri);
    blame(r, APL_FAULT_KILLED);
    apppool_error_response_forget(r);
    return HTTP_GATEWAY_TIME_OUT;
}

int apppool_error_response_app(request_rec *r, const apppool_app_t *app,
                               const apl_session_ref_t *ref, int status,
                               int broken)
{
    int silent = status == HTTP_GATEWAY_TIME_OUT ||
                 apr_table_get(r->notes, "proxy_timedout") != NULL;

    if (status == DECLINED)
        return HTTP_INTERNAL_SERVER_ERROR;
    if (status != HTTP_BAD_GATEWAY && status != HTTP_SERVICE_UNAVAILABLE &&
        status != HTTP_GATEWAY_TIME_OUT)
        return status;
    if (silent)
        SAY(APLOG_ERR, 0, r, "%s[%d] was silent for too long: %s %s",
            app->label, (int)ref->pid, r->method, r->uri);
    else
        SAY(APLOG_ERR, 0, r, "%s[%d] gave no response: %s %s", app->label,
            (int)ref->pid, r->method, r->uri);
    blame(r, silent   ? APL_FAULT_KILLED
             : broken ? APL_FAULT_DIED
                      : APL_FAULT_BAD_RESPONSE);
    apppool_error_response_forget(r);
    return silent ? HTTP_GATEWAY_TIME_OUT : HTTP_BAD_GATEWAY;
}
