/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file setting.h
 * @brief The rows of base/settings.def as a table, and what is the same for
 *        each of them: the value for a request or an application, and the
 *        comparison of two applications.
 */
#ifndef MOD_APPPOOL_CONFIG_SETTING_H
#define MOD_APPPOOL_CONFIG_SETTING_H

#include "mod_apppool/config/app.h"

/** Where a value goes: see base/settings.def. From GROUP on it belongs to an
 * application, so its place is beside AppRoot. */
typedef enum {
    APPPOOL_SCOPE_SERVER,
    APPPOOL_SCOPE_STATUS,
    APPPOOL_SCOPE_REQUEST,
    APPPOOL_SCOPE_GROUP,
    APPPOOL_SCOPE_KEPT,
    APPPOOL_SCOPE_SENT,
    APPPOOL_SCOPE_POOL
} apppool_scope_t;

typedef enum {
    APPPOOL_CLASS_SELF,
    APPPOOL_CLASS_MADE,
    APPPOOL_CLASS_LIMIT,
    APPPOOL_CLASS_NONE
} apppool_class_t;

/** A row. */
typedef struct {
    const char *name; /**< of the directive */
    settings_kind_t kind;
    apppool_scope_t scope;
    apppool_class_t class;
    size_t at;             /**< in apppool_dir_t or apppool_server_t */
    size_t in_app;         /**< in apppool_app_t; KEPT, SENT and POOL have it */
    apr_int64_t otherwise; /**< default; APPPOOL_UNSET: none, or a rule */
    const char *text;      /**< default of a text; NULL */
    const char *key;       /**< in the app table; NULL: none */
    apr_int64_t least, most;
    const char *zero; /**< what 0 means; or the words */
    const char *help; /**< NULL: the second value of the row before */
} apppool_setting_t;

/** By apppool_setting_id_t. */
extern const apppool_setting_t apppool_settings[APPPOOL_SETTINGS];

/** A number of a place, or its default. */
apr_int64_t apppool_setting_of(const apppool_dir_t *dir,
                               apppool_setting_id_t setting);

/** A number of the place of a request, or its default. */
apr_int64_t apppool_setting_here(const request_rec *r,
                                 apppool_setting_id_t setting);

/** A text for a request, or its default. */
const char *apppool_setting_text_here(const request_rec *r,
                                      apppool_setting_id_t setting);

/** Is it a TEXT or a PATH? Else it is a number. */
int apppool_setting_is_text(const apppool_setting_t *s);

/** The value that was made for an application; of a text, and of a number. */
const char *apppool_setting_text(const apppool_setting_t *s,
                                 const apppool_app_t *app);
apr_int64_t apppool_setting_number(const apppool_setting_t *s,
                                   const apppool_app_t *app);

/** Make all values of an application from app->set and the defaults. The rules
 * of RULE are left to the caller. */
void apppool_setting_resolve(apppool_app_t *app);

/**
 * Do two applications have the same values of the directives of a class?
 * @return the first directive that differs; NULL: none
 */
const char *apppool_setting_difference(const apppool_app_t *a,
                                       const apppool_app_t *b,
                                       apppool_class_t class);

/** The word of a WORD or PAIR. */
const char *apppool_setting_word(apr_pool_t *p, const apppool_setting_t *s,
                                 apr_int64_t n);

#endif
