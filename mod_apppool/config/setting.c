/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/setting.h"

#include <apr_strings.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "base/contract.h"

#define AT_SERVER(field)  offsetof(apppool_server_t, field), 0
#define AT_STATUS(field)  offsetof(apppool_dir_t, field), 0
#define AT_REQUEST(field) offsetof(apppool_dir_t, field), 0
#define AT_GROUP(field)   offsetof(apppool_dir_t, field), 0
#define AT_KEPT(field)                                                         \
    offsetof(apppool_dir_t, field), offsetof(apppool_app_t, field)
#define AT_SENT(field) AT_KEPT(field)
#define AT_POOL(field)                                                         \
    offsetof(apppool_dir_t, field), offsetof(apppool_app_t, pool.options.field)
#define OTHERWISE_NUMBER(otherwise) otherwise, NULL
#define OTHERWISE_TEXT(otherwise)   APPPOOL_UNSET, otherwise
#define OTHERWISE_OTHER(otherwise)  APPPOOL_UNSET, NULL
#define LIMITS(least, most, zero)   least, most, zero

const apppool_setting_t apppool_settings[APPPOOL_SETTINGS] = {
#define SETTING(scope, kind, name, class, field, otherwise, key, range, help)  \
    {#name,                                                                    \
     SETTINGS_##kind,                                                          \
     APPPOOL_SCOPE_##scope,                                                    \
     APPPOOL_CLASS_##class,                                                    \
     AT_##scope(field),                                                        \
     SETTINGS_AS(OTHERWISE_, kind)(otherwise),                                 \
     key,                                                                      \
     LIMITS range,                                                             \
     help},
#include "base/settings.def"
};

int apppool_setting_is_text(const apppool_setting_t *s)
{
    return s->kind == SETTINGS_TEXT || s->kind == SETTINGS_PATH;
}

static int is_long(const apppool_setting_t *s)
{
    return s->kind == SETTINGS_TIME || s->kind == SETTINGS_SIZE;
}

apr_int64_t apppool_setting_of(const apppool_dir_t *dir,
                               apppool_setting_id_t setting)
{
    const apppool_setting_t *s = &apppool_settings[setting];

    return apppool_config_or(*(const apr_int64_t *)((const char *)dir + s->at),
                             s->otherwise);
}

apr_int64_t apppool_setting_here(const request_rec *r,
                                 apppool_setting_id_t setting)
{
    return apppool_setting_of(
        ap_get_module_config(r->per_dir_config, &apppool_module), setting);
}

const char *apppool_setting_text_here(const request_rec *r,
                                      apppool_setting_id_t setting)
{
    const char *dir = ap_get_module_config(r->per_dir_config, &apppool_module);
    const apppool_setting_t *s = &apppool_settings[setting];
    const char *set = *(const char *const *)(dir + s->at);

    return set ? set : s->text;
}

const char *apppool_setting_text(const apppool_setting_t *s,
                                 const apppool_app_t *app)
{
    return *(const char *const *)((const char *)app + s->in_app);
}

apr_int64_t apppool_setting_number(const apppool_setting_t *s,
                                   const apppool_app_t *app)
{
    const char *at = (const char *)app + s->in_app;

    return is_long(s) ? *(const int64_t *)at : *(const uint32_t *)at;
}

void apppool_setting_resolve(apppool_app_t *app)
{
    int i;

    for (i = 0; i < APPPOOL_SETTINGS; i++) {
        const apppool_setting_t *s = &apppool_settings[i];
        const char *set = (const char *)app->set + s->at;
        char *to = (char *)app + s->in_app;

        if (s->scope < APPPOOL_SCOPE_KEPT)
            continue;
        if (apppool_setting_is_text(s)) {
            const char *text = *(const char *const *)set;

            *(const char **)to = text ? text : s->text;
        }
        else if (is_long(s))
            *(int64_t *)to =
                apppool_setting_of(app->set, (apppool_setting_id_t)i);
        else
            *(uint32_t *)to =
                (uint32_t)apppool_setting_of(app->set, (apppool_setting_id_t)i);
    }
}

static int is_same(const apppool_setting_t *s, const apppool_app_t *a,
                   const apppool_app_t *b)
{
    const char *x, *y;

    if (!apppool_setting_is_text(s))
        return apppool_setting_number(s, a) == apppool_setting_number(s, b);
    x = apppool_setting_text(s, a);
    y = apppool_setting_text(s, b);
    return x == y || (x && y && !strcmp(x, y));
}

const char *apppool_setting_difference(const apppool_app_t *a,
                                       const apppool_app_t *b,
                                       apppool_class_t class)
{
    int i;

    for (i = 0; i < APPPOOL_SETTINGS; i++) {
        const apppool_setting_t *s = &apppool_settings[i];

        if (s->scope >= APPPOOL_SCOPE_KEPT && s->class == class &&
            !is_same(s, a, b))
            return s->name;
    }
    return NULL;
}

const char *apppool_setting_word(apr_pool_t *p, const apppool_setting_t *s,
                                 apr_int64_t n)
{
    const char *words = s->zero;

    while (n-- > 0)
        words = strchr(words, ' ') + 1;
    return apr_pstrmemdup(p, words, strcspn(words, " "));
}
