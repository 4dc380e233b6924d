/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file php_rules.h
 * @brief The rules about scripts of PHP that are in force at a place.
 *
 * They merge as the directives of their own modules do, also in .htaccess. So
 * they belong to the settings of a place (config.h). php_directives.h notes
 * them, and php_verdict.h says what they mean for an application.
 *
 * Lock:  none; constant once they were read.
 * Crash: not concerned.
 * Trust: as in php_rule.h.
 */
#ifndef MOD_APPPOOL_CONFIG_PHP_RULES_H
#define MOD_APPPOOL_CONFIG_PHP_RULES_H

#include "mod_apppool/config/php_rule.h"

/** SetHandler, and what it has overridden. */
typedef struct apppool_php_set_t {
    const apppool_php_rule_t *rule;
    const struct apppool_php_set_t *under; /**< NULL: none */
} apppool_php_set_t;

/** Those that are in force at a place; NULL: there is none. */
typedef struct {
    const apppool_php_set_t *set_handler;
    const apppool_php_rule_t *force_type;
    const apppool_php_rule_t *engine; /**< php_flag engine ... */
    /* For each suffix, the last one. */
    const apppool_php_rule_t *handler[APPPOOL_PHP_SUFFIXES]; /**< Add, Remove */
    const apppool_php_rule_t *type[APPPOOL_PHP_SUFFIXES];    /**< the same */
} apppool_php_rules_t;

const apppool_php_rules_t *
apppool_php_rules_merge(apr_pool_t *p, const apppool_php_rules_t *base,
                        const apppool_php_rules_t *over);

#endif
