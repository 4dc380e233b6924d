/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/directives.h"

#include <apr_fnmatch.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <string.h>

#include "mod_apppool/config/error_format.h"
#include "mod_apppool/config/php_directives.h"
#include "mod_apppool/config/php_rule.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/store_cluster.h"
#include "mod_apppool/config/store_key.h"
#include "mod_apppool/config/store_user.h"
#include "mod_apppool/config/value.h"
#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/config_origin.h"
#include "mod_apppool/config/section.h"
#include "mod_apppool/config/text_check.h"
#include "base/url_path.h"
#include "base/contract.h"

/* ---- values that have rules of their own ---- */

#define READY_MAX  1024
#define NOTIFY_MAX 4096
#define LOG_MAX    4096
#define MEGABYTE   (APR_INT64_C(1) << 20)

/* The URI of <Location "/shop">; a pattern has none. */
static const char *base_uri_of(const cmd_parms *cmd)
{
    const ap_directive_t *section = cmd->directive->parent;
    char *uri;
    size_t n;

    if (!cmd->path || !section ||
        ap_cstr_casecmp(section->directive, "<Location") ||
        *section->args == '~' || *cmd->path != '/' ||
        apr_fnmatch_test(cmd->path))
        return "";
    uri = apr_pstrdup(cmd->pool, cmd->path);
    for (n = strlen(uri); n > 0 && uri[n - 1] == '/'; n--)
        uri[n - 1] = 0;
    return uri;
}

/* The path of <Directory /srv/shop>; NULL: it is in another section. */
static const char *directory_of(const cmd_parms *cmd)
{
    const ap_directive_t *section = cmd->directive->parent;

    return section && apppool_section_is(section, "<Directory")
               ? apppool_section_argument(cmd->pool, section)
               : NULL;
}

/* The mount of AppRoot Off: it has no app. */
static apppool_mount_t nothing;

static const char *set_root(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;
    apppool_mount_t *mount = dir->mount;
    int off = !ap_cstr_casecmp(arg, "Off");
    const char *wrong = off ? apppool_value_check(cmd, dir, cmd->info, arg)
                            : apppool_value_path(cmd, dir, arg);
    char *root, *prefix;
    size_t n;

    if (!wrong && mount && off != (mount == &nothing))
        wrong = apr_psprintf(cmd->pool,
                             "%s: the same section has a directory and "
                             "Off; only one of them is allowed",
                             cmd->cmd->name);
    if (off)
        dir->mount = &nothing;
    if (wrong || off)
        return wrong;
    root = apr_pstrdup(cmd->pool, dir->root);
    for (n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
        root[n - 1] = 0;
    if (!root[1])
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is the whole file system; name the "
                            "directory of the application",
                            cmd->cmd->name, arg);
    if (!apppool_text_check_is_text(base_uri_of(cmd)))
        return apr_psprintf(cmd->pool,
                            "%s: the path of <Location> has to be UTF-8 "
                            "without control characters",
                            cmd->cmd->name);
    dir->root = root;
    if (!mount) {
        mount = apr_pcalloc(cmd->pool, sizeof *mount);
        APR_ARRAY_PUSH(apppool_config()->mounts, apppool_mount_t *) = mount;
    }
    mount->place = apppool_config_origin_place(cmd);
    mount->base_uri = base_uri_of(cmd);
    mount->directory = directory_of(cmd);
    mount->server = cmd->server;
    mount->section = cmd->path ? dir : NULL;
    dir->mount = mount;
    prefix = apr_palloc(cmd->pool, strlen(mount->base_uri) * 3 + 1);
    url_path_encode(mount->base_uri, "", prefix);
    mount->prefix = prefix;
    return NULL;
}

static const char *set_user(cmd_parms *cmd, void *dir_, const char *user,
                            const char *group)
{
    apppool_dir_t *dir = dir_;
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, user);

    if (!wrong && group)
        wrong = apppool_value_check(cmd, dir, v, group);
    if (!wrong)
        wrong = apppool_app_user_check(cmd->pool, user, group, &dir->user,
                                       &dir->user_group);
    return wrong;
}

static const char *set_env(cmd_parms *cmd, void *dir_, const char *name,
                           const char *value)
{
    apppool_dir_t *dir = dir_;
    const apppool_setting_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, name);

    if (!value)
        value = ""; /* httpd has no empty argument */
    if (!wrong)
        wrong = apppool_value_check(cmd, dir, v, value);
    if (!wrong)
        wrong = apppool_text_check_variable(cmd->pool, cmd->cmd->name, name);
    if (wrong)
        return wrong;
    if (!dir->env)
        dir->env = apr_hash_make(cmd->pool);
    apr_hash_set(dir->env, name, APR_HASH_KEY_STRING, value);
    return NULL;
}

/* A path is sent in a request line, so it must not contain a character that
 * ends the path. */
static const char *set_ready(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;
    const char *wrong = apppool_value_check(cmd, dir, cmd->info, arg), *c;

    if (wrong)
        return wrong;
    for (c = arg; *c > ' ' && *c < 0x7f && *c != '#'; c++)
        ;
    if (*arg == '/' && !*c && c - arg <= READY_MAX)
        dir->ready = arg;
    else if (!ap_cstr_casecmp(arg, "accept"))
        dir->ready = "accept";
    else if (!ap_cstr_casecmp(arg, "notify"))
        dir->ready = "notify";
    else
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not notify, accept or a path as "
                            "in a URL: / and up to %d more visible ASCII "
                            "characters",
                            cmd->cmd->name, arg, READY_MAX - 1);
    return NULL;
}

/* A command, with or without the | of a pipe. */
static const char *set_notify(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;
    const char *wrong = apppool_value_check(cmd, dir, cmd->info, arg);
    const char *command = arg + (*arg == '|');

    if (wrong)
        return wrong;
    command += strspn(command, " ");
    if (!*command || strlen(command) > NOTIFY_MAX)
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not a command of 1 to %d bytes, "
                            "with or without a | before it",
                            cmd->cmd->name, arg, NOTIFY_MAX);
    dir->notify = command;
    return NULL;
}

/* Without a second number there is no jitter; it is not inherited. */
static const char *set_requests(cmd_parms *cmd, void *dir, const char *arg,
                                const char *jitter)
{
    return apppool_value_numbers(cmd, dir, arg, jitter ? jitter : "0");
}

static const char *set_concurrency(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;

    if (ap_cstr_casecmp(arg, "auto"))
        return apppool_value_number(cmd, dir, arg);
    dir->concurrency = APL_CONCURRENCY_AUTO;
    return apppool_value_check(cmd, dir, cmd->info, arg);
}

/* Passenger's memory limit is a number of megabytes. */
static const char *set_memory_limit(cmd_parms *cmd, void *dir, const char *arg)
{
    const char *wrong = apppool_value_size(cmd, dir, arg);
    apr_int64_t n;

    if (wrong || !apppool_value_parse_size(arg, MEGABYTE - 1, &n) || n == 0 ||
        !apr_isdigit(arg[strlen(arg) - 1]))
        return wrong;
    return apr_psprintf(cmd->pool,
                        "%s: \"%s\" is a number of bytes, and less than any "
                        "process uses: %sM would be megabytes (0 means no "
                        "limit)",
                        cmd->cmd->name, arg, arg);
}

/* As ErrorLog: two | are one. */
static const char *set_log(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;
    const char *wrong, *command = arg + 1;

    if (*arg != '|')
        return apppool_value_path(cmd, dir, arg);
    wrong = apppool_value_check(cmd, dir, cmd->info, arg);
    if (wrong)
        return wrong;
    command += *command == '|';
    if (!command[strspn(command, "$ ")] || strlen(command) > LOG_MAX)
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not a | and a command of 1 to %d "
                            "bytes",
                            cmd->cmd->name, arg, LOG_MAX);
    dir->log = apr_pstrcat(cmd->pool, "|", command, NULL);
    return NULL;
}

/* auto, Off, or a script. */
static const char *set_front_controller(cmd_parms *cmd, void *dir_,
                                        const char *arg)
{
    apppool_dir_t *dir = dir_;
    const char *wrong = apppool_value_text(cmd, dir, arg);

    if (wrong)
        return wrong;
    if (!ap_cstr_casecmp(arg, "auto"))
        dir->front_controller = "auto";
    else if (!ap_cstr_casecmp(arg, "Off"))
        dir->front_controller = "Off";
    else if (apppool_php_rule_suffix(arg) < 0 || !strncmp(arg, "../", 3) ||
             strstr(arg, "/../"))
        return apr_psprintf(cmd->pool,
                            "%s: \"%s\" is not auto, Off or the path of a "
                            "script of PHP below DocumentRoot, such as "
                            "index.php",
                            cmd->cmd->name, arg);
    else
        dir->front_controller = arg + strspn(arg, "/");
    return NULL;
}

/* Query strings are recorded only if a status page shows them. */
static const char *set_detail(cmd_parms *cmd, void *dir_, const char *arg)
{
    const apppool_dir_t *dir = dir_;
    const char *wrong = apppool_value_word(cmd, dir_, arg);

    if (!wrong && dir->status_detail)
        apppool_config()->queries = 1;
    return wrong;
}

/* ---- directives that are no more ---- */

/* The old name is an error that says the new one. */
static const char *renamed(cmd_parms *cmd, void *dir, const char *args)
{
    (void)dir;
    (void)args;
    return apr_psprintf(cmd->pool, "%s has another name now: %s",
                        cmd->cmd->name, (const char *)cmd->info);
}

/* It is an error that says what to do. */
static const char *removed(cmd_parms *cmd, void *dir, const char *args)
{
    (void)dir;
    (void)args;
    return apr_pstrcat(cmd->pool, cmd->cmd->name, ": ", (const char *)cmd->info,
                       NULL);
}

#define RENAMED(old, now)                                                      \
    AP_INIT_RAW_ARGS(old, renamed, (void *)(now), OR_ALL,                      \
                     "has another name now: " now)
#define REMOVED(name, what)                                                    \
    AP_INIT_RAW_ARGS(name, removed, (void *)(what), OR_ALL, what)

#define NO_FILES   "values in files are gone: remove this line"

/* ---- the table ---- */

#define IN_SERVER  RSRC_CONF
#define IN_STATUS  ACCESS_CONF
#define IN_REQUEST (RSRC_CONF | ACCESS_CONF)
#define IN_GROUP   (RSRC_CONF | ACCESS_CONF)
#define IN_KEPT    (RSRC_CONF | ACCESS_CONF)
#define IN_SENT    (RSRC_CONF | ACCESS_CONF)
#define IN_POOL    (RSRC_CONF | ACCESS_CONF)

#define SET_SWITCH apppool_value_switch
#define SET_TIME   apppool_value_time
#define SET_NUMBER apppool_value_number
#define SET_SIZE   apppool_value_size
#define SET_SIGNAL apppool_value_signal
#define SET_TEXT   apppool_value_text
#define SET_PATH   apppool_value_path
#define SET_WORD   apppool_value_word
#define SET_PAIR   apppool_value_word

const command_rec apppool_directives[] = {
#define OWN(arguments, function, scope, kind, name, class, field, otherwise,   \
            key, range, help)                                                  \
    AP_INIT_##arguments(#name, function,                                       \
                        (void *)&apppool_settings[APPPOOL_##name], IN_##scope, \
                        help),
#define SECOND_VALUE(...)
#define SETTING(scope, kind, name, class, field, otherwise, key, range, help)  \
    AP_INIT_TAKE1(#name, SET_##kind,                                           \
                  (void *)&apppool_settings[APPPOOL_##name], IN_##scope,       \
                  help),
#include "base/settings.def"
    RENAMED("AppMaxZombies", "AppMaxUnkillable"),
    RENAMED("AppSlowLog", "AppSlowAfter"),
    RENAMED("AppDyingLimit", "AppHungStopTimeout"),
    RENAMED("AppStatusAllowKill", "AppStatusAllowActions"),
    RENAMED("AppMaxLasting", "AppMaxLongLived"),
    RENAMED("AppDrainTimeout", "AppRetireTimeout"),
    RENAMED("AppStatInterval", "AppRestartCheckInterval"),
    REMOVED("AppStoreLarge", NO_FILES),
    REMOVED("AppStoreTempDir", NO_FILES),
    REMOVED("AppStoreDisk", NO_FILES),
    APPPOOL_PHP_DIRECTIVES,
    APPPOOL_ERROR_FORMAT,
    {0},
};
