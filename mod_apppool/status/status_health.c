/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/status/status.h"

#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>
#include <http_request.h>
#include <string.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/instance/current.h"
#include "shm/verbs/health.h"

APLOG_USE_MODULE(apppool);

#define HANDLER "apppool-health"
#define OUT     "out"
#define UNKNOWN "unknown"
#define BROKEN  "broken"
#define MANY    "too many"
#define APPS    64 /* that one request may name */
#define READY   "ready"

/* ---- the word; NULL: all is well ---- */

static const char *app_word(apl_pool_t *pool, const apppool_app_t *app,
                            int ready)
{
    switch (apl_health_app(pool, &app->pool, ready, apl_now())) {
    case APR_SUCCESS:
        return NULL;
    case APL_EWAIT:
        return "starting";
    case APL_EDRAINED:
        return "drained";
    case APL_EQUEUEFULL:
    case APL_EFULL:
        return "full";
    case APL_EBACKOFF:
        return "failing";
    case APL_EUNKILLABLE:
        return "unkillable";
    default:
        return BROKEN;
    }
}

/* A pool that cannot be used is so for all apps. Each of them would wait for
 * the lock again. */
static int is_final(const char *word)
{
    return !word || !strcmp(word, BROKEN);
}

/* The host is well while one of its apps is: a failing app must not take a host
 * from the others. @return the word of the first app if none is */
static const char *host_word(apl_pool_t *pool, int ready)
{
    const apr_array_header_t *apps = apppool_app_all();
    const char *first = NULL;
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const char *word =
            app_word(pool, APR_ARRAY_IDX(apps, i, apppool_app_t *), ready);

        if (is_final(word))
            return word;
        first = first ? first : word;
    }
    return first;
}

/* By its name, or by its short name in the log. */
static const apppool_app_t *find(const char *name)
{
    const apr_array_header_t *apps = apppool_app_all();
    const apppool_app_t *app = apppool_app_find(name);
    int i;

    for (i = 0; !app && i < apps->nelts; i++) {
        const apppool_app_t *one = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (!strcmp(one->label, name))
            app = one;
    }
    return app;
}

/* The word of the first app that is not well. All of them must exist: a
 * mistake in the balancer's configuration is then seen at once. Anybody may
 * ask, so there is a limit. */
static const char *named_word(request_rec *r, apl_pool_t *pool, int ready,
                              const char *names)
{
    char *args = apr_pstrdup(r->pool, names), *last, *one;
    const char *first = NULL;
    int n = 0;

    for (one = apr_strtok(args, "&", &last); one;
         one = apr_strtok(NULL, "&", &last)) {
        const apppool_app_t *app;

        if (++n > APPS)
            return MANY;
        if (strncmp(one, "app=", 4) || ap_unescape_urlencoded(one + 4) != OK)
            return UNKNOWN;
        app = find(one + 4);
        if (!app)
            return UNKNOWN;
        first = first ? first : app_word(pool, app, ready);
    }
    return first;
}

static int status_of(const char *word)
{
    return !word                    ? HTTP_OK
           : !strcmp(word, UNKNOWN) ? HTTP_NOT_FOUND
           : !strcmp(word, MANY)    ? HTTP_BAD_REQUEST
                                    : HTTP_SERVICE_UNAVAILABLE;
}

/* Is the request itself wrong? Then its word says that, also on a host that is
 * out. */
static int is_wrong(const char *word)
{
    return status_of(word) / 100 == 4;
}

/* "ready", alone or before the names: a balancer that sends no request to an
 * app without a process. @return the names */
static const char *names_of(const char *args, int *ready)
{
    size_t n = strlen(READY);

    args = args ? args : "";
    *ready = !strncmp(args, READY, n) && (!args[n] || args[n] == '&');
    return !*ready ? args : args[n] ? args + n + 1 : args + n;
}

static const char *word_of(request_rec *r)
{
    apl_pool_t *pool = apppool_current()->pool;
    int ready;
    const char *names = names_of(r->args, &ready), *word;

    if (!pool)
        return *names ? UNKNOWN : apppool_app_all()->nelts > 0 ? BROKEN : NULL;
    word = *names ? named_word(r, pool, ready, names) : host_word(pool, ready);
    if (apl_health_is_out(pool) && !is_wrong(word))
        word = OUT;
    return word;
}

/* ---- the hook ---- */

/* OPTIONS gets the same response, because some balancers send it. httpd itself
 * would respond with 200. */
int apppool_status_health(request_rec *r)
{
    const char *word;
    int status;

    if (!r->handler || strcmp(r->handler, HANDLER))
        return DECLINED;
    status = apppool_status_origin_check(r);
    if (status != OK)
        return status;
    ap_allow_standard_methods(r, REPLACE_ALLOW, M_GET, M_OPTIONS, -1);
    if (r->method_number != M_GET && r->method_number != M_OPTIONS)
        return HTTP_METHOD_NOT_ALLOWED;
    word = word_of(r);
    r->status = status_of(word);
    ap_set_content_type(r, "text/plain");
    apr_table_setn(r->headers_out, "Cache-Control", "no-store");
    ap_rvputs(r, word ? word : "ok", "\n", NULL);
    return OK;
}
