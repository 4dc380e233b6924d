/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_compare.h"

#include <string.h>

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
    if (!equal(a->pool.root, b->pool.root))
        return "AppRoot";
    if (!equal(a->set->command, b->set->command))
        return "AppCommand";
    if (!equal(a->set->user, b->set->user) ||
        !equal(a->set->user_group, b->set->user_group))
        return "AppUser";
    if (!equal(a->environment, b->environment))
        return "AppEnvironment";
    if (a->listen != b->listen)
        return "AppListen";
    if (a->protocol != b->protocol)
        return "AppProtocol";
    if (!equal(a->space, b->space) ||
        !equal(a->store_servers, b->store_servers))
        return "AppStore";
    if (!equal(a->set->env_file, b->set->env_file))
        return "AppEnvFile";
    return equal_env(p, a->set->env, b->set->env) ? NULL : "AppSetEnv";
}

int apppool_app_compare_options(const apppool_app_t *a, const apppool_app_t *b)
{
    return memcmp(&a->pool.options, &b->pool.options, sizeof a->pool.options) ==
               0 &&
           apppool_rlimits_equal(&a->rlimits, &b->rlimits) &&
           equal(a->ready, b->ready) && equal(a->set->log, b->set->log) &&
           a->log_raw == b->log_raw && equal(a->restart_dir, b->restart_dir) &&
           a->prestart == b->prestart && a->preload == b->preload &&
           a->preload_idle == b->preload_idle &&
           equal(a->set->notify, b->set->notify) &&
           a->memory_limit == b->memory_limit &&
           a->slow_after == b->slow_after &&
           a->hung_stop_timeout == b->hung_stop_timeout &&
           a->dump_signal == b->dump_signal &&
           a->max_long_lived == b->max_long_lived &&
           a->start_timeout == b->start_timeout &&
           a->stop_timeout == b->stop_timeout &&
           a->stop_signal == b->stop_signal &&
           a->retire_timeout == b->retire_timeout &&
           a->no_new_privileges == b->no_new_privileges;
}
