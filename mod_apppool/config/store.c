/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/store.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <http_core.h>
#include <http_log.h>
#include <http_main.h>
#include <string.h>
#include <unistd.h>

#include "mod_apppool/config/store_key.h"
#include "mod_apppool/config/value.h"
#include "shm/slots/group.h"
#include "base/contract.h"
#include "base/userdb.h"

APLOG_USE_MODULE(apppool);

#define SAY(level, ...)                                                        \
    ap_log_error(APLOG_MARK, APLOG_STARTUP | (level), 0, NULL,                 \
                 "apppool: " __VA_ARGS__)

#define SIZE_MIN  (APR_INT64_C(8) << 20)
#define SIZE_MAX_ (APR_INT64_C(32) << 30)
#define SCHEME    "memcached://"
#define SCHEME_N  (sizeof SCHEME - 1)

/* The spaces of this configuration, in its pool. */
static apr_array_header_t *spaces;

/* ---- directives ---- */

/* "HOST:PORT"; a host may be [::1]. */
static int is_server(const char *word)
{
    const char *colon = strrchr(word, ':'), *c;
    size_t host = colon ? (size_t)(colon - word) : 0;
    apr_int64_t port = 0;

    if (host == 0)
        return 0;
    if (*word == '[')
        host = word[host - 1] == ']' && host > 2
                   ? strspn(word + 1, "0123456789abcdefABCDEF:.") + 2 - host
                   : 1;
    else
        host -= strspn(word, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
    for (c = colon + 1; apr_isdigit(*c) && port < 65536; c++)
        port = port * 10 + *c - '0';
    return host == 0 && !*c && port > 0 && port < 65536;
}

/* A list of servers, or the path of a Unix socket. */
static int are_servers(apr_pool_t *p, const char *list)
{
    char *word, *state, *copy = apr_pstrdup(p, list);
    size_t n = strlen(list);

    if (*list == '/')
        return !strchr(list, ',');
    if (n == 0 || *list == ',' || list[n - 1] == ',' || strstr(list, ",,"))
        return 0;
    for (word = apr_strtok(copy, ",", &state); word;
         word = apr_strtok(NULL, ",", &state))
        if (!is_server(word))
            return 0;
    return 1;
}

const char *apppool_store_set(cmd_parms *cmd, void *dir_, const char *arg)
{
    apppool_dir_t *dir = dir_;
    apppool_store_t *store = apr_pcalloc(cmd->pool, sizeof *store);
    const char *wrong = apppool_value_check(cmd, dir, cmd->info, arg);

    if (wrong)
        return wrong;
    if (!strncmp(arg, SCHEME, SCHEME_N) &&
        are_servers(cmd->pool, arg + SCHEME_N))
        store->servers = arg;
    else if (ap_cstr_casecmp(arg, "Off") &&
             (!apppool_value_parse_size(arg, SIZE_MAX_, &store->size) ||
              store->size < SIZE_MIN))
        return apr_psprintf(
            cmd->pool,
            "%s: \"%s\" is none of these: Off; a size from 8M to 32G (a number "
            "of bytes, or with a unit: K, M, G); " SCHEME
            "HOST:PORT, and more servers after commas",
            cmd->cmd->name, arg);
    dir->store = store;
    return NULL;
}

const char *apppool_store_set_confirm(cmd_parms *cmd, void *dir_,
                                      const char *arg, const char *refuse)
{
    apppool_dir_t *dir = dir_;
    const char *wrong = apppool_value_switch(cmd, dir, arg);

    if (wrong || !refuse)
        return wrong;
    if (dir->store_confirm != APPPOOL_STORE_CONFIRM_ON ||
        ap_cstr_casecmp(refuse, "Refuse"))
        return apr_psprintf(
            cmd->pool, "%s: \"%s %s\" is none of these: Off, On, On Refuse",
            cmd->cmd->name, arg, refuse);
    dir->store_confirm = APPPOOL_STORE_CONFIRM_REFUSE;
    return NULL;
}

static const char *set_every(cmd_parms *cmd, void *dir, const char *arg,
                             apppool_server_t *server)
{
    const apppool_setting_t *values = cmd->info;
    const char *wrong;

    server->store_save_every = 0;
    if (!arg)
        return NULL;
    cmd->info = (void *)(uintptr_t)&values[1];
    wrong = apppool_value_time(cmd, dir, arg);
    cmd->info = (void *)(uintptr_t)values;
    if (wrong || server->store_save_every >= APR_USEC_PER_SEC)
        return wrong;
    return apr_psprintf(
        cmd->pool,
        "%s: \"%s\" is less than a second: that is no time from "
        "one save to the next",
        cmd->cmd->name, arg);
}

const char *apppool_store_set_save(cmd_parms *cmd, void *dir, const char *file,
                                   const char *every)
{
    apppool_server_t *server =
        ap_get_module_config(cmd->server->module_config, &apppool_module);
    const char *wrong;

    if (ap_cstr_casecmp(file, "Off")) {
        wrong = apppool_value_path(cmd, dir, file);
        return wrong ? wrong : set_every(cmd, dir, every, server);
    }
    wrong = apppool_value_check(cmd, dir, cmd->info, file);
    if (!wrong && every)
        return apr_psprintf(cmd->pool, "%s: Off has no second value",
                            cmd->cmd->name);
    if (!wrong) {
        server->store_save = "";
        server->store_save_every = 0;
    }
    return wrong;
}

/* ---- the spaces ---- */

void apppool_store_begin(apr_pool_t *p)
{
    spaces = apr_array_make(p, 8, sizeof(apppool_space_t *));
}

const apr_array_header_t *apppool_store_spaces(void)
{
    return spaces;
}

/* The name of the group; of a long one the beginning, and its key. */
static const char *name_of(apr_pool_t *p, const apppool_app_t *app)
{
    const char *group = app->pool.name;
    size_t n = APPPOOL_SPACE_NAME - sizeof "~0123456789abcdef";

    if (app->set->store_space)
        return app->set->store_space;
    if (strlen(group) < APPPOOL_SPACE_NAME)
        return group;
    while (n > 0 && ((unsigned char)group[n] & 0xc0) == 0x80)
        n--; /* in the middle of a character */
    return apr_psprintf(p, "%.*s~" CONTRACT_ID_FMT, (int)n, group,
                        app->pool.key);
}

void apppool_store_resolve(apr_pool_t *p, apppool_app_t *app)
{
    const apppool_store_t *store = app->set->store;

    app->store_servers = store ? store->servers : NULL;
    app->space = store && store->size ? name_of(p, app) : NULL;
}

static apppool_space_t *find(const char *name)
{
    int i;

    for (i = 0; i < spaces->nelts; i++) {
        apppool_space_t *space = APR_ARRAY_IDX(spaces, i, apppool_space_t *);

        if (!strcmp(space->name, name))
            return space;
    }
    return NULL;
}

static apppool_space_t *make(apr_pool_t *p, const apppool_app_t *app)
{
    const apppool_dir_t *set = app->set;
    apppool_space_t *space = apr_pcalloc(p, sizeof *space);

    space->name = app->space;
    space->key = apl_group_key(space->name);
    space->place = app->place;
    space->size = set->store->size;
    space->evict = apppool_setting_of(set, APPPOOL_AppStoreEvict) != 0;
    space->confirm = (int)apppool_setting_of(set, APPPOOL_AppStoreConfirm);
    space->max_connections =
        apppool_setting_of(set, APPPOOL_AppStoreMaxConnections);
    space->uids = apr_array_make(p, 1, sizeof(uid_t));
    return space;
}

/* @return the directive in which they differ; NULL: none */
static const char *difference(const apppool_space_t *a,
                              const apppool_space_t *b)
{
    return a->size != b->size                         ? "AppStore"
           : a->evict != b->evict                     ? "AppStoreEvict"
           : a->confirm != b->confirm                 ? "AppStoreConfirm"
           : a->max_connections != b->max_connections ? "AppStoreMaxConnections"
                                                      : NULL;
}

static void add_uid(apppool_space_t *space, uid_t uid)
{
    int i;

    for (i = 0; i < space->uids->nelts; i++)
        if (APR_ARRAY_IDX(space->uids, i, uid_t) == uid)
            return;
    if (uid != USERDB_NOBODY)
        APR_ARRAY_PUSH(space->uids, uid_t) = uid;
}

int apppool_store_add(apr_pool_t *p, const apppool_app_t *app)
{
    apppool_space_t *first, *space;
    const char *what;

    if (!app->space)
        return 1;
    space = make(p, app);
    first = find(space->name);
    if (!first)
        APR_ARRAY_PUSH(spaces, apppool_space_t *) = first = space;
    add_uid(first, app->uid);
    what = difference(first, space);
    if (what)
        SAY(APLOG_ERR,
            "%s and %s share the space \"%s\" of the store, but do not have "
            "the same %s: give both the same value, or another AppStoreSpace",
            first->place, space->place, space->name, what);
    return !what;
}

/* ---- all together ---- */

/* Memory of the store is not returned under pressure. */
static void warn_of_memory(void)
{
    apr_int64_t sum = 0, all = (apr_int64_t)sysconf(_SC_PHYS_PAGES) *
                               (apr_int64_t)sysconf(_SC_PAGESIZE);
    int i;

    for (i = 0; i < spaces->nelts; i++)
        sum += APR_ARRAY_IDX(spaces, i, apppool_space_t *)->size;
    if (all > 0 && sum > all / 2)
        SAY(APLOG_WARNING,
            "the sizes of all AppStore together, %" APR_INT64_T_FMT
            "M, are more than half of the memory of this host, "
            "%" APR_INT64_T_FMT "M",
            sum >> 20, all >> 20);
}

int apppool_store_check(void)
{
    warn_of_memory();
    if (spaces->nelts <= APPPOOL_STORE_SPACES)
        return 1;
    SAY(APLOG_ERR,
        "%d applications have a space of the store (AppStore), and it can have "
        "%d spaces: let some of them share one with AppStoreSpace",
        spaces->nelts, APPPOOL_STORE_SPACES);
    return 0;
}

/* The whole server's settings are in its main server. */
static void add_login(apr_pool_t *p, apr_hash_t *variables,
                      const apppool_app_t *app)
{
    const char *password =
        apppool_store_key_password(app->space, p, ap_server_conf);

    if (!password)
        return;
    apr_hash_set(variables, "MEMCACHE_USERNAME", APR_HASH_KEY_STRING,
                 app->space);
    apr_hash_set(variables, "MEMCACHE_PASSWORD", APR_HASH_KEY_STRING, password);
}

apr_hash_t *apppool_store_variables(apr_pool_t *p, const apppool_app_t *app,
                                    const char *runtime)
{
    const char *servers = app->store_servers, *path;
    apr_hash_t *variables;

    if (!servers && !app->space)
        return NULL;
    variables = apr_hash_make(p);
    path = servers ? servers + SCHEME_N
                   : apr_psprintf(p, "%s/" CONTRACT_STORES "/" CONTRACT_ID_FMT,
                                  runtime, apl_group_key(app->space));
    apr_hash_set(variables, "MEMCACHE_SERVERS", APR_HASH_KEY_STRING, path);
    apr_hash_set(variables, "APPPOOL_STORE", APR_HASH_KEY_STRING,
                 servers ? servers : apr_pstrcat(p, "unix:", path, NULL));
    if (!servers)
        add_login(p, variables, app);
    return variables;
}
