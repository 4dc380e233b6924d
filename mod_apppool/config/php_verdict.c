/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/php_verdict.h"

#include <apr_fnmatch.h>
#include <apr_strings.h>
#include <http_core.h>
#include <string.h>

#include "mod_apppool/config/app.h"
#include "mod_apppool/config/section.h"

static int begins(const char *text, const char *begin)
{
    return !ap_cstr_casecmpn(text, begin, strlen(begin));
}

/* ---- where it stands ---- */

static int is_at(const char *path, const char *above)
{
    return above && above[strspn(above, "/")] &&
           apppool_section_is_below(path, above, strlen(above)) &&
           !apr_fnmatch_test(path);
}

int apppool_php_verdict_is_own(const apppool_php_rule_t *rule,
                               const apppool_mount_t *mount,
                               const char *documents)
{
    if (rule->in_htaccess)
        return 0;
    if (!mount->section && mount->server->is_virtual &&
        rule->server == mount->server)
        return 1;
    if (rule->location)
        return is_at(rule->location, mount->base_uri);
    return rule->directory && (is_at(rule->directory, documents) ||
                               is_at(rule->directory, mount->app->pool.root));
}

/* Does a <Directory> section of this argument hold for a directory? */
static int holds_for(apr_pool_t *p, const char *section, const char *directory)
{
    char *path = apr_pstrdup(p, directory), *slash = path + strlen(path);

    if (!apr_fnmatch_test(section))
        return apppool_section_is_below(path, section, strlen(section));
    while (slash > path && slash[-1] == '/')
        *--slash = 0;
    for (; slash; slash = strrchr(path, '/')) {
        *slash = 0;
        if (apr_fnmatch(section, path, APR_FNM_PATHNAME) == APR_SUCCESS)
            return 1;
    }
    return 0;
}

int apppool_php_verdict_holds_for_all(apr_pool_t *p,
                                      const apppool_php_rule_t *rule,
                                      const apppool_mount_t *mount,
                                      const char *documents)
{
    return !rule->in_files && !rule->in_other && !rule->in_htaccess &&
           !rule->location &&
           (!rule->directory ||
            holds_for(p, rule->directory,
                      documents ? documents : mount->app->pool.root));
}

/* ---- what it says ---- */

/* A type that ForceType may give to scripts: that of their output, or a
 * handler. AddType may give them any other, which content negotiation reads. */
static int is_type_of_scripts(const char *type)
{
    return begins(type, "text/html") || begins(type, "apppool-") ||
           apppool_php_rule_runs_php(type);
}

static int is_type_of_source(const char *type)
{
    return begins(type, "text/plain") ||
           begins(type, "application/octet-stream");
}

static int is_none(const char *value)
{
    return !ap_cstr_casecmp(value, "none");
}

const apppool_php_rule_t *
apppool_php_verdict_rule(const apppool_php_rules_t *rules, const char *handler,
                         const char *filename)
{
    int i = apppool_php_rule_suffix(filename);
    const apppool_php_rule_t *add;

    if (!rules || i < 0)
        return NULL;
    if (rules->set_handler && !is_none(rules->set_handler->rule->value))
        return rules->set_handler->rule;
    add = rules->handler[i];
    return add && add->value && !ap_cstr_casecmp(add->value, handler) ? add
                                                                      : NULL;
}

/* Would it run PHP? That is not known of an expression. A user may turn PHP off
 * by one. */
static int may_run_php(const apppool_php_rule_t *rule)
{
    return apppool_php_rule_runs_php(rule->value) ||
           (strchr(rule->value, '%') && !rule->in_htaccess);
}

static int counts(const apppool_php_rule_t *rule, const apppool_mount_t *mount,
                  const char *documents)
{
    return !may_run_php(rule) ||
           apppool_php_verdict_is_own(rule, mount, documents);
}

/* The last SetHandler that counts. */
static const apppool_php_rule_t *find_set(const apppool_php_rules_t *rules,
                                          const apppool_mount_t *mount,
                                          const char *documents)
{
    const apppool_php_set_t *set = rules->set_handler;

    while (set && !counts(set->rule, mount, documents))
        set = set->under;
    return set ? set->rule : NULL;
}

/* As httpd itself writes a handler. */
static const char *spell(apr_pool_t *p, const char *handler)
{
    char *copy = apr_pstrdup(p, handler);

    if (!strstr(copy, "proxy:unix"))
        ap_str_tolower(copy);
    return copy;
}

const char *apppool_php_verdict_handler(apr_pool_t *p,
                                        const apppool_php_rules_t *rules,
                                        const char *filename,
                                        const apppool_mount_t *mount,
                                        const char *documents)
{
    int i = apppool_php_rule_suffix(filename);
    const apppool_php_rule_t *set, *add;

    if (!rules || i < 0)
        return NULL;
    set = find_set(rules, mount, documents);
    if (set && !is_none(set->value) && !strchr(set->value, '%'))
        return spell(p, set->value);
    add = rules->handler[i];
    return add && add->value && counts(add, mount, documents)
               ? spell(p, add->value)
               : NULL;
}

const apppool_php_rule_t *
apppool_php_verdict_off(apr_pool_t *p, const apppool_php_rules_t *rules,
                        const char *handler, const char *filename,
                        const apppool_mount_t *mount, const char *documents)
{
    int i = apppool_php_rule_suffix(filename);
    const apppool_php_rule_t *rule;

    if (!rules || i < 0)
        return NULL;
    rule = find_set(rules, mount, documents);
    if (rule && (!handler || is_none(rule->value)))
        return rule;
    rule = rules->handler[i];
    if (rule && !rule->value)
        return rule;
    rule = rules->type[i];
    if (rule && (!rule->value || is_type_of_source(rule->value)))
        return rule;
    rule = rules->force_type;
    if (rule && !is_none(rule->value) && !is_type_of_scripts(rule->value))
        return rule;
    rule = rules->engine;
    if (rule && !strcmp(rule->value, "Off") &&
        (apppool_php_verdict_is_own(rule, mount, documents) ||
         !apppool_php_verdict_holds_for_all(p, rule, mount, documents)))
        return rule;
    return NULL;
}
