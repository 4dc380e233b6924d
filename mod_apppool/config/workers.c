/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/checks.h"

#include <ap_mpm.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_main.h>
#include <http_protocol.h>

#include "detect/detect_program.h"
#include "mod_apppool/config/warning.h"
#include "mod_apppool/pump/room.h"

#define QUEUE     100 /* AppMaxQueue, if so many fit */
#define QUEUE_MIN 10
#define WITHOUT   1000 /* connections that hold no worker, by default */

/* ---- httpd's workers ---- */

/* MaxRequestWorkers */
static apr_int64_t count_workers(void)
{
    int daemons = 0, threads = 0;

    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &daemons);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    return (apr_int64_t)daemons * (threads > 0 ? threads : 1);
}

static apr_int64_t count_processes(const apl_options_t *o)
{
    apr_int64_t n = apppool_config_server(ap_server_conf).max_pool_size;

    return o->max_instances != 0 && o->max_instances < n ? o->max_instances : n;
}

/* Requests at a time; 0: as many as there are */
static apr_int64_t may_run(const apl_options_t *o)
{
    uint32_t each = o->concurrency == APL_CONCURRENCY_AUTO ? 1 : o->concurrency;

    return count_processes(o) * each;
}

/* Requests that wait at a time */
static apr_int64_t may_wait(const apl_options_t *o)
{
    return (apr_int64_t)o->max_queue *
           (o->global_queue ? 1 : count_processes(o));
}

static uint32_t default_queue(const apl_options_t *o)
{
    apr_int64_t run = may_run(o), room = count_workers() / 2 - run;

    if (run == 0 || room >= QUEUE)
        return QUEUE;
    return room < QUEUE_MIN ? QUEUE_MIN : (uint32_t)room;
}

void apppool_workers_share(apppool_app_t *app)
{
    const apppool_dir_t *set = app->set;
    apl_options_t *o = &app->pool.options;

    o->max_queue = set->max_queue != APPPOOL_UNSET ? (uint32_t)set->max_queue
                                                   : default_queue(o);
    app->max_long_lived = (uint32_t)apppool_config_or(
        set->max_long_lived, (count_workers() + 1) / 2);
    app->max_suspended =
        (uint32_t)apppool_config_or(set->max_long_lived, WITHOUT);
}

void apppool_workers_warn(const apppool_app_t *app)
{
    const apl_options_t *o = &app->pool.options;
    apr_int64_t run = may_run(o), wait = may_wait(o), all = count_workers();

    /* With AppConcurrency 0, the administrator allows all of them. */
    if (run == 0 || (wait != 0 && wait + run <= all / 2))
        return;
    if (wait == 0)
        apppool_warning(app,
                        "AppMaxQueue 0 is no limit: if the application hangs, "
                        "waiting requests can take all of the %" APR_INT64_T_FMT
                        " workers (MaxRequestWorkers)",
                        all);
    else
        apppool_warning(
            app,
            "%" APR_INT64_T_FMT
            " requests that may wait (AppMaxQueue) and %" APR_INT64_T_FMT
            " that may run are more than half of the %" APR_INT64_T_FMT
            " workers (MaxRequestWorkers): if the application hangs, too few "
            "are left for everything else",
            wait, run, all);
}

/* ---- connections that hold no worker ---- */

/* Of those for which somebody has written a number. The default says nothing
 * about what an application needs, and most need none. */
static int has_number(const apppool_app_t *app)
{
    return app->set->max_long_lived != APPPOOL_UNSET &&
           (app->protocol == APL_HTTP || app->protocol == APL_AUTO);
}

static const apppool_app_t *most_of(const apr_array_header_t *apps)
{
    const apppool_app_t *most = NULL;
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (has_number(app) &&
            (!most || app->max_suspended > most->max_suspended))
            most = app;
    }
    return most;
}

static int offers_http2(const server_rec *s)
{
    return ap_find_linked_module("mod_http2.c") &&
           ap_is_allowed_protocol(NULL, NULL, (server_rec *)s, "h2");
}

static void warn_http2(const apr_array_header_t *apps)
{
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (has_number(app) && offers_http2(app->server))
            apppool_warning(
                app, "browsers use HTTP/2 for event streams where it is "
                     "offered (Protocols): each of these holds a worker, and "
                     "counts for AppMaxLongLived. Only connections over "
                     "HTTP/1.1, such as most WebSockets, hold none");
    }
}

void apppool_workers_warn_room(const apr_array_header_t *apps)
{
    const apppool_app_t *app = most_of(apps);
    apr_int64_t all = count_workers();
    uint32_t wanted = app ? app->max_suspended : 0, each;
    int children = 0, spare = 0;
    const char *limit;

    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &children);
    ap_mpm_query(AP_MPMQ_MAX_SPARE_THREADS, &spare);
    if (wanted == 0 || children < 1 || apppool_room_factor(wanted) == 0)
        return;
    warn_http2(apps);
    /* The children get different numbers: one had 2,209 of 10,000. */
    each = 2 * ((wanted + (uint32_t)children - 1) / (uint32_t)children);
    if (2 * apppool_room_most(&limit) >= each && spare >= all)
        return;
    apppool_warning(app,
                    "httpd has no room for %u WebSockets and event streams "
                    "(AppMaxLongLived) that hold no worker: write "
                    "AsyncRequestWorkerFactor %u, StartServers %d, "
                    "MaxSpareThreads %" APR_INT64_T_FMT
                    ", and let each child of httpd have %u files (ulimit -n)",
                    wanted, apppool_room_factor(each), children, all, 8 * each);
}

/* ---- workers of the application's own ---- */

static const char *variable_of(const void *app, const char *name)
{
    apr_hash_t *env = ((const apppool_app_t *)app)->set->env;

    return env ? apr_hash_get(env, name, APR_HASH_KEY_STRING) : NULL;
}

void apppool_workers_warn_own(apr_pool_t *p, const apppool_app_t *app)
{
    uint32_t requests = app->pool.options.concurrency;
    int is_counted = requests == APL_CONCURRENCY_AUTO; /* detect_program.h */
    const detect_config_t config = {.variable = variable_of, .context = app};
    const char *gets, *option = "";
    uint32_t n = 1;

    if (app->set->command)
        n = (uint32_t)detect_program_workers(app->set->command, &config,
                                             &option);
    if (n < 2 || requests == 0 || (!is_counted && n <= requests))
        return;
    gets = is_counted ? ""
                      : apr_psprintf(p,
                                     ", and gets %u request%s at a time "
                                     "(AppConcurrency)",
                                     requests, requests == 1 ? "" : "s");
    apppool_warning(app,
                    "each process of the pool starts %u processes of its own "
                    "(%s)%s: leave %s out, because the pool starts as many "
                    "processes as the requests need",
                    n, option, gets, option);
}
