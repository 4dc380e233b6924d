/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/config.h"

#include <http_core.h>
#include <http_main.h>
#include <apr_strings.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mod_apppool/config/config_origin.h"
#include "base/contract.h"
#include "base/userdb.h"

/* Reset for each configuration. Its arrays are in the configuration's pool. */
static apppool_config_t config;
static apr_int64_t processors; /* 0: not known yet */

void apppool_config_begin(apr_pool_t *p)
{
    processors = 0;
    config.queries = 0;
    config.mounts = apr_array_make(p, 8, sizeof(apppool_mount_t *));
    config.sections = apr_array_make(p, 8, sizeof(apppool_dir_t *));
}

apppool_config_t *apppool_config(void)
{
    return &config;
}

/* ---- a place ---- */

/* Each number of a place, once. */
#define NUMBERS(X)                                                             \
    X(listen)                                                                  \
    X(protocol)                                                                \
    X(prestart)                                                                \
    X(preload)                                                                 \
    X(preload_idle)                                                            \
    X(log_format)                                                              \
    X(global_queue)                                                            \
    X(min_instances)                                                           \
    X(max_instances)                                                           \
    X(max_requests)                                                            \
    X(jitter)                                                                  \
    X(concurrency)                                                             \
    X(memory_limit)                                                            \
    X(slow_after)                                                              \
    X(dump_signal)                                                             \
    X(stop_signal)                                                             \
    X(retire_timeout)                                                          \
    X(no_new_privileges)                                                       \
    X(max_queue)                                                               \
    X(max_long_lived)                                                          \
    X(idle_time)                                                               \
    X(hung_after)                                                              \
    X(kill_after)                                                              \
    X(hung_stop_timeout)                                                       \
    X(spawn_if_under)                                                          \
    X(hung_extra)                                                              \
    X(max_unkillable)                                                          \
    X(queue_timeout)                                                           \
    X(start_timeout)                                                           \
    X(stop_timeout)                                                            \
    X(timeout)                                                                 \
    X(check_interval)                                                          \
    X(rolling)                                                                 \
    X(buffer_request)                                                          \
    X(buffer_response)                                                         \
    X(spool_limit)                                                             \
    X(friendly_errors)                                                         \
    X(traceparent)                                                             \
    X(serve_source)                                                            \
    X(store_evict)                                                             \
    X(store_connections)                                                       \
    X(store_confirm)                                                           \
    X(status_detail)                                                           \
    X(status_actions)

#define TEXTS(X)                                                               \
    X(mount)                                                                   \
    X(root)                                                                    \
    X(environment)                                                             \
    X(restart_dir)                                                             \
    X(ready)                                                                   \
    X(log)                                                                     \
    X(notify)                                                                  \
    X(store)                                                                   \
    X(sendfile)

void *apppool_config_dir_create(apr_pool_t *p, char *path)
{
    apppool_dir_t *dir = apr_pcalloc(p, sizeof *dir);

    (void)path;
#define UNSET(name) dir->name = APPPOOL_UNSET;
    NUMBERS(UNSET)
#undef UNSET
    return dir;
}

/* Settings that make an app a different app. */
static void merge_identity(apr_pool_t *p, apppool_dir_t *dir,
                           const apppool_dir_t *base, const apppool_dir_t *over)
{
    dir->command = over->command ? over->command : base->command;
    dir->group_name = over->group_name ? over->group_name : base->group_name;
    /* A user with the group of another AppUser would be wrong. */
    dir->user = over->user ? over->user : base->user;
    dir->user_group = over->user ? over->user_group : base->user_group;
    dir->env_file = over->env_file ? over->env_file : base->env_file;
    dir->store_space =
        over->store_space ? over->store_space : base->store_space;
    if (base->env && over->env)
        dir->env = apr_hash_overlay(p, over->env, base->env);
    else
        dir->env = over->env ? over->env : base->env;
}

/* The section has no directive of this module, but it may have one that is noted
 * here. Such sections hold for requests of the whole server, so no time is
 * spent on them. */
static void *merge_foreign(apr_pool_t *p, const apppool_dir_t *base,
                           const apppool_dir_t *over)
{
    apppool_dir_t *dir;

    if (!over->php)
        return (void *)base;
    dir = apr_pmemdup(p, base, sizeof *base);
    dir->php = apppool_php_rules_merge(p, base->php, over->php);
    return dir;
}

void *apppool_config_dir_merge(apr_pool_t *p, void *base_, void *over_)
{
    const apppool_dir_t *base = base_, *over = over_;
    apppool_dir_t *dir;

    if (!over->origins)
        return merge_foreign(p, base, over);
    dir = apr_pcalloc(p, sizeof *dir);
#define NUMBER(name)                                                           \
    dir->name = over->name != APPPOOL_UNSET ? over->name : base->name;
    NUMBERS(NUMBER)
#undef NUMBER
#define TEXT(name) dir->name = over->name ? over->name : base->name;
    TEXTS(TEXT)
#undef TEXT
    dir->php = apppool_php_rules_merge(p, base->php, over->php);
    dir->origins = apppool_config_origin_merge(p, base->origins, over->origins,
                                               base->mount && over->mount);
    if (base->mount && over->mount) {
        dir->listen = over->listen;
        dir->protocol = over->protocol;
        merge_identity(p, dir, over, over);
    }
    else
        merge_identity(p, dir, base, over);
    return dir;
}

const apppool_dir_t *apppool_config_dir(apr_pool_t *p,
                                        const apppool_mount_t *mount)
{
    void *own =
        ap_get_module_config(mount->server->lookup_defaults, &apppool_module);

    return mount->section
               ? apppool_config_dir_merge(p, own, (void *)mount->section)
               : own;
}

int apppool_config_mount_has_files(const apppool_mount_t *mount)
{
    const core_server_config *own, *main_server;

    if (mount->section || !mount->server->is_virtual)
        return 1;
    own = ap_get_core_module_config(mount->server->module_config);
    main_server = ap_get_core_module_config(ap_server_conf->module_config);
    return own->ap_document_root != main_server->ap_document_root;
}

/* ---- the whole server ---- */

void *apppool_config_server_create(apr_pool_t *p, server_rec *s)
{
    apppool_server_t *server = apr_pcalloc(p, sizeof *server);

    (void)s;
    server->max_pool_size = APPPOOL_UNSET;
    server->processes = server->sessions = APPPOOL_UNSET;
    server->spool_free = APPPOOL_UNSET;
    server->store_max_object = APPPOOL_UNSET;
    server->store_threads = server->store_save_time = APPPOOL_UNSET;
    server->store_save_every = 0;
    server->store_uid = USERDB_NOBODY;
    server->store_changes = server->store_slave_timeout = APPPOOL_UNSET;
    return server;
}

static const char *default_spool_dir(void)
{
    const char *dir = getenv("TMPDIR");

    return dir && *dir ? dir : "/var/tmp";
}

/* Two for each processor: one computes while the other one waits. The kernel is
 * asked once for each configuration, which may have thousands of virtual
 * hosts. */
static apr_int64_t default_pool_size(apr_int64_t capacity)
{
    apr_int64_t n;

    if (processors == 0)
        processors = (apr_int64_t)sysconf(_SC_NPROCESSORS_ONLN);
    n = 2 * processors;
    if (n < 6)
        n = 6;
    return n < capacity ? n : capacity;
}

apppool_server_t apppool_config_server(const server_rec *main_server)
{
    const apppool_server_t *set =
        ap_get_module_config(main_server->module_config, &apppool_module);
    apppool_server_t server = *set;

    server.processes = apppool_config_or(set->processes, 1024);
    server.max_pool_size = apppool_config_or(
        set->max_pool_size, default_pool_size(server.processes));
    if (set->sessions == APPPOOL_UNSET)
        server.sessions = server.processes <= 1024 ? 16384
                          : server.processes > APL_SESSIONS_MAX / 16
                              ? APL_SESSIONS_MAX
                              : server.processes * 16;
    if (!set->libexec)
        server.libexec = APPPOOL_LIBEXECDIR;
    if (!set->spool_dir)
        server.spool_dir = default_spool_dir();
    server.spool_free = apppool_config_or(set->spool_free, 5);
    server.store_max_object =
        apppool_config_or(set->store_max_object, APR_INT64_C(1) << 20);
    server.store_threads = apppool_config_or(set->store_threads, 4);
    server.store_save_time = apppool_config_or(
        set->store_save_time, CONTRACT_STORE_SAVE_DEFAULT * APR_USEC_PER_SEC);
    server.store_changes =
        apppool_config_or(set->store_changes, APR_INT64_C(32) << 20);
    server.store_slave_timeout =
        apppool_config_or(set->store_slave_timeout, 10 * APR_USEC_PER_SEC);
    return server;
}

apr_int64_t apppool_config_save_time(const apppool_server_t *server)
{
    return (server->store_save_time + APR_USEC_PER_SEC - 1) / APR_USEC_PER_SEC;
}

static const apr_array_header_t *find_apps(apr_pool_t *p, const server_rec *s,
                                           const server_rec *main_server)
{
    apr_array_header_t *apps = apr_array_make(p, 1, sizeof(apppool_app_t *));
    int i, k;

    for (i = 0; i < config.mounts->nelts; i++) {
        const apppool_mount_t *mount =
            APR_ARRAY_IDX(config.mounts, i, apppool_mount_t *);

        if (!mount->app || (mount->server != s && mount->server != main_server))
            continue;
        for (k = 0; k < apps->nelts; k++)
            if (APR_ARRAY_IDX(apps, k, const apppool_app_t *) == mount->app)
                break;
        if (k == apps->nelts)
            APR_ARRAY_PUSH(apps, const apppool_app_t *) = mount->app;
    }
    return apps;
}

void apppool_config_note_mounts(apr_pool_t *p, server_rec *main_server)
{
    server_rec *s;

    for (s = main_server; s; s = s->next) {
        const apppool_server_t *set =
            ap_get_module_config(s->module_config, &apppool_module);
        /* A virtual host may have the struct of the main server. */
        apppool_server_t *own = apr_pmemdup(p, set, sizeof *set);

        own->apps = find_apps(p, s, main_server);
        ap_set_module_config(s->module_config, &apppool_module, own);
    }
}

int apppool_config_has_mount(const server_rec *s)
{
    const apppool_server_t *server =
        ap_get_module_config(s->module_config, &apppool_module);

    return server->apps && server->apps->nelts > 0;
}

const apr_array_header_t *apppool_config_apps(const server_rec *s)
{
    const apppool_server_t *server =
        ap_get_module_config(s->module_config, &apppool_module);

    return server->apps;
}

/* ---- a request ---- */

static const apppool_dir_t *dir_of_request(const request_rec *r)
{
    return ap_get_module_config(r->per_dir_config, &apppool_module);
}

const apppool_mount_t *apppool_config_mount(const request_rec *r)
{
    const apppool_dir_t *dir = dir_of_request(r);

    return dir && dir->mount && dir->mount->app ? dir->mount : NULL;
}

apr_int64_t apppool_config_queue_timeout(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->queue_timeout,
                             APPPOOL_QUEUE_TIMEOUT);
}

apr_int64_t apppool_config_timeout(const request_rec *r)
{
    return dir_of_request(r)->timeout;
}

int apppool_config_buffers_request(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->buffer_request,
                             APPPOOL_BUFFERS) != 0;
}

int apppool_config_buffers_response(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->buffer_response,
                             APPPOOL_BUFFERS) != 0;
}

apr_off_t apppool_config_spool_limit(const request_rec *r)
{
    apr_int64_t limit =
        apppool_config_or(dir_of_request(r)->spool_limit, APPPOOL_SPOOL_LIMIT);

    return limit == 0 ? APR_INT64_MAX : limit;
}

const apppool_sendfile_t *apppool_config_sendfile(const request_rec *r)
{
    return dir_of_request(r)->sendfile;
}

const apppool_php_rules_t *apppool_config_php_rules(const request_rec *r)
{
    const apppool_dir_t *dir = dir_of_request(r);

    return dir ? dir->php : NULL;
}

int apppool_config_is_friendly(const char *environment)
{
    return strcmp(environment, "production") != 0;
}

int apppool_config_friendly_errors(const request_rec *r,
                                   const char *environment)
{
    return apppool_config_or(dir_of_request(r)->friendly_errors,
                             apppool_config_is_friendly(environment)) != 0;
}

int apppool_config_traceparent(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->traceparent,
                             APPPOOL_TRACEPARENT) != 0;
}

int apppool_config_serves_source(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->serve_source,
                             APPPOOL_SERVE_SOURCE) != 0;
}

int apppool_config_status_full(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->status_detail, 0) != 0;
}

int apppool_config_status_actions(const request_rec *r)
{
    return apppool_config_or(dir_of_request(r)->status_actions, 0) != 0;
}
