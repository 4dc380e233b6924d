/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/php_rule.h"

#include <apr_fnmatch.h>
#include <apr_strings.h>
#include <http_core.h>
#include <string.h>

#include "mod_apppool/config/config_origin.h"
#include "mod_apppool/config/section.h"

static const char *const suffixes[APPPOOL_PHP_SUFFIXES] = {".php", ".phtml",
                                                           ".phar"};

int apppool_php_rule_suffix_index(const char *suffix)
{
    int i;

    for (i = 0; i < APPPOOL_PHP_SUFFIXES; i++)
        if (!ap_cstr_casecmp(suffix, suffixes[i]))
            return i;
    return -1;
}

int apppool_php_rule_suffix(const char *filename)
{
    const char *suffix = strrchr(filename, '.');

    return suffix ? apppool_php_rule_suffix_index(suffix) : -1;
}

static int begins(const char *text, const char *begin)
{
    return !ap_cstr_casecmpn(text, begin, strlen(begin));
}

/* application/x-httpd-php-source shows the source, and does not run it. */
int apppool_php_rule_runs_php(const char *handler)
{
    if (begins(handler, "application/x-httpd-"))
        return ap_strcasestr(handler, "php") &&
               !ap_strcasestr(handler, "-source");
    return !ap_cstr_casecmp(handler, "php-script") ||
           (begins(handler, "proxy:") && ap_strcasestr(handler, "fcgi://"));
}

/* <Files "*.php"> names a kind of file, and <Files "x.php"> one file. */
static int names_a_kind(apr_pool_t *p, const ap_directive_t *d)
{
    const char *name = apppool_section_argument(p, d);

    return apppool_section_is(d, "<FilesMatch") ||
           (apppool_section_is(d, "<Files") &&
            (!name || apr_fnmatch_test(name)));
}

static void note_section(apr_pool_t *p, apppool_php_rule_t *rule,
                         const ap_directive_t *d)
{
    const char **argument =
        apppool_section_is(d, "<Directory")  ? &rule->directory
        : apppool_section_is(d, "<Location") ? &rule->location
                                             : NULL;

    if (argument)
        *argument = apppool_section_argument(p, d);
    if (names_a_kind(p, d))
        rule->in_files = 1;
    else if (!apppool_section_is(d, "<VirtualHost"))
        rule->in_other |= !argument || !*argument;
}

const apppool_php_rule_t *apppool_php_rule_make(cmd_parms *cmd,
                                                const char *value)
{
    apppool_php_rule_t *rule = apr_pcalloc(cmd->pool, sizeof *rule);
    const ap_directive_t *d;

    rule->name = cmd->cmd->name;
    rule->value = value;
    rule->words = cmd->directive->args;
    rule->place = apppool_config_origin_place(cmd);
    rule->server = cmd->server;
    for (d = cmd->directive->parent; d; d = d->parent)
        note_section(cmd->pool, rule, d);
    rule->in_htaccess = ap_check_cmd_context(cmd, NOT_IN_HTACCESS) != NULL;
    return rule;
}

const char *apppool_php_rule_text(apr_pool_t *p, const apppool_php_rule_t *rule)
{
    return apr_pstrcat(p, rule->name, " ", rule->words, " (", rule->place, ")",
                       NULL);
}

/* ---- the rules of a place ---- */

/* What php_admin_flag says, php_flag cannot change. */
static int overrides(const apppool_php_rule_t *rule,
                     const apppool_php_rule_t *last)
{
    return rule && !(last && begins(last->name, "php_admin") &&
                     !begins(rule->name, "php_admin"));
}

/* All of `over`, which are few, come over those of `base`. */
static const apppool_php_set_t *put_over(apr_pool_t *p,
                                         const apppool_php_set_t *base,
                                         const apppool_php_set_t *over)
{
    apppool_php_set_t *set;

    if (!base || !over)
        return base ? base : over;
    set = apr_palloc(p, sizeof *set);
    set->rule = over->rule;
    set->under = put_over(p, base, over->under);
    return set;
}

const apppool_php_rules_t *
apppool_php_rule_merge(apr_pool_t *p, const apppool_php_rules_t *base,
                       const apppool_php_rules_t *over)
{
    apppool_php_rules_t *both;
    int i;

    if (!base || !over)
        return base ? base : over;
    both = apr_pmemdup(p, base, sizeof *base);
    both->set_handler = put_over(p, base->set_handler, over->set_handler);
    if (over->force_type)
        both->force_type = over->force_type;
    if (overrides(over->engine, base->engine))
        both->engine = over->engine;
    for (i = 0; i < APPPOOL_PHP_SUFFIXES; i++) {
        if (over->handler[i])
            both->handler[i] = over->handler[i];
        if (over->type[i])
            both->type[i] = over->type[i];
    }
    return both;
}
