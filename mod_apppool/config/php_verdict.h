/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file php_verdict.h
 * @brief What the rules about scripts of PHP mean for an application.
 *
 * The mount's own sections are the virtual host with its AppRoot, a <Directory>
 * at or below its directories, and a <Location> at or below its URL. What
 * stands anywhere else was not written for this application: the configuration
 * that comes with a package, for example. An .htaccess file is none of the own
 * sections.
 *
 * Trust: as in php_rule.h. A user can turn PHP off in .htaccess. A handler that
 *        is set there does not count.
 */
#ifndef MOD_APPPOOL_CONFIG_PHP_VERDICT_H
#define MOD_APPPOOL_CONFIG_PHP_VERDICT_H

#include "mod_apppool/config/config.h"

/**
 * Does the rule stand in the mount's own sections?
 * @param documents where httpd looks for the files of the mount, or NULL
 */
int apppool_php_verdict_is_own(const apppool_php_rule_t *rule,
                               const apppool_mount_t *mount,
                               const char *documents);

/** Does the rule hold for all files of the mount? */
int apppool_php_verdict_holds_for_all(apr_pool_t *p,
                                      const apppool_php_rule_t *rule,
                                      const apppool_mount_t *mount,
                                      const char *documents);

/** Which rule has set this handler? @return NULL: none; a rewrite rule, for
 * example */
const apppool_php_rule_t *
apppool_php_verdict_rule(const apppool_php_rules_t *rules, const char *handler,
                         const char *filename);

/**
 * The handler of a script if the handlers of PHP from outside of the mount's
 * own sections had not been set. <FilesMatch> comes after <Directory>, so they
 * may hide what an own section says.
 * @return NULL: none
 */
const char *apppool_php_verdict_handler(apr_pool_t *p,
                                        const apppool_php_rules_t *rules,
                                        const char *filename,
                                        const apppool_mount_t *mount,
                                        const char *documents);

/**
 * Which rule says that this script is not to be run? Such a script is not sent
 * to clients either. mod_php's engine speaks of mod_php. So where it is off for
 * more than the mount, by no section of the mount, it says nothing about the
 * application.
 * @param handler of the request, without those that do not count; NULL: none
 * @return NULL: none
 */
const apppool_php_rule_t *
apppool_php_verdict_off(apr_pool_t *p, const apppool_php_rules_t *rules,
                        const char *handler, const char *filename,
                        const apppool_mount_t *mount, const char *documents);

#endif
