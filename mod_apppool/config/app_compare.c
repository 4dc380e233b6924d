/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_compare.h"

#include <string.h>

#include "mod_apppool/config/setting.h"

static int equal(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static int equal_env(apr_pool_t *p, apr_hash_t *a, apr_hash_t *b)
{
    apr_hash_index_t *i;

    if (!a || !b)
        return (a ? apr_hash_count(a) : 0) == (b ? apr_hash_count(b) : 0);
    if (apr_hash_count(a) != apr_hash_count(b))
        return 0;
    for (i = apr_hash_first(p, a); i; i = apr_hash_next(i))
        if (!equal(apr_hash_this_val(i),
                   apr_hash_get(b, apr_hash_this_key(i), APR_HASH_KEY_STRING)))
            return 0;
    return 1;
}

const char *apppool_app_compare_identity(apr_pool_t *p, const apppool_app_t *a,
                                         const apppool_app_t *b)
{
    const char *what;

    if (!equal(a->pool.root, b->pool.root))
        return "AppRoot";
    what = apppool_setting_difference(a, b, APPPOOL_CLASS_SELF);
    if (!what)
        what = apppool_setting_difference(a, b, APPPOOL_CLASS_MADE);
    if (what)
        return what;
    if (!equal(a->set->user, b->set->user) ||
        !equal(a->set->user_group, b->set->user_group))
        return "AppUser";
    if (!equal(a->space, b->space) ||
        !equal(a->store_servers, b->store_servers))
        return "AppStore";
    return equal_env(p, a->set->env, b->set->env) ? NULL : "AppSetEnv";
}

int apppool_app_compare_options(const apppool_app_t *a, const apppool_app_t *b)
{
    return !apppool_setting_difference(a, b, APPPOOL_CLASS_LIMIT) &&
           memcmp(&a->pool.options, &b->pool.options, sizeof a->pool.options) ==
               0 &&
           apppool_rlimits_equal(&a->rlimits, &b->rlimits) &&
           equal(a->set->log, b->set->log) &&
           equal(a->restart_dir, b->restart_dir);
}
