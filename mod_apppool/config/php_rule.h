/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file php_rule.h
 * @brief A directive of httpd or of mod_php that says something about scripts
 *        of PHP, and where it stands; and those that are in force at a place.
 *
 * They merge as the directives of their own modules do, also in .htaccess. So
 * they belong to the settings of a place (config.h). php_directives.h notes
 * them, and php_verdict.h says what they mean for an application.
 *
 * Trust: the configuration is root's, and .htaccess is a user's. A rule of
 *        .htaccess belongs to its request.
 */
#ifndef MOD_APPPOOL_CONFIG_PHP_RULE_H
#define MOD_APPPOOL_CONFIG_PHP_RULE_H

#include <httpd.h>
#include <http_config.h>

/** A directive. */
typedef struct {
    const char *name, *words, *place; /**< "line 2 of /etc/..." */
    const char *value; /**< handler, type, On or Off; NULL: it removes one */
    const server_rec *server;
    const char *directory; /**< of its <Directory>; may be a pattern; or NULL */
    const char *location;  /**< of its <Location>; may be a pattern; or NULL */
    int in_files;          /**< in <FilesMatch>, or <Files> with a pattern */
    int in_other;          /**< in another section that has a condition */
    int in_htaccess;
} apppool_php_rule_t;

/** Make one of the directive that is being read. */
const apppool_php_rule_t *apppool_php_rule_make(cmd_parms *cmd,
                                                const char *value);

#define APPPOOL_PHP_SUFFIXES 3

/** What Debian's and Fedora's httpd run as PHP, by its last suffix.
 * @return index of the suffix; -1: it is no script */
int apppool_php_rule_suffix(const char *filename);

/** @param suffix ".php" @return its index; -1: it is none of PHP's */
int apppool_php_rule_suffix_index(const char *suffix);

/** Would this handler run PHP? */
int apppool_php_rule_runs_php(const char *handler);

/** A rule for the log: "SetHandler none (line 2 of ...)" */
const char *apppool_php_rule_text(apr_pool_t *p,
                                  const apppool_php_rule_t *rule);

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
    const apppool_php_rule_t
        *handler[APPPOOL_PHP_SUFFIXES]; /**< AddHandler, ... */
    const apppool_php_rule_t *type[APPPOOL_PHP_SUFFIXES]; /**< AddType, ... */
} apppool_php_rules_t;

const apppool_php_rules_t *
apppool_php_rule_merge(apr_pool_t *p, const apppool_php_rules_t *base,
                       const apppool_php_rules_t *over);

#endif
