/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file php_directives.h
 * @brief Notes the directives of other modules that say something about scripts
 *        of PHP: SetHandler, AddHandler, RemoveHandler, AddType, RemoveType,
 *        ForceType and mod_php's engine.
 *
 * httpd calls each module that has a directive of a name, so this module has
 * these names in its table, too. httpd itself tells nobody in which section a
 * handler was set, and mod_mime and mod_php do not tell what was removed or
 * turned off.
 *
 * A directive whose module is not loaded is as unknown as without this module.
 * <IfDirective> and AllowOverrideList see the name nevertheless.
 *
 * Trust: as in php_rule.h. The other module checks the words.
 */
#ifndef MOD_APPPOOL_CONFIG_PHP_DIRECTIVES_H
#define MOD_APPPOOL_CONFIG_PHP_DIRECTIVES_H

#include "mod_apppool/config/config.h"

/** The entries of these directives in a command_rec table. httpd asks for the
 * override that an entry has before it calls us, so ours ask for any. */
#define APPPOOL_PHP_DIRECTIVES                                                 \
    APPPOOL_PHP_NOTED(TAKE1, "SetHandler", one, SET_HANDLER, OR_FILEINFO),     \
        APPPOOL_PHP_NOTED(TAKE1, "ForceType", one, FORCE_TYPE, OR_FILEINFO),   \
        APPPOOL_PHP_NOTED(ITERATE2, "AddHandler", two, ADD_HANDLER,            \
                          OR_FILEINFO),                                        \
        APPPOOL_PHP_NOTED(ITERATE, "RemoveHandler", one, REMOVE_HANDLER,       \
                          OR_FILEINFO),                                        \
        APPPOOL_PHP_NOTED(ITERATE2, "AddType", two, ADD_TYPE, OR_FILEINFO),    \
        APPPOOL_PHP_NOTED(ITERATE, "RemoveType", one, REMOVE_TYPE,             \
                          OR_FILEINFO),                                        \
        APPPOOL_PHP_NOTED(TAKE2, "php_flag", two, FLAG, OR_OPTIONS),           \
        APPPOOL_PHP_NOTED(TAKE2, "php_value", two, FLAG, OR_OPTIONS),          \
        APPPOOL_PHP_NOTED(TAKE2, "php_admin_flag", two, FLAG,                  \
                          RSRC_CONF | ACCESS_CONF),                            \
        APPPOOL_PHP_NOTED(TAKE2, "php_admin_value", two, FLAG,                 \
                          RSRC_CONF | ACCESS_CONF)

#define APPPOOL_PHP_NOTED(kind, name, words, what, where)                      \
    AP_INIT_##kind(                                                            \
        name, apppool_php_directives_note_##words,                             \
        (void *)&((const apppool_php_noted_t){APPPOOL_PHP_##what, where}),     \
        OR_ALL | NONFATAL_ALL, "of another module, and only noted here")

enum {
    APPPOOL_PHP_SET_HANDLER,
    APPPOOL_PHP_FORCE_TYPE,
    APPPOOL_PHP_ADD_HANDLER,
    APPPOOL_PHP_REMOVE_HANDLER,
    APPPOOL_PHP_ADD_TYPE,
    APPPOOL_PHP_REMOVE_TYPE,
    APPPOOL_PHP_FLAG,
    APPPOOL_PHP_KINDS
};

/** A directive. */
typedef struct {
    int kind;
    int where; /**< it is only noted with one of these overrides */
} apppool_php_noted_t;

/* Of directives with one word, and with two. */
const char *apppool_php_directives_note_one(cmd_parms *cmd, void *dir,
                                            const char *word);
const char *apppool_php_directives_note_two(cmd_parms *cmd, void *dir,
                                            const char *word,
                                            const char *other);

/** Begin a configuration, when all modules are loaded. */
void apppool_php_directives_begin(apr_pool_t *p);

/** The rules that name a handler of PHP and are not in .htaccess:
 * const apppool_php_rule_t *, in order. */
const apr_array_header_t *apppool_php_directives_handlers(void);

#endif
