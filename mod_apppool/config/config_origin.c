/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/config_origin.h"

#include <apr_strings.h>
#include <string.h>

#include "mod_apppool/config/directives.h"
#include "mod_apppool/config/config_defaults.h"
#include "mod_apppool/config/value.h"

#define SET_ENV "AppSetEnv"

typedef struct {
    const char *name, *words, *place;
} origin_t;

/* ---- what was said ---- */

/* On one line, and without the tabs that part the columns. */
static const char *on_a_line(apr_pool_t *p, const char *text)
{
    char *copy = apr_pstrdup(p, text), *c;

    for (c = copy; *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
    return copy;
}

void apppool_config_origin_note(cmd_parms *cmd, apppool_dir_t *dir)
{
    const char *args = cmd->directive->args, *key = cmd->cmd->name;
    origin_t *origin = apr_pcalloc(cmd->pool, sizeof *origin);

    origin->name = cmd->cmd->name;
    origin->words = on_a_line(cmd->pool, args);
    origin->place = apppool_value_place(cmd);
    if (!strcmp(key, SET_ENV))
        key = apr_pstrcat(cmd->pool, key, " ",
                          ap_getword_conf(cmd->pool, &args), NULL);
    if (!dir->origins)
        dir->origins = apr_hash_make(cmd->pool);
    apr_hash_set(dir->origins, key, APR_HASH_KEY_STRING, origin);
}

/* What merge_identity() does not hand down to another app (config.c). */
static int is_identity(const char *name)
{
    static const char *const names[] = {
        "AppCommand", "AppGroupName", "AppUser",     SET_ENV,
        "AppEnvFile", "AppListen",    "AppProtocol",
    };
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

apr_hash_t *apppool_config_origin_merge(apr_pool_t *p, apr_hash_t *base,
                                        apr_hash_t *over, int another)
{
    apr_hash_t *all = base ? apr_hash_copy(p, base) : apr_hash_make(p);
    apr_hash_index_t *i;

    for (i = another && base ? apr_hash_first(p, base) : NULL; i;
         i = apr_hash_next(i))
        if (is_identity(((const origin_t *)apr_hash_this_val(i))->name))
            apr_hash_set(all, apr_hash_this_key(i), APR_HASH_KEY_STRING, NULL);
    return over ? apr_hash_overlay(p, over, all) : all;
}

/* ---- all ---- */

static int is_of_apps(const command_rec *c)
{
    return (c->req_override & ACCESS_CONF) != 0 &&
           strncmp(c->name, "AppStatus", 9) != 0;
}

/* Those of one name, which are several of AppSetEnv. @return 0: none */
static int add_origins(apr_pool_t *p, apr_array_header_t *lines,
                       const apppool_app_t *app, const char *name)
{
    apr_hash_index_t *i;
    int n = 0;

    for (i = app->set->origins ? apr_hash_first(p, app->set->origins) : NULL; i;
         i = apr_hash_next(i)) {
        const origin_t *origin = apr_hash_this_val(i);

        if (strcmp(origin->name, name) != 0)
            continue;
        APR_ARRAY_PUSH(lines, const char *) = apr_pstrcat(
            p, name, "\t", origin->words, "\t", origin->place, "\n", NULL);
        n++;
    }
    return n;
}

const char *apppool_config_origin_of(apr_pool_t *p, const apppool_app_t *app)
{
    apr_array_header_t *lines = apr_array_make(p, 64, sizeof(char *));
    const command_rec *c;
    const char *value;

    for (c = apppool_directives; c->name; c++) {
        if (!is_of_apps(c) || add_origins(p, lines, app, c->name))
            continue;
        value = apppool_config_defaults_of(p, app, c->name);
        APR_ARRAY_PUSH(lines, const char *) =
            apr_pstrcat(p, c->name, "\t", value ? value : "", "\t\n", NULL);
    }
    return apr_array_pstrcat(p, lines, 0);
}
