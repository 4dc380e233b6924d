/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/php_directives.h"

#include <apr_strings.h>
#include <http_log.h>
#include <stdlib.h>

APLOG_USE_MODULE(apppool);

/* Is a module loaded that has the directive? By kind. */
static int known[APPPOOL_PHP_KINDS];

/* Of this configuration. */
static apr_array_header_t *handlers;

static int find_owner(const char *name)
{
    module *m;

    for (m = ap_top_module; m && ap_find_command_in_modules(name, &m);
         m = m->next)
        if (m != &apppool_module)
            return 1;
    return 0;
}

void apppool_php_directives_begin(apr_pool_t *p)
{
    handlers = apr_array_make(p, 2, sizeof(apppool_php_rule_t *));
    known[APPPOOL_PHP_SET_HANDLER] = known[APPPOOL_PHP_FORCE_TYPE] = 1;
    known[APPPOOL_PHP_ADD_HANDLER] = known[APPPOOL_PHP_REMOVE_HANDLER] =
        known[APPPOOL_PHP_ADD_TYPE] = known[APPPOOL_PHP_REMOVE_TYPE] =
            find_owner("AddHandler");
    known[APPPOOL_PHP_FLAG] = find_owner("php_flag");
}

const apr_array_header_t *apppool_php_directives_handlers(void)
{
    return handlers;
}

/* As httpd itself says it: our entry in its table must not make a directive
 * legal that no other module has. */
static const char *refuse_unknown(const cmd_parms *cmd)
{
    if (cmd->override & NONFATAL_UNKNOWN) {
        ap_log_perror(APLOG_MARK, APLOG_WARNING, 0, cmd->temp_pool,
                      "Unknown directive %s perhaps misspelled or defined by a "
                      "module not included in the server configuration",
                      cmd->directive->directive);
        return NULL;
    }
    return apr_pstrcat(cmd->pool, "Invalid command '",
                       cmd->directive->directive,
                       "', perhaps misspelled or defined by a module not "
                       "included in the server configuration",
                       NULL);
}

/* If it may not, the module that has the directive says so. */
static int may_stand_here(const cmd_parms *cmd,
                          const apppool_php_noted_t *noted)
{
    return (cmd->override & noted->where) ||
           (cmd->override_list &&
            apr_table_get(cmd->override_list, cmd->cmd->name));
}

/* @param error filled in: what httpd says if not; NULL: nothing */
static int counts(const cmd_parms *cmd, const char **error)
{
    const apppool_php_noted_t *noted = cmd->info;

    *error = known[noted->kind] ? NULL : refuse_unknown(cmd);
    return known[noted->kind] && may_stand_here(cmd, noted);
}

static apppool_php_rules_t *rules_of(const cmd_parms *cmd, apppool_dir_t *dir)
{
    apppool_php_rules_t *rules =
        apr_pcalloc(cmd->pool, sizeof(apppool_php_rules_t));

    if (dir->php)
        *rules = *dir->php;
    dir->php = rules;
    return rules;
}

static const apppool_php_rule_t *make_handler(cmd_parms *cmd,
                                              const char *handler)
{
    const apppool_php_rule_t *rule = apppool_php_rule_make(cmd, handler);

    if (!rule->in_htaccess && apppool_php_rule_runs_php(handler))
        APR_ARRAY_PUSH(handlers, const apppool_php_rule_t *) = rule;
    return rule;
}

static void set_handler(cmd_parms *cmd, apppool_php_rules_t *rules,
                        const char *handler)
{
    apppool_php_set_t *set = apr_palloc(cmd->pool, sizeof *set);

    set->rule = make_handler(cmd, handler);
    set->under = NULL; /* the same section says it again */
    rules->set_handler = set;
}

/* mod_mime removes what the section itself adds, in any order. */
static void note(const apppool_php_rule_t **last,
                 const apppool_php_rule_t *rule)
{
    if (!*last || (*last)->value || !rule->value)
        *last = rule;
}

static int index_of(const cmd_parms *cmd, const char *suffix)
{
    return apppool_php_rule_suffix_index(
        *suffix == '.' ? suffix
                       : apr_pstrcat(cmd->temp_pool, ".", suffix, NULL));
}

const char *apppool_php_directives_note_one(cmd_parms *cmd, void *dir,
                                            const char *word)
{
    const apppool_php_noted_t *noted = cmd->info;
    int i, kind = noted->kind;
    apppool_php_rules_t *rules;
    const char *error;

    if (!counts(cmd, &error))
        return error;
    if (kind == APPPOOL_PHP_SET_HANDLER)
        set_handler(cmd, rules_of(cmd, dir), word);
    else if (kind == APPPOOL_PHP_FORCE_TYPE)
        rules_of(cmd, dir)->force_type = apppool_php_rule_make(cmd, word);
    else if ((i = index_of(cmd, word)) >= 0) {
        rules = rules_of(cmd, dir);
        note(kind == APPPOOL_PHP_REMOVE_HANDLER ? &rules->handler[i]
                                                : &rules->type[i],
             apppool_php_rule_make(cmd, NULL));
    }
    return NULL;
}

static int is_on(const char *value)
{
    return !ap_cstr_casecmp(value, "on") || !ap_cstr_casecmp(value, "yes") ||
           !ap_cstr_casecmp(value, "true") || atoi(value) != 0;
}

static void note_engine(cmd_parms *cmd, apppool_dir_t *dir, const char *value)
{
    apppool_php_rules_t one = {
        .engine = apppool_php_rule_make(cmd, is_on(value) ? "On" : "Off")};

    dir->php = apppool_php_rule_merge(cmd->pool, dir->php,
                                      apr_pmemdup(cmd->pool, &one, sizeof one));
}

const char *apppool_php_directives_note_two(cmd_parms *cmd, void *dir,
                                            const char *word, const char *other)
{
    const apppool_php_noted_t *noted = cmd->info;
    int i, kind = noted->kind;
    apppool_php_rules_t *rules;
    const char *error;

    if (!counts(cmd, &error))
        return error;
    if (kind == APPPOOL_PHP_FLAG) {
        if (!ap_cstr_casecmp(word, "engine"))
            note_engine(cmd, dir, other);
        return NULL;
    }
    i = index_of(cmd, other);
    if (i < 0)
        return NULL;
    rules = rules_of(cmd, dir);
    if (kind == APPPOOL_PHP_ADD_HANDLER)
        note(&rules->handler[i], make_handler(cmd, word));
    else
        note(&rules->type[i], apppool_php_rule_make(cmd, word));
    return NULL;
}
