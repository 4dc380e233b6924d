/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/request/error_response.h"

#include <apr_general.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_protocol.h>
#include <mod_core.h>

#include "mod_apppool/body/response_check.h"
#include "mod_apppool/config/setting.h"
#include "mod_apppool/instance/current.h"
#include "mod_apppool/request/error_page.h"
#include "mod_apppool/request/response_count.h"
#include "shm/lock/lock_token.h"
#include "shm/verbs/group_start.h"
#include "shm/verbs/wait_facts.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, rv, r, ...)                                                 \
    ap_log_rerror(APLOG_MARK, level, rv, r, "apppool: " __VA_ARGS__)

/* What was noted about an error of a request. It outlives that request: an
 * ErrorDocument that fails, too, has the pool of the request before it. */
#define NOTED "apppool-error"

typedef struct {
    request_rec *r;
    const apppool_app_t *app;
    int status;
    const char *retry; /* Retry-After; or NULL */
    apppool_error_page_t about;
} noted_t;

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

/* ---- notes ---- */

static const char *error_of(request_rec *r, apr_uint64_t id)
{
    return apr_psprintf(r->pool, CONTRACT_ID_FMT, id);
}

/* Is it a request for the ErrorDocument of another one? */
static int is_document(const request_rec *r)
{
    return r->prev && ap_is_HTTP_ERROR(r->prev->status);
}

/* @return NULL: nothing was noted about this request */
static noted_t *noted_of(const request_rec *r)
{
    void *noted = NULL;

    apr_pool_userdata_get(&noted, NOTED, r->pool);
    return noted && ((noted_t *)noted)->r == r ? noted : NULL;
}

/* What was noted about the request that this ErrorDocument is about. Others may
 * be between them, such as for a DirectoryIndex. */
static noted_t *noted_before(const request_rec *r)
{
    const request_rec *one;

    for (one = r->prev; one; one = one->prev)
        if (noted_of(one))
            return noted_of(one);
    return NULL;
}

/* The error of an ErrorDocument does not replace the error that it is about.
 * @return the status */
static int note(request_rec *r, const apppool_app_t *app,
                const apppool_error_page_t *about, int status)
{
    noted_t *noted = apr_palloc(r->pool, sizeof *noted);

    apr_table_setn(r->subprocess_env, "APPPOOL_ERROR_ID",
                   error_of(r, about->id));
    *noted =
        (noted_t){r, app, status,
                  apr_table_get(r->err_headers_out, "Retry-After"), *about};
    if (!is_document(r))
        apr_pool_userdata_setn(noted, NOTED, NULL, r->pool);
    return status;
}

/* Log the error with an id, and note it.
 * @param why a sentence for developers, and for the log
 * @return the status */
static int refuse(request_rec *r, const apppool_app_t *app,
                  apppool_error_kind_t kind, int level, apr_status_t rv,
                  int status, const char *why)
{
    apppool_error_page_t about = {.kind = kind, .why = why};

    apr_generate_random_bytes((unsigned char *)&about.id, sizeof about.id);
    /* httpd cuts long lines, such as those with a long path. */
    SAY(level, rv, r, "%.4000s: error %s", why, error_of(r, about.id));
    return note(r, app, &about, status);
}

#define SENTENCE(r, ...) apr_psprintf((r)->pool, __VA_ARGS__)

/* Had the request before this ErrorDocument no process? */
static int has_waited(const request_rec *r)
{
    const noted_t *noted = is_document(r) ? noted_before(r) : NULL;

    return noted && (noted->about.kind == APPPOOL_ERROR_START_FAILED ||
                     noted->about.kind == APPPOOL_ERROR_STARTING ||
                     noted->about.kind == APPPOOL_ERROR_QUEUE_FULL ||
                     noted->about.kind == APPPOOL_ERROR_QUEUE_TIMEOUT);
}

apr_int64_t apppool_error_response_patience(const request_rec *r)
{
    return has_waited(r) ? 0 : apppool_setting_here(r, APPPOOL_AppQueueTimeout);
}

/* ---- the pool has no process ---- */

/* The spawner has logged why, and has written it down. */
static int not_started(request_rec *r, const apppool_app_t *app,
                       const apl_session_ref_t *ref, int status)
{
    const apppool_error_page_t about = {.kind = APPPOOL_ERROR_START_FAILED,
                                        .id = ref->error_id};

    SAY(APLOG_ERR, 0, r, "%s did not start: error %s", app->label,
        error_of(r, ref->error_id));
    return note(r, app, &about, status);
}

static int does_not_start(request_rec *r, const apppool_app_t *app,
                          const apl_session_ref_t *ref)
{
    const apppool_error_page_t about = {.kind = APPPOOL_ERROR_START_FAILED,
                                        .id = ref->error_id};

    SAY(APLOG_WARNING, 0, r,
        "%s does not start: error %s; next try in %" APR_INT64_T_FMT " ms",
        app->label, error_of(r, ref->error_id),
        (apr_int64_t)ref->retry_after / 1000);
    return note(r, app, &about, try_later(r, ref->retry_after));
}

static apr_int64_t between(apr_int64_t least, apr_int64_t us, apr_int64_t most)
{
    return us < least ? least : us > most ? most : us;
}

/* Clients come back when the queue should be empty, not all at once after a
 * second. */
static int try_when_clear(request_rec *r, const apl_wait_facts_t *facts)
{
    return try_later(
        r, between(5 * APR_USEC_PER_SEC, facts->clears, APR_USEC_PER_SEC * 60));
}

static const char *reason_of(request_rec *r, const apl_wait_facts_t *facts)
{
    sentence_t s = {.n = 0};

    apl_wait_facts_say(&s, facts, "");
    return apr_pstrdup(r->pool, s.text);
}

static int queue_is_full(request_rec *r, const apppool_app_t *app)
{
    apl_wait_facts_t facts;

    apl_wait_facts_read(apppool_current()->pool, &app->pool, &facts, apl_now());
    return refuse(r, app, APPPOOL_ERROR_QUEUE_FULL, APLOG_WARNING, 0,
                  try_when_clear(r, &facts),
                  SENTENCE(r,
                           "%s: the queue is full: as many as AppMaxQueue %u "
                           "wait; %s",
                           app->label, app->pool.options.max_queue,
                           reason_of(r, &facts)));
}

static int waited_for_start(request_rec *r, const apppool_app_t *app,
                            const apl_slow_start_t *slow, int64_t now,
                            apr_int64_t waited)
{
    int64_t since = apl_since(now, slow->since);
    const apppool_error_page_t about = {.kind = APPPOOL_ERROR_STARTING,
                                        .id = slow->id,
                                        .starting_ms = (int)(since / 1000)};

    SAY(APLOG_WARNING, 0, r,
        "%s is still starting after %d s%s%s; the request has left the queue "
        "after %" APR_INT64_T_FMT " ms (AppQueueTimeout): error %s",
        app->label, about.starting_ms / 1000, *slow->text ? ": " : "",
        slow->text, waited, error_of(r, slow->id));
    /* A start that has lasted long may last as long again. */
    return note(
        r, app, &about,
        try_later(r, between(APR_USEC_PER_SEC, since, APR_USEC_PER_SEC * 30)));
}

/* The wait for a process was too long. If the app has none yet, more is known
 * than that none was free. */
static int left_queue(request_rec *r, const apppool_app_t *app)
{
    int64_t now = apl_now();
    apr_int64_t waited = apppool_error_response_patience(r) / 1000;
    apl_wait_facts_t facts;
    apl_slow_start_t slow;

    if (apl_slow_start_read(apppool_current()->pool, &app->pool, &slow, now))
        return waited_for_start(r, app, &slow, now, waited);
    apl_wait_facts_read(apppool_current()->pool, &app->pool, &facts, now);
    return refuse(r, app, APPPOOL_ERROR_QUEUE_TIMEOUT, APLOG_WARNING, 0,
                  try_when_clear(r, &facts),
                  SENTENCE(r,
                           "%s: no process was free; the request has left the "
                           "queue after %" APR_INT64_T_FMT
                           " ms (AppQueueTimeout): %s",
                           app->label, waited, reason_of(r, &facts)));
}

int apppool_error_response_streaming(request_rec *r, const apppool_app_t *app,
                                     uint32_t limit)
{
    blame(r, APL_FAULT_OTHER);
    return refuse(
        r, app, APPPOOL_ERROR_LONG_LIVED, APLOG_WARNING, 0, try_later(r, 0),
        SENTENCE(r,
                 "%s: %s %s is refused: %u upgraded connections and event "
                 "streams are open, as many as AppMaxLongLived",
                 app->label, r->method, r->uri, limit));
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
        return queue_is_full(r, app);
    case APL_ETIMEOUT:
        return left_queue(r, app);
    case APL_EBACKOFF:
        return does_not_start(r, app, ref);
    case APL_EUNKILLABLE:
        return refuse(
            r, app, APPPOOL_ERROR_NO_PROCESS, APLOG_ERR, 0, try_later(r, 0),
            SENTENCE(r,
                     "%s is not started: more than AppMaxUnkillable "
                     "%u of its processes survive SIGKILL",
                     app->label, app->pool.options.unkillable_stop - 1));
    case APL_EDRAINED:
        return refuse(r, app, APPPOOL_ERROR_DRAINED, APLOG_WARNING, 0,
                      try_later(r, DRAINED_RETRY),
                      SENTENCE(r, "%s is drained: %s %s is refused", app->label,
                               r->method, r->uri));
    case APL_ESTART:
        return not_started(r, app, ref, HTTP_BAD_GATEWAY);
    case APL_EREFUSED:
        return not_started(r, app, ref, try_later(r, ref->retry_after));
    case APL_EGONE:
        return client_gone(r, app);
    case APL_ESTOPPING:
        return refuse(
            r, app, APPPOOL_ERROR_STOPPING, APLOG_DEBUG, 0, try_later(r, 0),
            SENTENCE(r, "%s: this httpd child is being stopped", app->label));
    default:
        return refuse(r, app, APPPOOL_ERROR_NO_PROCESS, APLOG_ERR, 0,
                      try_later(r, 0),
                      SENTENCE(r, "%s: no place in the pool: %s", app->label,
                               apl_error_text(rv, text, sizeof text)));
    }
}

int apppool_error_response_no_pool(request_rec *r, const apppool_app_t *app)
{
    blame(r, APL_FAULT_OTHER);
    return refuse(r, app, APPPOOL_ERROR_OTHER, APLOG_ERR, 0,
                  HTTP_SERVICE_UNAVAILABLE,
                  SENTENCE(r,
                           "%s: there is no pool; httpd logged why when it "
                           "started",
                           app->label));
}

/* ---- the process gives no response ---- */

int apppool_error_response_connect(request_rec *r, const apppool_app_t *app,
                                   const apl_session_ref_t *ref,
                                   apr_status_t rv)
{
    blame(r, APL_FAULT_OTHER);
    return refuse(r, app, APPPOOL_ERROR_NO_PROCESS, APLOG_ERR, rv,
                  try_later(r, 0),
                  SENTENCE(r, "%s[%d] cannot be connected to", app->label,
                           (int)ref->pid));
}

int apppool_error_response_refused(request_rec *r, const apppool_app_t *app)
{
    blame(r, APL_FAULT_DIED);
    return refuse(
        r, app, APPPOOL_ERROR_NO_PROCESS, APLOG_ERR, 0, try_later(r, 0),
        SENTENCE(r, "%s: ten processes in a row refused the connection",
                 app->label));
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
    blame(r, APL_FAULT_OTHER);
    apppool_error_response_forget(r);
    return refuse(r, app, APPPOOL_ERROR_QUEUE_FULL, APLOG_WARNING, 0,
                  try_later(r, 0),
                  SENTENCE(r, "%s[%d] is overloaded: %s %s is refused",
                           app->label, (int)ref->pid, r->method, r->uri));
}

int apppool_error_response_killed(request_rec *r, const apppool_app_t *app,
                                  const apl_session_ref_t *ref)
{
    blame(r, APL_FAULT_KILLED);
    apppool_error_response_forget(r);
    return refuse(r, app, APPPOOL_ERROR_TIMEOUT, APLOG_ERR, 0,
                  HTTP_GATEWAY_TIME_OUT,
                  SENTENCE(r, "%s[%d] was killed and gave no response: %s %s",
                           app->label, (int)ref->pid, r->method, r->uri));
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
    blame(r, silent   ? APL_FAULT_KILLED
             : broken ? APL_FAULT_DIED
                      : APL_FAULT_BAD_RESPONSE);
    apppool_error_response_forget(r);
    return refuse(
        r, app, silent ? APPPOOL_ERROR_TIMEOUT : APPPOOL_ERROR_NO_RESPONSE,
        APLOG_ERR, 0, silent ? HTTP_GATEWAY_TIME_OUT : HTTP_BAD_GATEWAY,
        SENTENCE(r, "%s[%d] %s: %s %s", app->label, (int)ref->pid,
                 silent ? "was silent for too long" : "gave no response",
                 r->method, r->uri));
}

/* ---- the page ---- */

/* Nothing was noted, such as for a body that is too large. */
static const noted_t *note_status(request_rec *r, const apppool_app_t *app,
                                  int status)
{
    int kind = apppool_error_words_kind(status);

    if (kind < 0)
        return NULL;
    if (ap_is_HTTP_SERVER_ERROR(status))
        blame(r, APL_FAULT_OTHER);
    refuse(r, app, (apppool_error_kind_t)kind,
           status == HTTP_NOT_IMPLEMENTED || !ap_is_HTTP_SERVER_ERROR(status)
               ? APLOG_INFO
               : APLOG_WARNING,
           0, status,
           SENTENCE(r, "%s: %s %s gets the status %d", app->label, r->method,
                    r->uri, status));
    return noted_of(r);
}

int apppool_error_response_send(request_rec *r, const apppool_app_t *app,
                                int status)
{
    const noted_t *noted;

    if (!ap_is_HTTP_ERROR(status) || apppool_response_check_overridden(r))
        return status;
    noted = is_document(r) ? noted_before(r) : noted_of(r);
    if (!noted && !is_document(r))
        noted = note_status(r, app, status);
    if (!noted)
        return status;
    if (!r->main && (is_document(r) || !ap_response_code_string(
                                           r, ap_index_of_response(status)))) {
        if (noted->retry)
            apr_table_setn(r->err_headers_out, "Retry-After", noted->retry);
        else
            apr_table_unset(r->err_headers_out, "Retry-After");
        apppool_error_page_send(r, noted->r, noted->app, &noted->about,
                                noted->status);
        return OK;
    }
    apr_table_setn(r->notes, "error-notes",
                   apppool_error_page_note(r, &noted->about));
    apr_table_setn(r->notes, "verbose-error-to", "*");
    return status;
}
