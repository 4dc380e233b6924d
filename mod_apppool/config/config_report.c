/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/config_report.h"

#include <apr_strings.h>
#include <http_core.h>
#include <mod_proxy.h>
#include <string.h>

#include "mod_apppool/config/app_user.h"
#include "mod_apppool/config/config_origin.h"
#include "mod_apppool/config/value.h"

/* ---- values as words ---- */

static const char *write_time(apr_pool_t *p, apr_int64_t us)
{
    if (us % APR_USEC_PER_SEC == 0)
        return apr_psprintf(p, "%" APR_INT64_T_FMT "s", us / APR_USEC_PER_SEC);
    return apr_psprintf(p, "%" APR_INT64_T_FMT "ms", us / 1000);
}

static const char *write_number(apr_pool_t *p, const apppool_setting_t *s,
                                apr_int64_t n)
{
    switch (s->kind) {
    case SETTINGS_SWITCH:
        return n ? "On" : "Off";
    case SETTINGS_TIME:
        return write_time(p, n);
    case SETTINGS_SIZE:
        return apppool_value_write_size(p, n);
    case SETTINGS_SIGNAL:
        return n ? sigabbrev_np((int)n) : "none";
    case SETTINGS_WORD:
    case SETTINGS_PAIR:
        return apppool_setting_word(p, s, n);
    default:
        return apr_psprintf(p, "%" APR_INT64_T_FMT, n);
    }
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

static const char *friendly_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return apppool_config_is_friendly(app->environment) ? "On" : "Off";
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
    (void)app;
    return "found from the files";
}

static const char *name_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->pool.name;
}

static const char *restart_dir_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    return app->restart_dir;
}

static const char *sendfile_of(apr_pool_t *p, const apppool_app_t *app)
{
    (void)p;
    (void)app;
    return "Off";
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
    (void)app;
    return "Off";
}

static const struct {
    const char *name;
    const char *(*value)(apr_pool_t *p, const apppool_app_t *app);
} ruled[] = {
    {"AppCommand", command_of},
    {"AppGroupName", name_of},
    {"AppUser", user_of},
    {"AppLog", log_of},
    {"MaxRequests", requests_of},
    {"AppConcurrency", concurrency_of},
    {"AppTimeout", timeout_of},
    {"AppSendFile", sendfile_of},
    {"AppFriendlyErrors", friendly_of},
    {"AppRestartDir", restart_dir_of},
    {"AppStore", store_of},
    {"AppStoreSpace", space_of},
};

/* What a directive is that the configuration does not have. @return NULL: it
 * has no default */
static const char *default_of(apr_pool_t *p, const apppool_app_t *app,
                              const apppool_setting_t *s)
{
    int is_made = s->scope >= APPPOOL_SCOPE_KEPT;
    size_t i;

    for (i = 0; i < sizeof ruled / sizeof *ruled; i++)
        if (!strcmp(ruled[i].name, s->name))
            return ruled[i].value(p, app);
    if (apppool_setting_is_text(s))
        return is_made ? apppool_setting_text(s, app) : s->text;
    if (is_made)
        return write_number(p, s, apppool_setting_number(s, app));
    return s->otherwise == APPPOOL_UNSET ? NULL
                                         : write_number(p, s, s->otherwise);
}

/* ---- the report ---- */

/* Those of one name, which are several of AppSetEnv. @return 0: none */
static int add_origins(apr_pool_t *p, apr_array_header_t *lines,
                       const apppool_app_t *app, const char *name)
{
    apr_hash_index_t *i;
    int n = 0;

    for (i = app->set->origins ? apr_hash_first(p, app->set->origins) : NULL; i;
         i = apr_hash_next(i)) {
        const apppool_config_origin_t *origin = apr_hash_this_val(i);

        if (strcmp(origin->name, name) != 0)
            continue;
        APR_ARRAY_PUSH(lines, const char *) = apr_pstrcat(
            p, name, "\t", origin->words, "\t", origin->place, "\n", NULL);
        n++;
    }
    return n;
}

const char *apppool_config_report(apr_pool_t *p, const apppool_app_t *app)
{
    apr_array_header_t *lines = apr_array_make(p, 64, sizeof(char *));
    const char *value;
    int i;

    for (i = 0; i < APPPOOL_SETTINGS; i++) {
        const apppool_setting_t *s = &apppool_settings[i];

        if (!s->help || s->scope < APPPOOL_SCOPE_REQUEST ||
            add_origins(p, lines, app, s->name))
            continue;
        value = default_of(p, app, s);
        APR_ARRAY_PUSH(lines, const char *) =
            apr_pstrcat(p, s->name, "\t", value ? value : "", "\t\n", NULL);
    }
    return apr_array_pstrcat(p, lines, 0);
}
