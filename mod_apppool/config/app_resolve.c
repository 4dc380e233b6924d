/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_resolve.h"

#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/app_source.h"
#include "mod_apppool/config/error_format.h"
#include "mod_apppool/config/section.h"
#include "mod_apppool/config/setting.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/store_cluster.h"
#include "detect/detect_program.h"
#include "mod_apppool/config/store_user.h"
#include "mod_apppool/config/warning.h"
#include "mod_apppool/config/checks.h"
#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/app.h"
#include "shm/slots/group.h"
#include "base/contract.h"
#include "base/userdb.h"
#include "detect/detect.h"

APLOG_USE_MODULE(apppool);

#define ROLLING_INTERVAL 10000 /* us: AppRestartCheckInterval */

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

/* ---- can the application run? ---- */

/* Can an application run as its configuration says, and will it do what
 * the administrator expects? Mistakes are written to the log.
 *
 * A mistake of the configuration itself, and a setting that can never work, is
 * an error: the functions that return int find it. The state of an app's files
 * is only a warning: the owner of a directory or a link must not be able to
 * keep httpd from starting, or to end it at a reload. The spawner checks the
 * directory again when it starts a process (approot_owner.h).
 *
 * Trust: looks at directories with the rights of the user who starts httpd. */

/* AppRoots that are named in warnings of one kind. */
#define MOST 10

/* All processes of httpd's user can change httpd's children and files. */
static void warn_of_httpds_user(const apppool_app_t *app)
{
    if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST &&
        geteuid() == 0 && app->uid == ap_unixd_config.user_id)
        apppool_warning(
            app, "the application runs as httpd's own user, so it can do "
                 "anything to httpd's children and to the requests of all "
                 "other applications: name another user with AppUser");
}

/* Check AppRoot and its user, as far as they are known now. This sets
 * app->real_root, uid, user_name and owner. */
static void apppool_app_check_root(apr_pool_t *p, apppool_app_t *app)
{
    const char *root = app->pool.root, *user = app->set->user, *wrong;
    struct stat st;

    if (stat(root, &st) != 0) {
        int error = errno;

        apppool_warning_alike("root unusable", MOST,
                              "AppRoot %s (%s) cannot be used: %s", root,
                              app->place, strerror(error));
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        apppool_warning_alike("root no directory", MOST,
                              "AppRoot %s (%s) is not a directory", root,
                              app->place);
        return;
    }
    app->real_root = apppool_sendfile_dirs_real(p, root);
    wrong = user ? NULL : apppool_app_user_check_owner(p, root, &st);
    if (wrong) {
        apppool_warning_alike("root's owner", MOST, "AppRoot (%s): %s",
                              app->place, wrong);
        app->owner = st.st_uid == 0 ? USERDB_NOBODY : st.st_uid;
        return;
    }
    app->uid = apppool_app_user_uid(user, &st);
    if (!user && app->uid != USERDB_NOBODY)
        app->user_name = apppool_app_user_name(p, app->uid);
    if (!user && geteuid() == 0)
        app->owner = app->uid;
    warn_of_httpds_user(app);
    if (!apppool_app_user_may_enter(user, &st))
        apppool_warning_alike("root closed", MOST,
                              "AppRoot %s (%s) may not be entered by %s", root,
                              app->place, user ? user : "its owner");
}

/* The files belong to a tenant, so what they show is no error. */
static const char *check_detected(apr_pool_t *p, const apppool_app_t *app)
{
    const char *file, *wrong;
    uint32_t shown = detect_protocol(app->pool.root, &file);

    if (shown == APL_AUTO)
        return NULL;
    wrong = apppool_protocol_missing(p, shown);
    if (wrong)
        apppool_warning(app, "because %s is there, %s", file, wrong);
    return NULL;
}

/* Is the module loaded that speaks AppProtocol? @return 0: no */
static int apppool_app_check_protocol(apr_pool_t *p, const apppool_app_t *app)
{
    const char *wrong = app->protocol == APL_AUTO
                            ? check_detected(p, app)
                            : apppool_protocol_missing(p, app->protocol);

    if (!wrong && *app->ready == '/' && app->protocol != APL_HTTP &&
        app->protocol != APL_AUTO)
        wrong = apr_psprintf(p,
                             "AppReady %s needs AppProtocol http, and "
                             "AppProtocol is %s: use AppReady notify or accept",
                             app->ready, apppool_protocol_name(app->protocol));
    if (wrong)
        SAY(APLOG_ERR, "%s (%s): %s", app->pool.root, app->place, wrong);
    return !wrong;
}

/* Does the app have what AppPreload On needs? @return 0: no */
static int apppool_app_check_preload(const apppool_app_t *app)
{
    /* AppProtocol is auto if there is no AppCommand, either. */
    const char *wrong = app->listen != APL_LISTEN_FD ? "needs AppListen fd"
                        : app->protocol != APL_HTTP && app->protocol != APL_AUTO
                            ? "needs AppProtocol http"
                            : NULL;

    if (app->preload != CONTRACT_PRELOAD_ON || !wrong)
        return 1;
    SAY(APLOG_ERR, "%s (%s): AppPreload On %s", app->pool.root, app->place,
        wrong);
    return 0;
}

/* AppBasePath keep is not for PHP: a script has to be below its URL. The files
 * belong to a tenant, so what they show is no error. @return 0: it is an
 * error */
static int apppool_app_check_base_path(const apppool_app_t *app)
{
    static const char why[] =
        "AppBasePath keep is not for PHP, whose scripts are found below the "
        "path of their Location";
    int speaks = app->protocol == APL_FCGI || app->protocol == APL_AUTO;

    if (app->base_path != APPPOOL_BASE_PATH_KEEP || !speaks)
        return 1;
    if (app->command && detect_program_is_php(app->command)) {
        SAY(APLOG_ERR, "%s (%s): %s", app->pool.root, app->place, why);
        return 0;
    }
    if (detect_is_php(app->pool.root, (uint32_t)app->protocol))
        apppool_warning(app, "%s: it has no effect on scripts", why);
    return 1;
}

static double in_seconds(apr_int64_t us)
{
    return (double)us / APR_USEC_PER_SEC;
}

/* Do its numbers fit together? @return 0: no */
static int apppool_app_check_limits(const apppool_app_t *app)
{
    const apl_options_t *o = &app->pool.options;

    if (strlen(app->pool.name) >= APL_NAME_MAX) {
        SAY(APLOG_ERR,
            "AppRoot %s (%s) makes a group name of more than %d bytes: set a "
            "shorter name with AppGroupName",
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
            "%s (%s): AppKillAfter, %g s, is below AppHungAfter, %g s: a "
            "process is hung before it is killed; 0 means never",
            app->pool.root, app->place, in_seconds(o->kill_after),
            in_seconds(o->hung_after));
        return 0;
    }
    return 1;
}

static void warn_of_store(const apppool_app_t *app)
{
    const apppool_dir_t *set = app->set;
    const char *what = set->store_space                      ? "AppStoreSpace"
                       : set->store_evict != APPPOOL_UNSET   ? "AppStoreEvict"
                       : set->store_confirm != APPPOOL_UNSET ? "AppStoreConfirm"
                       : set->store_connections != APPPOOL_UNSET
                           ? "AppStoreMaxConnections"
                           : NULL;

    if (what && !app->space)
        apppool_warning(app,
                        "%s has no effect: the application has no space of the "
                        "store without AppStore and a size",
                        what);
}

/* Warn about directives that have no effect because of another one.
 * @param max MaxPoolSize */
static void apppool_app_check_effects(const apppool_app_t *app, apr_int64_t max)
{
    const apl_options_t *o = &app->pool.options;

    if (app->prestart && o->min_instances == 0)
        apppool_warning(
            app, "AppPreStart On starts nothing, because MinInstances is 0");
    if (app->preload == CONTRACT_PRELOAD_OFF &&
        app->set->preload_idle != APPPOOL_UNSET)
        apppool_warning(app,
                        "AppPreloadIdleTime has no effect: the application has "
                        "no template without AppPreload On");
    if (app->log_raw && !app->set->log)
        apppool_warning(app,
                        "AppLogFormat raw has no effect without AppLog: what "
                        "the application prints goes to the error log, where "
                        "each line begins with its time and process");
    warn_of_store(app);
    if (o->max_instances > max)
        apppool_warning(
            app,
            "MaxInstances %u is above MaxPoolSize %" APR_INT64_T_FMT
            ", the limit of all applications together: this number is never "
            "reached",
            o->max_instances, max);
}

/* ---- RLimitCPU, RLimitMEM and RLimitNPROC ---- */

/* httpd's settings of the <Location> of the AppRoot: the section that has our
 * settings, too. NULL: the AppRoot is in no section. */
static const core_dir_config *section_of(const apppool_mount_t *mount)
{
    const core_server_config *server =
        ap_get_core_module_config(mount->server->module_config);
    int i;

    for (i = 0; mount->section && i < server->sec_url->nelts; i++) {
        ap_conf_vector_t *section =
            APR_ARRAY_IDX(server->sec_url, i, ap_conf_vector_t *);

        if (ap_get_module_config(section, &apppool_module) == mount->section)
            return ap_get_core_module_config(section);
    }
    return NULL;
}

static apppool_rlimits_t rlimits_of(const apppool_mount_t *mount)
{
    const core_dir_config *own =
        ap_get_core_module_config(mount->server->lookup_defaults);
    const core_dir_config *over = section_of(mount);
    apppool_rlimits_t limits = {own->limit_cpu, own->limit_mem,
                                own->limit_nproc};

    if (over && over->limit_cpu)
        limits.cpu = over->limit_cpu;
    if (over && over->limit_mem)
        limits.mem = over->limit_mem;
    if (over && over->limit_nproc)
        limits.nproc = over->limit_nproc;
    return limits;
}

static int is_same_limit(const struct rlimit *a, const struct rlimit *b)
{
    return a == b ||
           (a && b && a->rlim_cur == b->rlim_cur && a->rlim_max == b->rlim_max);
}

static int are_same_limits(const apppool_rlimits_t *a,
                           const apppool_rlimits_t *b)
{
    return is_same_limit(a->cpu, b->cpu) && is_same_limit(a->mem, b->mem) &&
           is_same_limit(a->nproc, b->nproc);
}

/* ---- one app ---- */

/* The host name of our own requests to the application (AppReady). */
static const char *host_of(const server_rec *server)
{
    const char *name = server->server_hostname, *c = name;

    while (c && *c > ' ' && *c < 0x7f)
        c++;
    return name && *name && *c == 0 ? name : "localhost";
}

/* A file decides whether there is a template for auto: detect.c. It is of no
 * use where there is one process at most. In development code changes all the
 * time. */
static uint32_t preload_of(const apppool_app_t *app)
{
    int possible = !app->command && app->listen == APL_LISTEN_FD &&
                   (app->protocol == APL_AUTO || app->protocol == APL_HTTP);

    if (app->preload != CONTRACT_PRELOAD_AUTO)
        return app->preload;
    return possible && app->pool.options.max_instances != 1 &&
                   strcmp(app->environment, "development") &&
                   strcmp(app->environment, "test")
               ? CONTRACT_PRELOAD_AUTO
               : CONTRACT_PRELOAD_OFF;
}

/* The values that have a rule instead of a default. */
static void follow_rules(apr_pool_t *p, apppool_app_t *app)
{
    const apppool_dir_t *set = app->set;
    const char *tmp = set->restart_dir ? set->restart_dir : "tmp";
    apl_options_t *o = &app->pool.options;

    app->restart_dir =
        *tmp == '/' ? tmp : apr_pstrcat(p, set->root, "/", tmp, NULL);
    if (app->protocol == APL_AUTO && app->command)
        app->protocol =
            detect_program_is_php(app->command) ? APL_FCGI : APL_HTTP;
    app->preload = preload_of(app);
    o->concurrency = (uint32_t)apppool_setting_of(set, APPPOOL_AppConcurrency);
    o->unkillable_stop =
        (uint32_t)(set->max_unkillable + 1); /* unset: 0, never */
    o->rolling = (uint32_t)apppool_config_or(
        set->rolling, !strcmp(app->environment, "production"));
    /* After a rolling restart, the old code serves the next request in any
     * case. */
    o->check_interval = apppool_config_or(set->check_interval,
                                          o->rolling ? ROLLING_INTERVAL : 0);
    apppool_workers_share(app);
}

static const char *stripped_of(const apppool_app_t *app,
                               const apppool_mount_t *mount)
{
    return app->base_path == APPPOOL_BASE_PATH_KEEP ? "" : mount->base_uri;
}

static apppool_app_t *make_app(apr_pool_t *p, const apppool_mount_t *mount,
                               apr_uint32_t generation)
{
    apppool_app_t *app = apr_pcalloc(p, sizeof *app);
    const apppool_dir_t *set = apppool_config_dir(p, mount);

    app->set = set;
    apppool_setting_resolve(app);
    app->place = mount->place;
    app->server = mount->server;
    app->base_uri = stripped_of(app, mount);
    app->pool.root = set->root;
    app->pool.name = set->group_name ? set->group_name
                                     : apr_psprintf(p, "%s (%s)", set->root,
                                                    app->environment);
    app->pool.key = apl_group_key(app->pool.name);
    app->pool.options.config = generation;
    app->host = host_of(mount->server);
    app->rlimits = rlimits_of(mount);
    app->uid = app->owner = USERDB_NOBODY;
    app->user_name = set->user;
    follow_rules(p, app);
    apppool_store_resolve(p, app);
    return app;
}

/* ---- two of one name ---- */

static int equal(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static int equal_env(apr_pool_t *p, apr_hash_t *a, apr_hash_t *b)
{
    apr_hash_index_t *i;

    if (!a || !b)
        return (a ? apr_hash_count(a) : 0) == (b ? apr_hash_count(b) : 0);
    if (apr_hash_count(a) != apr_hash_count(b))
        return 0;
    for (i = apr_hash_first(p, a); i; i = apr_hash_next(i))
        if (!equal(apr_hash_this_val(i),
                   apr_hash_get(b, apr_hash_this_key(i), APR_HASH_KEY_STRING)))
            return 0;
    return 1;
}

/* Are they the same app? @return NULL: yes; or the directive that differs */
static const char *other_identity(apr_pool_t *p, const apppool_app_t *a,
                                  const apppool_app_t *b)
{
    const char *what;

    if (!equal(a->pool.root, b->pool.root))
        return "AppRoot";
    what = apppool_setting_difference(a, b, APPPOOL_CLASS_SELF);
    if (!what)
        what = apppool_setting_difference(a, b, APPPOOL_CLASS_MADE);
    if (what)
        return what;
    if (!equal(a->set->user, b->set->user) ||
        !equal(a->set->user_group, b->set->user_group))
        return "AppUser";
    if (!equal(a->space, b->space) ||
        !equal(a->store_servers, b->store_servers))
        return "AppStore";
    return equal_env(p, a->set->env, b->set->env) ? NULL : "AppSetEnv";
}

/* Do they have the same values in everything else? */
static int same_options(const apppool_app_t *a, const apppool_app_t *b)
{
    return !apppool_setting_difference(a, b, APPPOOL_CLASS_LIMIT) &&
           memcmp(&a->pool.options, &b->pool.options, sizeof a->pool.options) ==
               0 &&
           are_same_limits(&a->rlimits, &b->rlimits) &&
           equal(a->set->log, b->set->log) &&
           equal(a->restart_dir, b->restart_dir);
}

/* @return 0: refused */
static int share(apr_pool_t *p, const apppool_app_t *first,
                 const apppool_app_t *second)
{
    const char *what = other_identity(p, first, second);

    if (what) {
        SAY(APLOG_ERR,
            "two applications have the group name \"%s\": %s and %s do not "
            "have the same %s; give one of them another name with "
            "AppGroupName",
            first->pool.name, first->place, second->place, what);
        return 0;
    }
    if (!same_options(first, second))
        SAY(APLOG_WARNING,
            "%s is the same application as %s, with other limits; those of %s "
            "are used",
            second->place, first->place, first->place);
    return 1;
}

/* ---- all of them ---- */

static int resolve(apr_pool_t *p, apppool_mount_t *mount,
                   apr_uint32_t generation)
{
    apppool_app_t *app = make_app(p, mount, generation);
    const apppool_app_t *first = apppool_app_find(app->pool.name);

    mount->app = first ? first : app;
    mount->stripped = stripped_of(app, mount);
    apppool_denied_root_warn(p, mount);
    if (first)
        return share(p, first, app) && apppool_store_add(p, app);
    apppool_app_add(app);
    apppool_app_check_root(p, app);
    return apppool_store_add(p, app) & apppool_app_check_limits(app) &
           apppool_app_check_protocol(p, app) & apppool_app_check_preload(app) &
           apppool_app_check_base_path(app);
}

/* Settings in sections without an AppRoot. */
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

static int check_pool(apr_pool_t *p, server_rec *main_server)
{
    const apr_array_header_t *apps = apppool_app_all();
    apppool_server_t server = apppool_config_server(main_server);
    apr_int64_t minimum = 0;
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        minimum += app->pool.options.min_instances;
        apppool_app_check_effects(app, server.max_pool_size);
        apppool_workers_warn(app);
        apppool_workers_warn_own(p, app);
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
            ": not all minimums can be reached",
            minimum, server.max_pool_size);
    return 1;
}

int apppool_app_resolve(apr_pool_t *p, server_rec *main_server,
                        apr_uint32_t generation)
{
    const apr_array_header_t *mounts = apppool_config()->mounts;
    int i, good = 1;

    apppool_app_begin(p, mounts->nelts);
    apppool_warning_begin(p);
    apppool_section_begin(p);
    apppool_store_begin(p);
    for (i = 0; i < mounts->nelts; i++)
        good &=
            resolve(p, APR_ARRAY_IDX(mounts, i, apppool_mount_t *), generation);
    apppool_config_note_mounts(p, main_server);
    apppool_app_label_all(p);
    apppool_app_source_report(p);
    warn_misplaced();
    apppool_php_report(p);
    good &= check_pool(p, main_server) & apppool_store_check() &
            apppool_store_cluster_check(p, main_server) &
            apppool_store_user_check(main_server);
    if (ap_state_query(AP_SQ_RUN_MODE) == AP_SQ_RM_CONFIG_TEST)
        good &= apppool_config_test(p);
    apppool_warning_end();
    apppool_error_format_check(p, main_server);
    return good ? OK : !OK;
}
