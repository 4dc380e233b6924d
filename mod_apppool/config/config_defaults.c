/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/config_defaults.h"

#include <apr_strings.h>
#include <http_core.h>
#include <mod_proxy.h>
#include <stddef.h>
#include <string.h>

#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/protocol.h"
#include "mod_apppool/config/store.h"
#include "mod_apppool/config/value.h"
#include "base/contract.h"

/* How a value is written. */
typedef enum { TIME, NUMBER, SIZE, SWITCH, BIT, SIGNAL, TEXT } kind_t;

/* ---- what the app was made with ---- */

static const struct {
    const char *name;
    kind_t kind;
    size_t at; /* in apppool_app_t */
} resolved[] = {
#define OWN(name, kind, field)                                                 \
    {                                                                          \
        name, kind, offsetof(apppool_app_t, field)                             \
    }
#define OPTION(name, kind, field) OWN(name, kind, pool.options.field)
    OWN("AppGroupName", TEXT, pool.name),
    OWN("AppEnvironment", TEXT, environment),
    OWN("AppReady", TEXT, ready),
    OWN("AppRestartDir", TEXT, restart_dir),
    OPTION("MinInstances", NUMBER, min_instances),
    OPTION("MaxInstances", NUMBER, max_instances),
    OPTION("PoolIdleTime", TIME, idle_time),
    OPTION("AppHungAfter", TIME, hung_after),
    OPTION("AppKillAfter", TIME, kill_after),
    OPTION("AppSpawnIfUnder", NUMBER, spawn_if_under),
    OPTION("AppHungExtra", NUMBER, hung_extra),
    OPTION("AppMaxQueue", NUMBER, max_queue),
    OPTION("AppRestartCheckInterval", TIME, check_interval),
    OPTION("AppGlobalQueue", BIT, global_queue),
    OWN("AppMaxLongLived", NUMBER, max_long_lived),
    OWN("AppStartTimeout", TIME, start_timeout),
    OWN("AppStopTimeout", TIME, stop_timeout),
    OWN("AppStopSignal", SIGNAL, stop_signal),
    OWN("AppRetireTimeout", TIME, retire_timeout),
    OWN("AppDumpSignal", SIGNAL, dump_signal),
    OWN("AppHungStopTimeout", TIME, hung_stop_timeout),
    OWN("AppSlowAfter", TIME, slow_after),
    OWN("AppMemoryLimit", SIZE, memory_limit),
    OWN("AppPreStart", SWITCH, prestart),
    OWN("AppPreloadIdleTime", TIME, preload_idle),
    OWN("AppNoNewPrivileges", SWITCH, no_new_privileges),
#undef OPTION
#undef OWN
};

/* ---- constants, most of them looked up for each request ---- */

static const struct {
    const char *name;
    kind_t kind;
    apr_int64_t value;
} constants[] = {
    {"AppQueueTimeout", TIME, APPPOOL_QUEUE_TIMEOUT},
    {"AppBufferRequest", SWITCH, APPPOOL_BUFFERS},
    {"AppBufferResponse", SWITCH, APPPOOL_BUFFERS},
    {"AppSpoolLimit", SIZE, APPPOOL_SPOOL_LIMIT},
    {"AppServeSource", SWITCH, APPPOOL_SERVE_SOURCE},
    {"AppTraceparent", SWITCH, APPPOOL_TRACEPARENT},
    {"AppStoreEvict", SWITCH, APPPOOL_STORE_EVICT},
    {"AppStoreConfirm", SWITCH, 0},
    {"AppStoreMaxConnections", NUMBER, APPPOOL_STORE_CONNECTIONS},
};

/* ---- values as words ---- */

static const char *write_time(apr_pool_t *p, apr_int64_t us)
{
    if (us % APR_USEC_PER_SEC == 0)
        return apr_psprintf(p, "%" APR_INT64_T_FMT "s", us / APR_USEC_PER_SEC);
    return apr_psprintf(p, "%" APR_INT64_T_FMT "ms", us / 1000);
}

static const char *write_value(apr_pool_t *p, kind_t kind, apr_int64_t n)
{
    switch (kind) {
    case TIME:
        return write_time(p, n);
    case SIZE:
        return apppool_value_write_size(p, n);
    case SWITCH:
    case BIT:
        return n ? "On" : "Off";
    case SIGNAL:
        return n ? sigabbrev_np((int)n) : "none";
    default:
        return apr_psprintf(p, "%" APR_INT64_T_FMT, n);
    }
}

static const char *write_field(apr_pool_t *p, kind_t kind, const void *at)
{
    if (kind == TEXT)
        return *(const char *const *)at;
    return write_value(p, kind,
                       kind == NUMBER || kind == BIT
                           ? *(const uint32_t *)at
                           : *(const apr_int64_t *)at);
}

/* ---- defaults with rules of their own ---- */

/* The owner of AppRoot; a number if the owner has no name. */
static const char *user_of(apr_pool_t *p, const apppool_app_t *app)
{
    return app->uid == USERDB_NOBODY ? NULL
                                     : apppool_app_user_name(p, app->uid);
}

static const char *timeout_of(apr_pool_t *p, const apppool_app_t *app)
{
    const proxy_server_conf *conf = ap_get_module_config(
        app->server->module_config, ap_find_linked_module("mod_proxy.c"));

    return write_time(p,
                      conf->timeout_set ? conf->timeout : app->server->timeout);
}

/* As ErrorLog has it. */
static const char *log_of(apr_pool_t *p, const apppool_app_t *app)
{
    const char *name = app->server->error_fname;

    if (!name)
        name = ap_server_conf->error_fname;
    return !name || *name == '|' || !strncmp(name, "syslog", 6)
               ? name
               : ap_server_root_relative(p, name);
}

static const char *protocol_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return apppool_protocol_name(app->protocol);
}

static const char *restart_mode_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->pool.options.rolling ? "rolling" : "blocking";
}

static const char *friendly_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return apppool_config_is_friendly(app->environment) ? "On" : "Off";
}

static const char *listen_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->listen == APL_LISTEN_FD ? "fd" : NULL;
}

static const char *format_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->log_raw ? "raw" : "prefixed";
}

static const char *preload_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->preload == CONTRACT_PRELOAD_AUTO ? "auto" : "Off";
}

static const char *requests_of(apr_pool_t *p, const apppool_app_t *app)
{
    return apr_psprintf(p, "%u %u", app->pool.options.max_requests,
                        app->pool.options.jitter);
}

static const char *concurrency_of(apr_pool_t *p, const apppool_app_t *app)
{
    uint32_t n = app->pool.options.concurrency;

    return n == APL_CONCURRENCY_AUTO ? "auto" : apr_psprintf(p, "%u", n);
}

static const char *command_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->set->command ? app->set->command : "found from the files";
}

static const char *sendfile_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->set->sendfile ? NULL : "Off";
}

/* Those of the store matter only where there is an AppStore. */
static const char *space_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->space ? app->space : app->pool.name;
}

static const char *store_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->set->store ? NULL : "Off";
}

static const struct {
    const char *name;
    const char *(*value)(apr_pool_t *p, const apppool_app_t *app);
} ruled[] = {
    {"AppCommand", command_of},
    {"AppListen", listen_of},
    {"AppProtocol", protocol_of},
    {"AppUser", user_of},
    {"AppLog", log_of},
    {"AppLogFormat", format_of},
    {"AppPreload", preload_of},
    {"MaxRequests", requests_of},
    {"AppConcurrency", concurrency_of},
    {"AppTimeout", timeout_of},
    {"AppSendFile", sendfile_of},
    {"AppFriendlyErrors", friendly_of},
    {"AppRestartMode", restart_mode_of},
    {"AppStore", store_of},
    {"AppStoreSpace", space_of},
};

const char *apppool_config_defaults_of(apr_pool_t *p, const apppool_app_t *app,
                                       const char *name)
{
    size_t i;

    for (i = 0; i < sizeof resolved / sizeof *resolved; i++)
        if (!strcmp(resolved[i].name, name))
            return write_field(p, resolved[i].kind,
                               (const char *)app + resolved[i].at);
    for (i = 0; i < sizeof constants / sizeof *constants; i++)
        if (!strcmp(constants[i].name, name))
            return write_value(p, constants[i].kind, constants[i].value);
    for (i = 0; i < sizeof ruled / sizeof *ruled; i++)
        if (!strcmp(ruled[i].name, name))
            return ruled[i].value(p, app);
    return NULL;
}
