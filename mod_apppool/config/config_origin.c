/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/config_origin.h"

#include <apr_strings.h>
#include <string.h>

#define SET_ENV "AppSetEnv"

const char *apppool_config_origin_place(const cmd_parms *cmd)
{
    return apr_psprintf(cmd->pool, "line %d of %s", cmd->directive->line_num,
                        cmd->directive->filename);
}

/* On one line, and without tabs, which separate the columns of a report. */
static const char *on_a_line(apr_pool_t *p, const char *text)
{
    char *copy = apr_pstrdup(p, text), *c;

    for (c = copy; *c; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' ';
    return copy;
}

void apppool_config_origin_note(const cmd_parms *cmd, apr_hash_t **origins)
{
    const char *args = cmd->directive->args, *key = cmd->cmd->name;
    apppool_config_origin_t *origin = apr_pcalloc(cmd->pool, sizeof *origin);

    origin->name = cmd->cmd->name;
    origin->words = on_a_line(cmd->pool, args);
    origin->place = apppool_config_origin_place(cmd);
    if (!strcmp(key, SET_ENV))
        key = apr_pstrcat(cmd->pool, key, " ",
                          ap_getword_conf(cmd->pool, &args), NULL);
    if (!*origins)
        *origins = apr_hash_make(cmd->pool);
    apr_hash_set(*origins, key, APR_HASH_KEY_STRING, origin);
}

/* What another app does not inherit: the class SELF. */
static int is_identity(const char *name)
{
    static const char *const names[] = {
#define NAME_SELF(name) name,
#define NAME_MADE(name)
#define NAME_LIMIT(name)
#define NAME_NONE(name)
#define SETTING(scope, kind, name, class, ...) NAME_##class(#name)
#include "base/settings.def"
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
        if (is_identity(
                ((const apppool_config_origin_t *)apr_hash_this_val(i))->name))
            apr_hash_set(all, apr_hash_this_key(i), APR_HASH_KEY_STRING, NULL);
    return over ? apr_hash_overlay(p, over, all) : all;
}
