/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/php_rules.h"

#include <apr_strings.h>
#include <http_core.h>
#include <string.h>

static int begins(const char *text, const char *begin)
{
    return !ap_cstr_casecmpn(text, begin, strlen(begin));
}

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
apppool_php_rules_merge(apr_pool_t *p, const apppool_php_rules_t *base,
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
