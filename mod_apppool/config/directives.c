/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/directives.h"

#include <http_core.h>
#include <stddef.h>

#include "mod_apppool/config/renamed.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/set.h"
#include "mod_apppool/config/value.h"

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

#define TERABYTE         (APR_INT64_C(1) << 40)
#define DAY              86400

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

    AP_INIT_TAKE1("AppRoot", apppool_set_root, VALUE(GROUP, IN_DIR(root)), ANYWHERE,
                  "directory of an application, or Off"),
    TEXT("AppCommand", "command that starts the application", command, 4096),
    TEXT("AppGroupName", "name of the application in the pool", group_name,
         APL_NAME_MAX - 1),
    WORD("AppListen", "how the application gets its socket", listen,
         "fd unix tcp"),
    WORD("AppProtocol", "what is spoken with the application", protocol,
         "http fcgi scgi uwsgi auto"),
    AP_INIT_TAKE12("AppUser", apppool_set_user, VALUE(GROUP, 0), ANYWHERE,
                   "user, and group, that the application runs as"),
    TEXT("AppEnvironment", "name of the environment: production, staging, "
         "...", environment, 64),
    AP_INIT_TAKE2("AppSetEnv", apppool_set_env, VALUE(GROUP, 0), ANYWHERE,
                  "name and value of an environment variable"),
    PATH("AppEnvFile", ANYWHERE, "file of environment variables", GROUP,
         IN_DIR(env_file)),
    SWITCH("AppPreStart", "On if the minimum is started with httpd", GROUP,
           prestart),
    AP_INIT_TAKE1("AppLog", apppool_set_log, VALUE(GROUP, IN_DIR(log)), ANYWHERE,
                  "file for what the application prints, or a command behind "
                  "|"),
    WORD("AppLogFormat", "raw if lines of AppLog are as the application "
         "prints them", log_format, "prefixed raw"),

    AP_INIT_TAKE1("AppNotify", apppool_set_notify, VALUE(GROUP, 0), ANYWHERE,
                  "command that is told when the application is in trouble"),

    NUMBER("MinInstances", ANYWHERE, "number of processes that are kept",
           GROUP, IN_DIR(min_instances), 0, APL_PROCESSES_MAX, NULL),
    NUMBER("MaxInstances", ANYWHERE, "maximum number of processes", GROUP,
           IN_DIR(max_instances), 0, APL_PROCESSES_MAX, "no limit"),
    AP_INIT_TAKE12("MaxRequests", apppool_set_requests, (void *)max_requests, ANYWHERE,
                   "number of requests after which a process is replaced, "
                   "and by how many that varies"),
    AP_INIT_TAKE1("AppConcurrency", apppool_set_concurrency,
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
    AP_INIT_TAKE1("AppReady", apppool_set_ready, VALUE(GROUP, 0), ANYWHERE,
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
    AP_INIT_TAKE1("AppStatusDetail", apppool_set_detail,
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
