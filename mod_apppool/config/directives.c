/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/directives.h"

#include <apr_fnmatch.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <stddef.h>

#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/config_origin.h"
#include "mod_apppool/config/renamed.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/value.h"
#include "mod_apppool/config/text_check.h"

/* Short, for the table. */
enum {
    GROUP = APPPOOL_GROUP,
    REQUEST = APPPOOL_REQUEST,
    SERVER = APPPOOL_SERVER,
};

#define IN_DIR(field)    offsetof(apppool_dir_t, field)
#define IN_SERVER(field) offsetof(apppool_server_t, field)
#define RANGE(...)       ((void *)&((const apppool_value_t){__VA_ARGS__}))
#define VALUE(where, at) RANGE(where, at, 0, 0, NULL, NULL)

#define READY_MAX        1024
#define NOTIFY_MAX       4096
#define LOG_MAX          4096
#define TERABYTE         (APR_INT64_C(1) << 40)
#define DAY              86400

/* ---- directives with rules of their own ---- */

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

/* The mount of AppRoot Off: it has no app. */
static apppool_mount_t nothing;

static const char *set_root(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;
    apppool_mount_t *mount = dir->mount;
    int off = !ap_cstr_casecmp(arg, "Off");
    const char *wrong = off ? apppool_value_check(cmd, dir, cmd->info, arg)
                            : apppool_value_path(cmd, dir, arg);
    char *root;
    size_t n;

    if (!wrong && mount && off != (mount == &nothing))
        wrong = apr_psprintf(cmd->pool,
                             "%s: a directory and Off in the same section",
                             cmd->cmd->name);
    if (off)
        dir->mount = &nothing;
    if (wrong || off)
        return wrong;
    root = apr_pstrdup(cmd->pool, dir->root);
    for (n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
        root[n - 1] = 0;
    if (!root[1])
        return apr_psprintf(cmd->pool, "%s: \"%s\" is the whole file system",
                            cmd->cmd->name, arg);
    dir->root = root;
    if (!mount) {
        mount = apr_pcalloc(cmd->pool, sizeof *mount);
        APR_ARRAY_PUSH(apppool_config()->mounts, apppool_mount_t *) = mount;
    }
    mount->place = apppool_config_origin_place(cmd);
    mount->base_uri = base_uri_of(cmd);
    mount->server = cmd->server;
    mount->section = cmd->path ? dir : NULL;
    dir->mount = mount;
    return NULL;
}

static const char *set_user(cmd_parms *cmd, void *dir_, const char *user,
                            const char *group)
{
    apppool_dir_t *dir = dir_;
    const apppool_value_t *v = cmd->info;
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
    const apppool_value_t *v = cmd->info;
    const char *wrong = apppool_value_check(cmd, dir, v, name);

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

/* A path is sent in a request line: it holds nothing that ends it. */
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
                            "%s: \"%s\" is neither notify nor accept nor a "
                            "path as in a URL: / and up to %d visible ASCII "
                            "characters more",
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
                            "%s: \"%s\" is no command of 1 to %d bytes, with "
                            "or without a | before it",
                            cmd->cmd->name, arg, NOTIFY_MAX);
    dir->notify = command;
    return NULL;
}

/* Without a second number there is no jitter; it is not inherited. */
static const char *set_requests(cmd_parms *cmd, void *dir, const char *arg,
                                const char *more)
{
    return apppool_value_numbers(cmd, dir, arg, more ? more : "0");
}

static const char *set_concurrency(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;

    if (ap_cstr_casecmp(arg, "auto"))
        return apppool_value_number(cmd, dir, arg);
    dir->concurrency = APL_CONCURRENCY_AUTO;
    return apppool_value_check(cmd, dir, cmd->info, arg);
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
                            "%s: \"%s\" is no command of 1 to %d bytes behind "
                            "a |",
                            cmd->cmd->name, arg, LOG_MAX);
    dir->log = apr_pstrcat(cmd->pool, "|", command, NULL);
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

/* ---- the table ---- */

static const apppool_value_t max_requests[] = {
    {GROUP, IN_DIR(max_requests), 0, 1000000000, "no limit", NULL},
    {GROUP, IN_DIR(jitter), 0, 1000000000, NULL, NULL},
};
static const apppool_value_t capacity[] = {
    {SERVER, IN_SERVER(processes), 1, APL_PROCESSES_MAX, NULL, NULL},
    {SERVER, IN_SERVER(sessions), 1, APL_SESSIONS_MAX, NULL, NULL},
};

#define ANYWHERE (RSRC_CONF | ACCESS_CONF)
#define NUMBER(name, where, help, ...)                                         \
    AP_INIT_TAKE1(name, apppool_value_number, RANGE(__VA_ARGS__, NULL), where, \
                  help)
#define TIME(name, help, scope, field, max, zero)                              \
    AP_INIT_TAKE1(name, apppool_value_time,                                    \
                  RANGE(scope, IN_DIR(field), 0, max, zero, NULL), ANYWHERE,   \
                  help)
#define SWITCH(name, help, scope, field)                                       \
    AP_INIT_TAKE1(name, apppool_value_switch, VALUE(scope, IN_DIR(field)),     \
                  ANYWHERE, help)
#define WORD(name, help, field, words)                                         \
    AP_INIT_TAKE1(name, apppool_value_word,                                    \
                  RANGE(GROUP, IN_DIR(field), 0, 0, NULL, words), ANYWHERE,    \
                  help)
#define TEXT(name, help, field, max)                                           \
    AP_INIT_TAKE1(name, apppool_value_text,                                    \
                  RANGE(GROUP, IN_DIR(field), 1, max, NULL, NULL), ANYWHERE,   \
                  help)
#define PATH(name, where, help, scope, at)                                     \
    AP_INIT_TAKE1(name, apppool_value_path, VALUE(scope, at), where, help)

/* clang-format off */
const command_rec apppool_directives[] = {
    NUMBER("MaxPoolSize", RSRC_CONF, "number of application processes, all "
           "apps together", SERVER, IN_SERVER(max_pool_size), 1,
           APL_PROCESSES_MAX, NULL),
    AP_INIT_TAKE12("AppPoolCapacity", apppool_value_numbers,
                   (void *)capacity, RSRC_CONF,
                   "number of processes, and of requests, that the pool has "
                   "room for"),
    PATH("AppPoolRuntimeDir", RSRC_CONF, "directory for sockets and state",
         SERVER, IN_SERVER(runtime_dir)),
    PATH("AppPoolLibexec", RSRC_CONF, "directory of apppool-watchdog and "
         "apppool-spawner", SERVER, IN_SERVER(libexec)),

    PATH("AppPoolSpoolDir", RSRC_CONF, "directory of temporary files", SERVER,
         IN_SERVER(spool_dir)),
    NUMBER("AppPoolSpoolFree", RSRC_CONF, "percent of its file system that "
           "stored responses leave free", SERVER, IN_SERVER(spool_free), 0, 99,
           "all of it may be used"),

    AP_INIT_TAKE1("AppRoot", set_root, VALUE(GROUP, IN_DIR(root)), ANYWHERE,
                  "directory of an application, or Off"),
    TEXT("AppCommand", "command that starts the application", command, 4096),
    TEXT("AppGroupName", "name of the application in the pool", group_name,
         APL_NAME_MAX - 1),
    WORD("AppListen", "how the application gets its socket", listen,
         "fd unix tcp"),
    WORD("AppProtocol", "what is spoken with the application", protocol,
         "http fcgi scgi uwsgi auto"),
    AP_INIT_TAKE12("AppUser", set_user, VALUE(GROUP, 0), ANYWHERE,
                   "user, and group, that the application runs as"),
    TEXT("AppEnvironment", "name of the environment: production, staging, "
         "...", environment, 64),
    AP_INIT_TAKE2("AppSetEnv", set_env, VALUE(GROUP, 0), ANYWHERE,
                  "name and value of an environment variable"),
    PATH("AppEnvFile", ANYWHERE, "file of environment variables", GROUP,
         IN_DIR(env_file)),
    SWITCH("AppPreStart", "On if the minimum is started with httpd", GROUP,
           prestart),
    AP_INIT_TAKE1("AppLog", set_log, VALUE(GROUP, IN_DIR(log)), ANYWHERE,
                  "file for what the application prints, or a command behind "
                  "|"),
    WORD("AppLogFormat", "raw if lines of AppLog are as the application "
         "prints them", log_format, "prefixed raw"),

    AP_INIT_TAKE1("AppNotify", set_notify, VALUE(GROUP, 0), ANYWHERE,
                  "command that is told when the application is in trouble"),

    NUMBER("MinInstances", ANYWHERE, "number of processes that are kept",
           GROUP, IN_DIR(min_instances), 0, APL_PROCESSES_MAX, NULL),
    NUMBER("MaxInstances", ANYWHERE, "maximum number of processes", GROUP,
           IN_DIR(max_instances), 0, APL_PROCESSES_MAX, "no limit"),
    AP_INIT_TAKE12("MaxRequests", set_requests, (void *)max_requests, ANYWHERE,
                   "number of requests after which a process is replaced, "
                   "and by how many that varies"),
    AP_INIT_TAKE1("AppConcurrency", set_concurrency,
                  RANGE(GROUP, IN_DIR(concurrency), 0, 1000000, "no limit",
                        NULL),
                  ANYWHERE, "number of requests that a process takes at a "
                  "time, or auto"),
    AP_INIT_TAKE1("AppMemoryLimit", apppool_value_size,
                  RANGE(GROUP, IN_DIR(memory_limit), 0, TERABYTE, "no limit",
                        NULL),
                  ANYWHERE, "memory above which a process is replaced"),
    TIME("PoolIdleTime", "time after which an idle process ends", GROUP,
         idle_time, 365 * DAY, "never"),

    TIME("AppHungAfter", "time after which a request makes its process count "
         "as hung", GROUP, hung_after, 365 * DAY, "never"),
    NUMBER("AppSpawnIfUnder", ANYWHERE, "number of processes that are not "
           "hung, below which some are started above the limits", GROUP,
           IN_DIR(spawn_if_under), 0, APL_PROCESSES_MAX, "none"),
    NUMBER("AppHungExtra", ANYWHERE, "number of processes above the limits, "
           "in place of hung ones", GROUP, IN_DIR(hung_extra), 0,
           APL_PROCESSES_MAX, "none"),
    TIME("AppKillAfter", "time after which a request's process is ended",
         GROUP, kill_after, 365 * DAY, "never"),
    TIME("AppHungStopTimeout", "time between SIGTERM and SIGKILL then", GROUP,
         hung_stop_timeout, DAY, "SIGKILL at once"),
    NUMBER("AppMaxUnkillable", ANYWHERE, "processes that may survive SIGKILL",
           GROUP, IN_DIR(max_unkillable), 0, APL_PROCESSES_MAX, NULL),

    SWITCH("AppGlobalQueue", "Off if requests queue up for a process instead "
           "of the application", GROUP, global_queue),
    NUMBER("AppMaxQueue", ANYWHERE, "number of requests that may wait", GROUP,
           IN_DIR(max_queue), 0, 1000000, "no limit"),
    NUMBER("AppMaxLongLived", ANYWHERE, "number of upgraded connections and "
           "event streams", GROUP, IN_DIR(max_long_lived), 0, 1000000,
           "no limit"),
    TIME("AppQueueTimeout", "time that a request waits for a process",
         REQUEST, queue_timeout, DAY, "not at all"),

    TIME("AppStartTimeout", "time that the application may take to start",
         GROUP, start_timeout, DAY, NULL),
    AP_INIT_TAKE1("AppReady", set_ready, VALUE(GROUP, 0), ANYWHERE,
                  "when a new process gets requests: notify, accept, or a "
                  "path to be asked for"),
    TIME("AppStopTimeout", "time between SIGTERM and SIGKILL", GROUP,
         stop_timeout, DAY, "SIGKILL at once"),
    AP_INIT_TAKE1("AppStopSignal", apppool_value_signal,
                  RANGE(GROUP, IN_DIR(stop_signal), 1, 0, NULL, NULL), ANYWHERE,
                  "signal that asks a process to end"),
    TIME("AppDrainTimeout", "time that WebSockets and event streams keep a "
         "process that is to end", GROUP, drain_timeout, 365 * DAY, "no limit"),
    SWITCH("AppNoNewPrivileges", "Off if setuid and setgid programs are of "
           "effect for the application", GROUP, no_new_privileges),
    TIME("AppTimeout", "time that the application may be silent", REQUEST,
         timeout, DAY, NULL),
    AP_INIT_TAKE1("AppDumpSignal", apppool_value_signal,
                  VALUE(GROUP, IN_DIR(dump_signal)), ANYWHERE,
                  "signal that is sent before a process is killed, or none"),
    TIME("AppSlowAfter", "time after which a request is reported in the log",
         GROUP, slow_after, DAY, "never"),
    SWITCH("AppBufferRequest", "Off if request bodies are passed on as they "
           "come", REQUEST, buffer_request),
    SWITCH("AppBufferResponse", "Off if responses are passed on as they come",
           REQUEST, buffer_response),
    AP_INIT_TAKE1("AppSpoolLimit", apppool_value_size,
                  RANGE(REQUEST, IN_DIR(spool_limit), 0, TERABYTE, "no limit",
                        NULL),
                  ANYWHERE, "bytes of a response that are stored"),
    AP_INIT_TAKE_ARGV("AppSendFile", apppool_sendfile_dirs_set,
                      VALUE(REQUEST, 0), ANYWHERE, "On if the application may "
                      "name files to be sent, and their directories"),
    SWITCH("AppFriendlyErrors", "On if the client is shown why an application "
           "did not start", REQUEST, friendly_errors),
    SWITCH("AppTraceparent", "Off if requests are not put into a trace",
           REQUEST, traceparent),
    TEXT("AppRestartDir", "directory of restart.txt, absolute or in AppRoot",
         restart_dir, 1024),
    WORD("AppRestartMode", "rolling if processes are replaced one by one, "
         "blocking if all end at once", rolling, "blocking rolling"),
    TIME("AppStatInterval", "time between two checks of restart.txt", GROUP,
         stat_interval, DAY, "with each request"),
    AP_INIT_TAKE1("AppStatusDetail", set_detail,
                  RANGE(REQUEST, IN_DIR(status_detail), 0, 0, NULL,
                        "basic full"),
                  ACCESS_CONF, "full if the status shows query strings"),
    AP_INIT_TAKE1("AppStatusAllowActions", apppool_value_switch,
                  VALUE(REQUEST, IN_DIR(status_actions)), ACCESS_CONF,
                  "On if the status page has buttons"),
    APPPOOL_RENAMED,
    {0},
};
/* clang-format on */
