/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app.h"

#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <http_log.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/denied_root.h"
#include "mod_apppool/config/app_label.h"
#include "mod_apppool/config/app_user.h"
#include "mod_apppool/backend/proxy_api.h"
#include "mod_apppool/config/app_compare.h"
#include "mod_apppool/body/sendfile.h"
#include "mod_apppool/config/no_effect.h"
#include "mod_apppool/config/max_workers.h"
#include "shm/slots/group.h"
#include "spawner/shared/detect.h"

APLOG_USE_MODULE(apppool);

#define SECONDS(n) ((apr_int64_t)(n)*APR_USEC_PER_SEC)

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

/* Of this configuration, in its pool. */
static apr_array_header_t *apps;

const apr_array_header_t *apppool_app_all(void)
{
    return apps;
}

/* ---- one app ---- */

static void fill_options(apl_options_t *o, const apppool_dir_t *set,
                         apr_uint32_t generation)
{
    o->config = generation;
    o->min_instances = (uint32_t)apppool_config_or(set->min_instances, 0);
    o->max_instances = (uint32_t)apppool_config_or(set->max_instances, 0);
    o->max_requests = (uint32_t)apppool_config_or(set->max_requests, 0);
    o->jitter = (uint32_t)apppool_config_or(set->jitter, 0);
    o->concurrency =
        (uint32_t)apppool_config_or(set->concurrency, APL_CONCURRENCY_AUTO);
    o->global_queue = (uint32_t)apppool_config_or(set->global_queue, 1);
    o->idle_time = apppool_config_or(set->idle_time, SECONDS(300));
    o->stat_interval = apppool_config_or(set->stat_interval, 0);
    o->hung_after = apppool_config_or(set->hung_after, SECONDS(30));
    o->kill_after = apppool_config_or(set->kill_after, SECONDS(1800));
    o->spawn_if_under = (uint32_t)apppool_config_or(set->spawn_if_under, 0);
    o->hung_extra = (uint32_t)apppool_config_or(set->hung_extra, 2);
    o->unkillable_stop =
        (uint32_t)(set->max_unkillable + 1); /* unset: 0, never */
}

/* What the application is asked by (AppReady). */
static const char *host_of(const server_rec *server)
{
    const char *name = server->server_hostname, *c = name;

    while (c && *c > ' ' && *c < 0x7f)
        c++;
    return name && *name && *c == 0 ? name : "localhost";
}

static apppool_app_t *make_app(apr_pool_t *p, const apppool_mount_t *mount,
                               apr_uint32_t generation)
{
    apppool_app_t *app = apr_pcalloc(p, sizeof *app);
    const apppool_dir_t *set = apppool_config_dir(p, mount);
    const char *tmp = set->restart_dir ? set->restart_dir : "tmp";

    app->set = set;
    app->place = mount->place;
    app->server = mount->server;
    app->base_uri = mount->base_uri;
    app->environment = set->environment ? set->environment : "production";
    app->pool.root = set->root;
    app->pool.name = set->group_name ? set->group_name
                                     : apr_psprintf(p, "%s (%s)", set->root,
                                                    app->environment);
    app->pool.key = apl_group_key(app->pool.name);
    app->restart_dir =
        *tmp == '/' ? tmp : apr_pstrcat(p, set->root, "/", tmp, NULL);
    app->listen = apppool_config_or(set->listen, APL_LISTEN_FD);
    app->protocol = apppool_config_or(set->protocol, APL_AUTO);
    if (app->protocol == APL_AUTO && set->command)
        app->protocol = APL_HTTP;
    app->ready = set->ready ? set->ready : "accept";
    app->host = host_of(mount->server);
    app->prestart = apppool_config_or(set->prestart, 0);
    app->log_raw = apppool_config_or(set->log_format, 0);
    app->start_timeout = apppool_config_or(set->start_timeout, SECONDS(90));
    app->stop_timeout = apppool_config_or(set->stop_timeout, SECONDS(30));
    app->memory_limit = apppool_config_or(set->memory_limit, 0);
    app->slow_after = apppool_config_or(set->slow_after, 0);
    app->hung_stop_timeout =
        apppool_config_or(set->hung_stop_timeout, SECONDS(10));
    app->dump_signal = apppool_config_or(set->dump_signal, 0);
    app->stop_signal = apppool_config_or(set->stop_signal, SIGTERM);
    app->drain_timeout = apppool_config_or(set->drain_timeout, SECONDS(60));
    app->no_new_privileges = apppool_config_or(set->no_new_privileges, 1);
    app->rlimits = apppool_rlimits_of(mount);
    app->uid = app->owner = USERDB_NOBODY;
    fill_options(&app->pool.options, set, generation);
    app->pool.options.rolling = (uint32_t)apppool_config_or(
        set->rolling, !strcmp(app->environment, "production"));
    apppool_max_workers_share(app);
    return app;
}

/* ---- its AppRoot ---- */

/* What belongs to httpd's user can be changed by anybody who is that user. */
static void warn_of_httpds_user(const apppool_app_t *app)
{
    if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST &&
        geteuid() == 0 && app->uid == ap_unixd_config.user_id)
        SAY(APLOG_WARNING,
            "%s (%s) runs as httpd's own user, so it can do what it likes to "
            "httpd's children and to the requests of all other applications: "
            "say another with AppUser",
            app->pool.root, app->place);
}

/* Root and user, as far as they can be known now. Nothing here is an error:
 * httpd must neither fail to start nor end at a reload because of what the
 * owner of a directory or link can do. The spawner looks again when it starts
 * a process (approot_owner.h). */
static void check_root(apr_pool_t *p, apppool_app_t *app)
{
    const char *root = app->pool.root, *user = app->set->user, *wrong;
    struct stat st;

    if (stat(root, &st) != 0) {
        int error = errno;

        SAY(APLOG_WARNING, "AppRoot %s (%s) cannot be used: %s", root,
            app->place, strerror(error));
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        SAY(APLOG_WARNING, "AppRoot %s (%s) is not a directory", root,
            app->place);
        return;
    }
    app->real_root = apppool_sendfile_real(p, root);
    wrong = user ? NULL : apppool_app_user_check_owner(p, root, &st);
    if (wrong) {
        SAY(APLOG_WARNING, "AppRoot (%s): %s", app->place, wrong);
        app->owner = st.st_uid == 0 ? USERDB_NOBODY : st.st_uid;
        return;
    }
    app->uid = apppool_app_user_uid(user, &st);
    if (!user && geteuid() == 0)
        app->owner = app->uid;
    warn_of_httpds_user(app);
    if (!apppool_app_user_may_enter(user, &st))
        SAY(APLOG_WARNING, "AppRoot %s (%s) may not be entered by %s", root,
            app->place, user ? user : "its owner");
}

/* Is it laid out to be a DocumentRoot? Its scripts are run, not handed out. */
static int is_php_site(const apppool_app_t *app)
{
    const char *file;

    return (app->protocol == APL_FCGI ||
            (app->protocol == APL_AUTO && !app->set->command)) &&
           detect_protocol(app->pool.root, &file) == APL_FCGI &&
           !strcmp(file, "index.php");
}

/* Would httpd hand out the app's own files? */
static void warn_of_document_root(const apppool_mount_t *mount)
{
    const core_server_config *core =
        ap_get_core_module_config(mount->server->module_config);
    const char *documents = core->ap_document_root,
               *root = mount->app->pool.root;
    size_t n = documents ? strlen(documents) : 0;

    while (n > 0 && documents[n - 1] == '/')
        n--;
    if (n == 0 || strncmp(documents, root, n) != 0)
        return;
    if (root[n] ? root[n] == '/' : !is_php_site(mount->app))
        SAY(APLOG_WARNING,
            "DocumentRoot %s has AppRoot %s (%s) in it: httpd hands out the "
            "application's own files, source and secrets as well",
            documents, root, mount->place);
}

/* What the files show is a tenant's, so it is no error. */
static const char *check_detected(apr_pool_t *p, const apppool_app_t *app)
{
    const char *file, *wrong;
    uint32_t shown = detect_protocol(app->pool.root, &file);

    if (shown == APL_AUTO)
        return apppool_proxy_speaks_any(p);
    wrong = apppool_proxy_speaks(p, shown);
    if (wrong)
        SAY(APLOG_WARNING, "%s (%s): as %s is there, %s", app->pool.root,
            app->place, file, wrong);
    return NULL;
}

static int check_protocol(apr_pool_t *p, const apppool_app_t *app)
{
    const char *wrong = app->protocol == APL_AUTO
                            ? check_detected(p, app)
                            : apppool_proxy_speaks(p, app->protocol);

    if (!wrong && *app->ready == '/' && app->protocol != APL_HTTP &&
        app->protocol != APL_AUTO)
        wrong = apr_psprintf(p,
                             "AppReady %s is asked for over HTTP, and "
                             "AppProtocol is %s: say AppReady notify or accept",
                             app->ready, apppool_proxy_scheme(app->protocol));
    if (wrong)
        SAY(APLOG_ERR, "%s (%s): %s", app->pool.root, app->place, wrong);
    return !wrong;
}

static double in_seconds(apr_int64_t us)
{
    return (double)us / APR_USEC_PER_SEC;
}

static int check_limits(const apppool_app_t *app)
{
    const apl_options_t *o = &app->pool.options;

    if (strlen(app->pool.name) >= APL_NAME_MAX) {
        SAY(APLOG_ERR,
            "AppRoot %s (%s) makes a group name of more than %d bytes: say a "
            "shorter one with AppGroupName",
            app->pool.root, app->place, APL_NAME_MAX - 1);
        return 0;
    }
    if (o->max_instances != 0 && o->min_instances > o->max_instances) {
        SAY(APLOG_ERR, "%s (%s): MinInstances %u is above MaxInstances %u",
            app->pool.root, app->place, o->min_instances, o->max_instances);
        return 0;
    }
    if (o->kill_after != 0 && o->kill_after < o->hung_after) {
        SAY(APLOG_ERR,
            "%s (%s): AppKillAfter, %g s, is below AppHungAfter, %g s: what is "
            "to be killed hangs first; 0 is never",
            app->pool.root, app->place, in_seconds(o->kill_after),
            in_seconds(o->hung_after));
        return 0;
    }
    return 1;
}

/* ---- two of one name ---- */

const apppool_app_t *apppool_app_find(const char *name)
{
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (!strcmp(app->pool.name, name))
            return app;
    }
    return NULL;
}

/* @return 0: refused */
static int share(apr_pool_t *p, const apppool_app_t *first,
                 const apppool_app_t *second)
{
    const char *what = apppool_app_compare_identity(p, first, second);

    if (what) {
        SAY(APLOG_ERR,
            "the group name \"%s\" stands for two applications: %s and %s "
            "do not have the same %s; give one of them another name with "
            "AppGroupName",
            first->pool.name, first->place, second->place, what);
        return 0;
    }
    if (!apppool_app_compare_options(first, second))
        SAY(APLOG_WARNING,
            "%s is the same application as %s, with other limits; those of "
            "the first hold",
            second->place, first->place);
    return 1;
}

/* ---- all of them ---- */

static int resolve(apr_pool_t *p, apppool_mount_t *mount,
                   apr_uint32_t generation)
{
    apppool_app_t *app = make_app(p, mount, generation);
    const apppool_app_t *first = apppool_app_find(app->pool.name);

    mount->app = first ? first : app;
    warn_of_document_root(mount);
    apppool_denied_root_warn(p, mount);
    if (first)
        return share(p, first, app);
    APR_ARRAY_PUSH(apps, apppool_app_t *) = app;
    check_root(p, app);
    return check_limits(app) & check_protocol(p, app);
}

/* Settings that have no AppRoot beside them. */
static void warn_misplaced(void)
{
    const apr_array_header_t *sections = apppool_config()->sections;
    int i;

    for (i = 0; i < sections->nelts; i++) {
        const apppool_dir_t *dir = APR_ARRAY_IDX(sections, i, apppool_dir_t *);

        if (!dir->mount)
            SAY(APLOG_WARNING,
                "%s (%s) has no effect here: its place is beside AppRoot, or "
                "in the virtual host around it",
                dir->misplaced, dir->misplaced_place);
    }
}

static int check_pool(server_rec *main_server)
{
    apppool_server_t server = apppool_config_server(main_server);
    apr_int64_t minimum = 0;
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        minimum += app->pool.options.min_instances;
        apppool_no_effect_warn(app, server.max_pool_size);
        apppool_max_workers_warn(app);
    }
    if (server.max_pool_size > server.processes) {
        SAY(APLOG_ERR,
            "MaxPoolSize %" APR_INT64_T_FMT " is above the %" APR_INT64_T_FMT
            " processes of AppPoolCapacity",
            server.max_pool_size, server.processes);
        return 0;
    }
    if (minimum > server.max_pool_size)
        SAY(APLOG_WARNING,
            "the sum of all MinInstances, %" APR_INT64_T_FMT
            ", is above MaxPoolSize %" APR_INT64_T_FMT
            ": not all minimums can be kept",
            minimum, server.max_pool_size);
    return 1;
}

int apppool_app_resolve_all(apr_pool_t *p, server_rec *main_server,
                            apr_uint32_t generation)
{
    const apr_array_header_t *mounts = apppool_config()->mounts;
    int i, good = 1;

    apps = apr_array_make(p, mounts->nelts + 1, sizeof(apppool_app_t *));
    for (i = 0; i < mounts->nelts; i++)
        good &=
            resolve(p, APR_ARRAY_IDX(mounts, i, apppool_mount_t *), generation);
    apppool_app_label_all(p, apps);
    warn_misplaced();
    good &= check_pool(main_server);
    return good ? OK : !OK;
}
