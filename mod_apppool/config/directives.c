/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/directives.h"

#include <http_core.h>
#include <stddef.h>

#include "mod_apppool/config/error_format.h"
#include "mod_apppool/config/php_directives.h"
#include "mod_apppool/config/removed.h"
#include "mod_apppool/config/renamed.h"
#include "mod_apppool/config/sendfile_dirs.h"
#include "mod_apppool/config/set.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/store_cluster.h"
#include "mod_apppool/config/store_key.h"
#include "mod_apppool/config/store_user.h"
#include "mod_apppool/config/value.h"
#include "base/contract.h"

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

#define KILOBYTE         (APR_INT64_C(1) << 10)
#define MEGABYTE         (APR_INT64_C(1) << 20)
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

static const apppool_value_t save[] = {
    {SERVER, IN_SERVER(store_save), 0, 0, NULL, NULL},
    {SERVER, IN_SERVER(store_save_every), 0, CONTRACT_STORE_EVERY_MAX, NULL,
     NULL},
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
    NUMBER("MaxPoolSize", RSRC_CONF,
           "Maximum number of processes of all applications together", SERVER,
           IN_SERVER(max_pool_size), 1, APL_PROCESSES_MAX, NULL),
    AP_INIT_TAKE12("AppPoolCapacity", apppool_value_numbers, (void *)capacity,
                   RSRC_CONF,
                   "Number of processes and sessions that the shared memory of "
                   "the pool has room for"),
    PATH("AppPoolRuntimeDir", RSRC_CONF,
         "The directory of sockets, FIFOs, the app table and the registry",
         SERVER, IN_SERVER(runtime_dir)),
    PATH("AppPoolLibexec", RSRC_CONF,
         "The directory of the programs apppool-watchdog, apppool-spawner and "
         "apppool-store",
         SERVER, IN_SERVER(libexec)),

    PATH("AppPoolSpoolDir", RSRC_CONF,
         "The directory for request bodies and responses that do not fit into "
         "memory", SERVER, IN_SERVER(spool_dir)),
    NUMBER("AppPoolSpoolFree", RSRC_CONF,
           "Percentage of the file system that stored responses leave free",
           SERVER, IN_SERVER(spool_free), 0, 99, "all of it may be used"),

    AP_INIT_TAKE1("AppRoot", apppool_set_root, VALUE(GROUP, IN_DIR(root)),
                  ANYWHERE,
                  "The directory of an application; everything that is not a "
                  "file of DocumentRoot goes to the application"),
    TEXT("AppCommand",
         "The command that starts one process of the application", command,
         4096),
    TEXT("AppGroupName",
         "The name under which the processes of an application are shared, "
         "shown and logged", group_name, APL_NAME_MAX - 1),
    WORD("AppListen",
         "The way in which the application gets the socket that it listens on",
         listen, "fd unix tcp"),
    WORD("AppProtocol",
         "The protocol that httpd speaks with the application", protocol,
         "http fcgi scgi uwsgi auto"),
    AP_INIT_TAKE12("AppUser", apppool_set_user, VALUE(GROUP, 0), ANYWHERE,
                   "The user that runs the processes of the application"),
    TEXT("AppEnvironment",
         "The name of the environment that the application runs in",
         environment, 64),
    AP_INIT_TAKE2("AppSetEnv", apppool_set_env, VALUE(GROUP, 0), ANYWHERE,
                  "Sets an environment variable of the application"),
    PATH("AppEnvFile", ANYWHERE,
         "A file of environment variables, for secrets that do not belong in "
         "the configuration", GROUP, IN_DIR(env_file)),
    SWITCH("AppPreStart",
           "Starts MinInstances processes when httpd starts, and not with the "
           "first request", GROUP, prestart),
    WORD("AppPreload",
         "Starts processes as copies of a process that has loaded the code of "
         "the application", preload, "Off On auto"),
    TIME("AppPreloadIdleTime",
         "Time after which a template that has forked nothing ends, while the "
         "application has fewer than two processes", GROUP, preload_idle,
         365 * DAY, "never"),
    AP_INIT_TAKE1("AppLog", apppool_set_log, VALUE(GROUP, IN_DIR(log)),
                  ANYWHERE,
                  "The file or the command that gets the standard output and "
                  "standard error of the application"),
    WORD("AppLogFormat",
         "Decides how the lines of AppLog look", log_format, "prefixed raw"),

    AP_INIT_TAKE1("AppNotify", apppool_set_notify, VALUE(GROUP, 0), ANYWHERE,
                  "A command that is run when the application is in trouble"),

    NUMBER("MinInstances", ANYWHERE,
           "Minimum number of processes that are kept running after the first "
           "request", GROUP, IN_DIR(min_instances), 0, APL_PROCESSES_MAX, NULL),
    NUMBER("MaxInstances", ANYWHERE,
           "Maximum number of processes of one application", GROUP,
           IN_DIR(max_instances), 0, APL_PROCESSES_MAX, "no limit"),
    AP_INIT_TAKE12("MaxRequests", apppool_set_requests, (void *)max_requests,
                   ANYWHERE,
                   "Number of requests after which a process is replaced"),
    AP_INIT_TAKE1("AppConcurrency", apppool_set_concurrency,
                  RANGE(GROUP, IN_DIR(concurrency), 0, 1000000, "no limit",
                        NULL),
                  ANYWHERE,
                  "Maximum number of requests that a process gets at the same "
                  "time"),
    AP_INIT_TAKE1("AppMemoryLimit", apppool_set_memory_limit,
                  RANGE(GROUP, IN_DIR(memory_limit), 0, TERABYTE, "no limit",
                        NULL),
                  ANYWHERE,
                  "Amount of memory above which a process is replaced"),
    TIME("PoolIdleTime",
         "Time after which an idle process ends", GROUP, idle_time, 365 * DAY,
         "never"),

    TIME("AppHungAfter",
         "A process whose request takes longer than this counts as hung; it no "
         "longer counts as capacity", GROUP, hung_after, 365 * DAY, "never"),
    NUMBER("AppSpawnIfUnder", ANYWHERE,
           "Allows processes above the limits while fewer than N processes of "
           "the application are not hung", GROUP, IN_DIR(spawn_if_under), 0,
           APL_PROCESSES_MAX, "none"),
    NUMBER("AppHungExtra", ANYWHERE,
           "Maximum number of hung processes of the application that do not "
           "count against MaxInstances and MaxPoolSize", GROUP,
           IN_DIR(hung_extra), 0, APL_PROCESSES_MAX, "none"),
    TIME("AppKillAfter",
         "A process whose request takes longer than this is killed, together "
         "with its requests", GROUP, kill_after, 365 * DAY, "never"),
    TIME("AppHungStopTimeout",
         "Delay between SIGTERM and SIGKILL for a process that is killed "
         "because of a request", GROUP, hung_stop_timeout, DAY,
         "SIGKILL at once"),
    NUMBER("AppMaxUnkillable", ANYWHERE,
           "Maximum number of unkillable processes; with more of them, no "
           "process of the application is started", GROUP,
           IN_DIR(max_unkillable), 0, APL_PROCESSES_MAX, NULL),

    SWITCH("AppGlobalQueue",
           "Selects one queue for the whole application, or one queue for each "
           "process", GROUP, global_queue),
    NUMBER("AppMaxQueue", ANYWHERE,
           "Maximum number of requests that may wait for a process", GROUP,
           IN_DIR(max_queue), 0, 1000000, "no limit"),
    NUMBER("AppMaxLongLived", ANYWHERE,
           "Maximum number of long-lived connections that an application may "
           "have", GROUP, IN_DIR(max_long_lived), 0, 1000000, "no limit"),
    TIME("AppQueueTimeout",
         "Maximum time that a request waits for a process", REQUEST,
         queue_timeout, DAY, "not at all"),

    TIME("AppStartTimeout",
         "Maximum time that a process may take to become ready", GROUP,
         start_timeout, DAY, NULL),
    AP_INIT_TAKE1("AppReady", apppool_set_ready, VALUE(GROUP, 0), ANYWHERE,
                  "The condition that a new process must meet before it gets "
                  "its first request"),
    TIME("AppStopTimeout",
         "Delay between SIGTERM (or AppStopSignal) and SIGKILL", GROUP,
         stop_timeout, DAY, "SIGKILL at once"),
    AP_INIT_TAKE1("AppStopSignal", apppool_value_signal,
                  RANGE(GROUP, IN_DIR(stop_signal), 1, 0, NULL, NULL), ANYWHERE,
                  "The signal that asks a process, and everything that it has "
                  "started, to end"),
    TIME("AppRetireTimeout",
         "Maximum time that long-lived connections can keep a process that "
         "retires", GROUP, retire_timeout, 365 * DAY, "no limit"),
    SWITCH("AppNoNewPrivileges",
           "Prevents the application, and everything that it starts, from "
           "gaining rights by setuid or setgid programs or by file "
           "capabilities", GROUP, no_new_privileges),
    TIME("AppTimeout",
         "Maximum time that an application may send nothing during a request",
         REQUEST, timeout, DAY, NULL),
    AP_INIT_TAKE1("AppDumpSignal", apppool_value_signal,
                  VALUE(GROUP, IN_DIR(dump_signal)), ANYWHERE,
                  "A signal that makes the application print what it is doing, "
                  "before it is killed"),
    TIME("AppSlowAfter",
         "Time after which a request that still runs is reported in the error "
         "log", GROUP, slow_after, DAY, "never"),
    SWITCH("AppBufferRequest",
           "Reads the body of a request before the request gets a process, so "
           "that a slow upload does not occupy a process", REQUEST,
           buffer_request),
    SWITCH("AppBufferResponse",
           "Stores what a slow client does not take at once, so that the "
           "process is free as soon as it has sent its response", REQUEST,
           buffer_response),
    AP_INIT_TAKE1("AppSpoolLimit", apppool_value_size,
                  RANGE(REQUEST, IN_DIR(spool_limit), 0, TERABYTE, "no limit",
                        NULL),
                  ANYWHERE,
                  "Maximum number of bytes of one response that are stored for "
                  "a slow client"),
    AP_INIT_TAKE_ARGV("AppSendFile", apppool_sendfile_dirs_set,
                      VALUE(REQUEST, 0), ANYWHERE,
                      "Allows the application to name a file that httpd sends "
                      "in place of the response"),
    SWITCH("AppServeSource",
           "Lets httpd send the application's own files, with its code and "
           "secrets, where DocumentRoot or an Alias contains them", REQUEST,
           serve_source),
    SWITCH("AppFriendlyErrors",
           "Shows the client why an application did not start", REQUEST,
           friendly_errors),
    SWITCH("AppTraceparent",
           "Adds a traceparent header (W3C Trace Context) to requests that "
           "have none", REQUEST, traceparent),
    TEXT("AppRestartDir",
         "The directory of restart.txt and always_restart.txt", restart_dir,
         1024),
    WORD("AppRestartMode",
         "The way in which an application loads new code, by restart.txt or "
         "apppoolctl restart", rolling, "blocking rolling"),
    TIME("AppRestartCheckInterval",
         "Minimum time between two checks of restart.txt and "
         "always_restart.txt", GROUP, check_interval, DAY, "with each request"),
    AP_INIT_TAKE1("AppStatusDetail", apppool_set_detail,
                  RANGE(REQUEST, IN_DIR(status_detail), 0, 0, NULL,
                        "basic full"),
                  ACCESS_CONF,
                  "Shows or hides the query strings of open requests on the "
                  "status page and in its JSON"),
    AP_INIT_TAKE1("AppStatusAllowActions", apppool_value_switch,
                  VALUE(REQUEST, IN_DIR(status_actions)), ACCESS_CONF,
                  "Adds buttons to the status page that act on processes and "
                  "applications"),
    AP_INIT_TAKE1("AppStore", apppool_store_set, VALUE(GROUP, 0), ANYWHERE,
                  "Gives the application a memcached-compatible store of this "
                  "size, or names the servers of one"),
    TEXT("AppStoreSpace",
         "The name of the space of the store that the application uses, which "
         "it shares with all applications that name it",
         store_space, APPPOOL_SPACE_NAME - 1),
    SWITCH("AppStoreEvict",
           "Evicts the items that were unused longest when a space is full",
           GROUP, store_evict),
    AP_INIT_TAKE12("AppStoreConfirm", apppool_store_set_confirm,
                   VALUE(GROUP, IN_DIR(store_confirm)), ANYWHERE,
                   "Answers a write when the stores of the other hosts have "
                   "it, too"),
    NUMBER("AppStoreMaxConnections", ANYWHERE,
           "Maximum number of connections to a space of the store", GROUP,
           IN_DIR(store_connections), 1, 100000, NULL),
    AP_INIT_TAKE1("AppStoreMaxObject", apppool_value_size,
                  RANGE(SERVER, IN_SERVER(store_max_object), KILOBYTE,
                        30 * MEGABYTE, NULL, NULL),
                  RSRC_CONF, "Maximum size of one value in the store"),
    NUMBER("AppStoreThreads", RSRC_CONF,
           "Number of threads of the store that serve connections", SERVER,
           IN_SERVER(store_threads), 1, 16, NULL),
    AP_INIT_TAKE12("AppStoreUser", apppool_store_user_set, VALUE(SERVER, 0),
                   RSRC_CONF, "The user that runs the store"),
    AP_INIT_TAKE12("AppStoreSave", apppool_store_set_save, (void *)save,
                   RSRC_CONF,
                   "The file that keeps what the store holds while httpd is "
                   "stopped, and the time from one save to the next"),
    AP_INIT_TAKE1("AppStoreSaveTime", apppool_value_time,
                  RANGE(SERVER, IN_SERVER(store_save_time), 0,
                        CONTRACT_STORE_SAVE_MAX, NULL, NULL),
                  RSRC_CONF,
                  "Maximum time that the store takes to write its file when "
                  "httpd stops"),
    AP_INIT_TAKE1("AppStoreVirtualIP", apppool_store_cluster_set_vip,
                  VALUE(SERVER, 0), RSRC_CONF,
                  "The address that moves between hosts; the store of the host "
                  "that has it is the master"),
    AP_INIT_TAKE23("AppStorePorts", apppool_store_cluster_set_ports,
                  VALUE(SERVER, 0), RSRC_CONF,
                  "The two ports at AppStoreVirtualIP"),
    AP_INIT_ITERATE("AppStorePeers", apppool_store_cluster_add_peer,
                    VALUE(SERVER, 0), RSRC_CONF,
                    "The addresses of the hosts whose stores may connect"),
    AP_INIT_ITERATE("AppStorePlainPeers", apppool_store_cluster_add_peer,
                    VALUE(SERVER, 0), RSRC_CONF,
                    "The addresses of hosts that may connect without TLS"),
    AP_INIT_TAKE1("AppStoreKey", apppool_store_key_set,
                  VALUE(SERVER, IN_SERVER(store_key)), RSRC_CONF,
                  "The file of the secret for TLS between stores and for the "
                  "passwords of TCP clients"),
    AP_INIT_TAKE1("AppStoreOpenSpace", apppool_value_text,
                  RANGE(SERVER, IN_SERVER(store_open_space), 1,
                        APPPOOL_SPACE_NAME - 1, NULL, NULL),
                  RSRC_CONF,
                  "The space that TCP clients of AppStoreVirtualIP get without "
                  "a login"),
    AP_INIT_TAKE2("AppStoreListen", apppool_store_cluster_add_listen,
                  VALUE(SERVER, 0), RSRC_CONF,
                  "An address and port at which TCP clients reach a space"),
    AP_INIT_TAKE1("AppStoreChanges", apppool_value_size,
                  RANGE(SERVER, IN_SERVER(store_changes), 64 * KILOBYTE,
                        4096 * MEGABYTE, NULL, NULL),
                  RSRC_CONF,
                  "Size of the list of changes that slaves have not got yet"),
    AP_INIT_TAKE1("AppStoreSlaveTimeout", apppool_value_time,
                  RANGE(SERVER, IN_SERVER(store_slave_timeout), 0, 3600, NULL,
                        NULL),
                  RSRC_CONF,
                  "Maximum time that a slave may be silent before the master "
                  "closes its connection"),
    APPPOOL_RENAMED,
    APPPOOL_REMOVED,
    APPPOOL_PHP_DIRECTIVES,
    APPPOOL_ERROR_FORMAT,
    {0},
};
/* clang-format on */
