/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>
#include <stdlib.h>
#include <string.h>
#include <util_script.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/instance/current.h"
#include "shm/verbs/timeouts.h"
#include "shm/slots/group.h"
#include "shm/verbs/admin.h"
#include "shm/view/snapshot.h"
#include "shm/verbs/supervise.h"
#include "base/contract.h"

APLOG_USE_MODULE(apppool);

#define FORM_MAX   4096 /* bytes */
#define FIELDS_MAX 8

/** The fields of a form; "" if it has no such field. */
typedef struct {
    const char *token, *action, *name;
} wish_t;

/* ---- responses ---- */

/* Relative: only a proxy before httpd knows the full URL. */
static const char *page_of(request_rec *r)
{
    const char *slash = strrchr(r->uri, '/');

    return apr_pstrcat(r->pool, "./",
                       ap_escape_path_segment(r->pool, slash ? slash + 1 : ""),
                       NULL);
}

/* httpd's own pages have no text of ours. */
static int refuse(request_rec *r, int status, const char *sentence)
{
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                  "apppool: a button of the status page does nothing: %s",
                  sentence);
    r->status = status;
    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rvputs(r, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>",
              ap_get_status_line(status), "</title></head>\n<body><p>",
              sentence, "</p>\n<p><a href=\"",
              ap_escape_html(r->pool, page_of(r)),
              "\">Back</a></p></body></html>\n", NULL);
    return OK;
}

/* The text for the result of a verb. */
static int conclude(request_rec *r, apr_status_t rv, const char *what,
                    const char *why)
{
    if (rv == APL_ELOCK)
        return refuse(r, HTTP_SERVICE_UNAVAILABLE,
                      "The pool is locked at the moment; try again.");
    if (rv != APR_SUCCESS)
        return refuse(r, HTTP_PRECONDITION_FAILED, why);
    ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                  "apppool: %s: %s asked for that on the status page", what,
                  r->user ? r->user : "somebody without a login");
    apr_table_setn(r->headers_out, "Location", page_of(r));
    return HTTP_SEE_OTHER;
}

/* ---- actions ---- */

/* A process of this id. @return NULL: there is none */
static const apl_process_t *find(const apl_pool_t *copy, const char *id)
{
    uint32_t i, top = apl_top(&copy->header->top_process, copy->n.processes);
    char hex[17];

    for (i = 1; i <= top; i++) {
        const apl_process_t *p = &copy->processes[i];

        apr_snprintf(hex, sizeof hex, CONTRACT_ID_FMT, p->id);
        if (p->state >= APL_PROCESS_STARTING && !strcmp(hex, id))
            return p;
    }
    return NULL;
}

/* The label of the app; its name, if it is not configured any more. */
static const char *label_of(const apl_group_t *g)
{
    const apppool_app_t *app = apppool_app_find(g->name);

    return app ? app->label : g->name;
}

static int detach(request_rec *r, apl_pool_t *copy, const wish_t *wish)
{
    static const char gone[] = "This process has ended, or is already leaving.";
    const apl_process_t *p = find(copy, wish->name);
    const apl_group_t *g = p ? apl_group_at(copy, p->group) : NULL;

    if (!g)
        return refuse(r, HTTP_PRECONDITION_FAILED, gone);
    return conclude(r,
                    apl_supervise_detach(apppool_current()->pool, p->id,
                                         APL_EVENT_DETACHED, apl_now()),
                    apr_psprintf(r->pool, "%s[%d] is detached", label_of(g),
                                 (int)p->identity.pid),
                    gone);
}

/* "GET /cart" */
static const char *request_of(request_rec *r, const apl_pool_t *copy,
                              uint64_t ticket)
{
    uint32_t i, top = apl_top(&copy->header->top_session, copy->n.sessions);

    for (i = 1; i <= top; i++) {
        const apl_session_t *s = &copy->sessions[i];

        if (s->state == APL_SESSION_OPEN && s->ticket == ticket)
            return apr_pstrcat(r->pool, s->method, " ", s->uri, NULL);
    }
    return "a request";
}

/* "PROCESS-REQUEST": the two ids. */
static int end(request_rec *r, apl_pool_t *copy, const wish_t *wish)
{
    static const char over[] =
        "That request is over: the process does not work on it any more.";
    const char *dash = strchr(wish->name, '-');
    apr_uint64_t ticket = dash ? strtoull(dash + 1, NULL, 10) : 0;
    const apl_process_t *p =
        dash ? find(copy, apr_pstrmemdup(r->pool, wish->name,
                                         (apr_size_t)(dash - wish->name)))
             : NULL;
    const apl_group_t *g = p ? apl_group_at(copy, p->group) : NULL;

    if (!g || ticket == 0)
        return refuse(r, HTTP_PRECONDITION_FAILED, over);
    return conclude(
        r, apl_timeouts_kill(apppool_current()->pool, p->id, ticket, apl_now()),
        apr_psprintf(r->pool, "%s[%d] is killed because of %s", label_of(g),
                     (int)p->identity.pid, request_of(r, copy, ticket)),
        over);
}

/* It also ends a drain, but only if the page has shown that there is one. */
static int restart(request_rec *r, apl_pool_t *copy, const wish_t *wish)
{
    int resume = !strcmp(wish->action, "resume");
    uint32_t i = apl_group_index(copy, apl_group_key(wish->name), wish->name);
    const apl_group_t *g = apl_group_at(copy, i);
    apr_status_t rv;

    if (!g)
        return refuse(
            r, HTTP_PRECONDITION_FAILED,
            "No application of that name has had a request since httpd "
            "was started.");
    if (resume != (g->drained != 0))
        return refuse(r, HTTP_PRECONDITION_FAILED,
                      resume ? "That application is not drained any more."
                             : "That application is drained now.");
    rv = apl_admin_restart(apppool_current()->pool, g->name, -1, apl_now());
    return conclude(
        r, rv == APL_EDRAINED ? APR_SUCCESS : rv,
        apr_pstrcat(r->pool, label_of(g),
                    resume ? " is put back into service" : " is restarted",
                    NULL),
        "That application does not exist any more.");
}

static int drain(request_rec *r, apl_pool_t *copy, const wish_t *wish)
{
    const apppool_app_t *app = apppool_app_find(wish->name);
    uint32_t i = apl_group_index(copy, apl_group_key(wish->name), wish->name);
    const apl_group_t *g = apl_group_at(copy, i);

    if (!app)
        return refuse(r, HTTP_PRECONDITION_FAILED,
                      "No application of that name is configured.");
    if (g && g->drained)
        return refuse(r, HTTP_PRECONDITION_FAILED,
                      "That application is drained already.");
    return conclude(
        r, apl_admin_drain(apppool_current()->pool, &app->pool, apl_now()),
        apr_pstrcat(r->pool, app->label, " is drained", NULL),
        "The pool has no room for that application.");
}

static const struct {
    const char *word;
    int (*act)(request_rec *r, apl_pool_t *copy, const wish_t *wish);
} actions[] = {{"detach", detach},
               {"drain", drain},
               {"kill", end},
               {"restart", restart},
               {"resume", restart}};

/* ---- forms ---- */

static const char *text_of(request_rec *r, const ap_form_pair_t *pair)
{
    char *text;
    apr_off_t length = 0;
    apr_size_t n;

    apr_brigade_length(pair->value, 1, &length);
    if (length < 0 || length > FORM_MAX)
        return "";
    n = (apr_size_t)length;
    text = apr_palloc(r->pool, n + 1);
    apr_brigade_flatten(pair->value, text, &n);
    text[n] = 0;
    return text;
}

static int read_form(request_rec *r, wish_t *wish)
{
    apr_array_header_t *pairs = NULL;
    int i, status = ap_parse_form_data(r, NULL, &pairs, FIELDS_MAX, FORM_MAX);

    wish->token = wish->action = wish->name = "";
    if (status != OK)
        return ap_is_HTTP_ERROR(status) ? status : HTTP_BAD_REQUEST;
    for (i = 0; pairs && i < pairs->nelts; i++) {
        const ap_form_pair_t *pair = &APR_ARRAY_IDX(pairs, i, ap_form_pair_t);

        if (!strcmp(pair->name, "token"))
            wish->token = text_of(r, pair);
        else if (!strcmp(pair->name, "do"))
            wish->action = text_of(r, pair);
        else if (!strcmp(pair->name, "name"))
            wish->name = text_of(r, pair);
    }
    return OK;
}

int apppool_status_action(request_rec *r, int allowed)
{
    apl_pool_t *copy;
    wish_t wish;
    size_t i;
    int status;

    if (!allowed)
        return refuse(r, HTTP_FORBIDDEN, "AppStatusAllowActions is Off here.");
    status = read_form(r, &wish);
    if (status != OK)
        return status;
    if (!apppool_status_token_ok(r, wish.token))
        return refuse(r, HTTP_FORBIDDEN,
                      "This button is from another page or an old page: "
                      "reload the page.");
    if (!apppool_current()->pool)
        return HTTP_SERVICE_UNAVAILABLE;
    /* An earlier button has used it up, if it waited without success. */
    apppool_current()->pool->patience = APL_PATIENCE;
    if (apl_snapshot_take(&copy, apppool_current()->pool, r->pool) !=
        APR_SUCCESS)
        return HTTP_SERVICE_UNAVAILABLE;
    for (i = 0; i < sizeof actions / sizeof *actions; i++)
        if (!strcmp(wish.action, actions[i].word))
            return actions[i].act(r, copy, &wish);
    return refuse(r, HTTP_BAD_REQUEST, "There is no such button.");
}
