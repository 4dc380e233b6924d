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

#define UNSET_NUMBER(field) field = APPPOOL_UNSET;
#define UNSET_TEXT(field)
#define UNSET_OTHER(field)

/* ---- a place ---- */

void *apppool_config_dir_create(apr_pool_t *p, char *path)
{
    apppool_dir_t *dir = apr_pcalloc(p, sizeof *dir);

    (void)path;
#define SERVER(...)
#define SETTING(scope, kind, name, class, field, ...)                          \
    SETTINGS_AS(UNSET_, kind)(dir->field)
#include "base/settings.def"
    return dir;
}

/* The section has no directive of this module, but it may have one that is
 * noted here. Such sections hold for requests of the whole server, so no time
 * is spent on them. */
static void *merge_foreign(apr_pool_t *p, const apppool_dir_t *base,
                           const apppool_dir_t *over)
{
    apppool_dir_t *dir;

    if (!over->php)
        return (void *)base;
    dir = apr_pmemdup(p, base, sizeof *base);
    dir->php = apppool_php_rule_merge(p, base->php, over->php);
    return dir;
}

void *apppool_config_dir_merge(apr_pool_t *p, void *base_, void *over_)
{
    const apppool_dir_t *base = base_, *over = over_;
    apppool_dir_t *dir;
    int another; /* an app below another one */

    if (!over->origins)
        return merge_foreign(p, base, over);
    another = base->mount && over->mount;
    dir = apr_pcalloc(p, sizeof *dir);
#define FROM_SELF  (another ? over : base)
#define FROM_MADE  base
#define FROM_LIMIT base
#define FROM_NONE  base
#define MERGE_NUMBER(field, from)                                              \
    dir->field = over->field != APPPOOL_UNSET ? over->field : from->field;
#define MERGE_TEXT(field, from)                                                \
    dir->field = over->field ? over->field : from->field;
#define MERGE_OTHER(field, from)
#define SERVER(...)
#define SETTING(scope, kind, name, class, field, ...)                          \
    SETTINGS_AS(MERGE_, kind)(field, FROM_##class)
#include "base/settings.def"
    MERGE_TEXT(mount, base)
    MERGE_TEXT(store, base)
    MERGE_TEXT(sendfile, base)
    MERGE_TEXT(user, FROM_SELF)
    /* A user with the group of another AppUser would be wrong. */
    dir->user_group = over->user ? over->user_group : FROM_SELF->user_group;
    dir->env = another || !base->env ? over->env
               : over->env           ? apr_hash_overlay(p, over->env, base->env)
                                     : base->env;
    dir->php = apppool_php_rule_merge(p, base->php, over->php);
    dir->origins =
        apppool_config_origin_merge(p, base->origins, over->origins, another);
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
#define SETTING(...)
#define SERVER(kind, name, class, field, ...)                                  \
    SETTINGS_AS(UNSET_, kind)(server->field)
#include "base/settings.def"
    server->store_uid = USERDB_NOBODY;
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

#define DEFAULT_NUMBER(field, otherwise)                                       \
    if (field == APPPOOL_UNSET)                                                \
        field = otherwise;
#define DEFAULT_TEXT(field, otherwise)
#define DEFAULT_OTHER(field, otherwise)
#define SETTING(...)
#define SERVER(kind, name, class, field, otherwise, ...)                       \
    SETTINGS_AS(DEFAULT_, kind)(server.field, otherwise)
#include "base/settings.def"
    if (set->max_pool_size == APPPOOL_UNSET)
        server.max_pool_size = default_pool_size(server.processes);
    if (set->sessions == APPPOOL_UNSET)
        server.sessions = server.processes <= 1024 ? 16384
                          : server.processes > APL_SESSIONS_MAX / 16
                              ? APL_SESSIONS_MAX
                              : server.processes * 16;
    if (!set->libexec)
        server.libexec = APPPOOL_LIBEXECDIR;
    if (!set->spool_dir)
        server.spool_dir = default_spool_dir();
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
