/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/store_user.h"

#include <apr_strings.h>
#include <errno.h>
#include <grp.h>
#include <http_log.h>
#include <pwd.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <unixd.h>

#include "mod_apppool/config/config.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/value.h"
#include "base/userdb.h"

APLOG_USE_MODULE(apppool);

#define OWN_USER "apppool-store"

static const char *missing(const cmd_parms *cmd, const char *what,
                           const char *name, int error)
{
    const char *why = userdb_missing(error)
                          ? apr_psprintf(cmd->pool, USERDB_NO_SUCH, what, name)
                          : apr_psprintf(cmd->pool, USERDB_LOOKUP_FAILED, what,
                                         name, strerror(error));

    return apr_pstrcat(cmd->pool, cmd->cmd->name, ": ", why, NULL);
}

/* A user by name or number, and its group. */
static const char *find_user(const cmd_parms *cmd, const char *name, uid_t *uid,
                             gid_t *gid)
{
    const struct passwd *pw;
    uint32_t n = 0;
    int number = userdb_number(name, &n);

    errno = 0;
    pw = number ? getpwuid(n) : getpwnam(name);
    if (!pw && !number)
        return missing(cmd, "user", name, errno);
    *uid = pw ? pw->pw_uid : n;
    *gid = pw ? pw->pw_gid : (gid_t)-1;
    return NULL;
}

static const char *find_group(const cmd_parms *cmd, const char *name,
                              gid_t *gid)
{
    const struct group *gr;
    uint32_t n = 0;
    int number = userdb_number(name, &n);

    errno = 0;
    gr = number ? getgrgid(n) : getgrnam(name);
    if (!gr && !number)
        return missing(cmd, "group", name, errno);
    *gid = gr ? gr->gr_gid : n;
    return NULL;
}

/* @return why they cannot be, after the name of the directive; NULL: they
 * can */
static const char *refusal(uid_t uid, gid_t gid)
{
    if (uid == 0)
        return "is root, and the store does not run as root";
    if (gid == (gid_t)-1)
        return "has no entry in the user database: name a group as well";
    if (geteuid() == 0)
        return gid == 0 ? "has root's group, and the store does not run in it: "
                          "name another group as well"
                        : NULL;
    return uid != geteuid() || gid != getegid()
               ? "is not possible: httpd was not started as root, so the store "
                 "runs as the same user"
               : NULL;
}

const char *apppool_store_user_set(cmd_parms *cmd, void *dir, const char *user,
                                   const char *group)
{
    apppool_server_t *server =
        ap_get_module_config(cmd->server->module_config, &apppool_module);
    const char *wrong = apppool_value_check(cmd, dir, cmd->info, user);

    if (!wrong)
        wrong = find_user(cmd, user, &server->store_uid, &server->store_gid);
    if (!wrong && group)
        wrong = find_group(cmd, group, &server->store_gid);
    if (wrong)
        return wrong;
    wrong = refusal(server->store_uid, server->store_gid);
    return wrong ? apr_psprintf(cmd->pool, "%s: \"%s\" %s", cmd->cmd->name,
                                user, wrong)
                 : NULL;
}

void apppool_store_user(const server_rec *main_server, uid_t *uid, gid_t *gid)
{
    apppool_server_t server = apppool_config_server(main_server);
    const struct passwd *pw;

    *uid = server.store_uid;
    *gid = server.store_gid;
    if (*uid != USERDB_NOBODY)
        return;
    if (geteuid() != 0) {
        *uid = geteuid();
        *gid = getegid();
        return;
    }
    pw = getpwnam(OWN_USER);
    if (pw && pw->pw_uid != 0 && pw->pw_gid != 0) {
        *uid = pw->pw_uid;
        *gid = pw->pw_gid;
        return;
    }
    *uid = ap_unixd_config.user_id;
    *gid = ap_unixd_config.group_id;
}

/* @return the first application that runs as this user; NULL: none */
static const apppool_app_t *app_of(uid_t uid)
{
    const apr_array_header_t *apps = apppool_app_all();
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (app->uid == uid)
            return app;
    }
    return NULL;
}

/* It could read the table, and so the secret. @return 1: no application can */
static int check_apps(const apppool_server_t *server, uid_t uid)
{
    const apppool_app_t *app = app_of(uid);

    if (!app)
        return 1;
    ap_log_error(
        APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, NULL,
        "apppool: AppStoreKey %s: the application of AppRoot (%s) runs as the "
        "user of the store, so it could read the secret. Name another "
        "user with AppStoreUser, or with AppUser",
        server->store_key, app->place);
    return 0;
}

const char *apppool_store_user_other(uid_t uid)
{
    if (geteuid() != 0)
        return NULL;
    if (uid == ap_unixd_config.user_id)
        return "httpd";
    return app_of(uid) ? "an application" : NULL;
}

int apppool_store_user_check(const server_rec *main_server)
{
    const apppool_server_t *server =
        ap_get_module_config(main_server->module_config, &apppool_module);
    uid_t uid;
    gid_t gid;

    apppool_store_user(main_server, &uid, &gid);
    if (!server->store_key || apppool_store_spaces()->nelts == 0 ||
        geteuid() != 0)
        return 1;
    if (uid != ap_unixd_config.user_id)
        return check_apps(server, uid);
    ap_log_error(
        APLOG_MARK, APLOG_STARTUP | APLOG_ERR, 0, NULL,
        "apppool: AppStoreKey %s: the store runs as the user of httpd, "
        "so each program that httpd runs could read the secret. Name "
        "another user with AppStoreUser, or make one: useradd "
        "--system " OWN_USER,
        server->store_key);
    return 0;
}
