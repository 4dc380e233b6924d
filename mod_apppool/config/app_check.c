/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_check.h"

#include <apr_strings.h>
#include <errno.h>
#include <http_core.h>
#include <http_log.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/warning.h"
#include "base/contract.h"
#include "detect/detect.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

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

void apppool_app_check_root(apr_pool_t *p, apppool_app_t *app)
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

int apppool_app_check_protocol(apr_pool_t *p, const apppool_app_t *app)
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

int apppool_app_check_preload(const apppool_app_t *app)
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

static double in_seconds(apr_int64_t us)
{
    return (double)us / APR_USEC_PER_SEC;
}

int apppool_app_check_limits(const apppool_app_t *app)
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

void apppool_app_check_effects(const apppool_app_t *app, apr_int64_t max)
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
