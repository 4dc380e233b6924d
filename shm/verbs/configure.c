/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/configure.h"

#include <stdio.h>
#include <string.h>

#include "shm/policy/capacity.h"
#include "shm/policy/retire.h"
#include "shm/verbs/enter.h"
#include "shm/verbs/supervise.h"

apr_status_t apl_configure_limits(apl_pool_t *pool, uint32_t max,
                                  uint32_t config, int64_t now)
{
    apl_header_t *h = pool->header;
    apl_lock_token_t token;
    apr_status_t rv;

    if (h->max == max && h->config == config)
        return APR_SUCCESS;
    rv = apl_enter_patiently(&token, pool, now);
    if (rv != APR_SUCCESS)
        return rv;
    h->max = max;
    h->config = config;
    APL_CRASH_POINT("limits");
    apl_capacity_share_all(&token);
    apl_leave(&token);
    return APR_SUCCESS;
}

apr_status_t apl_configure_group(apl_pool_t *pool, const apl_app_t *app,
                                 int prestart, int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = prestart
                          ? apl_enter_app(&token, pool, app, now, &g)
                          : apl_enter_group(&token, pool, app->name, now, &g);

    if (rv != APR_SUCCESS)
        return rv == APL_ESTALE ? APR_SUCCESS : rv;
    apl_group_configure(&token, g, &app->options);
    snprintf(g->root, sizeof g->root, "%s", app->root);
    if (g->retry_at > now + APL_BACKOFF_MAX * 1000000ll)
        g->retry_at = now; /* no pause is that long: this is damage */
    g->retired = 0;
    if (prestart)
        g->used = 1;
    apl_capacity_keep_minimum(&token, g);
    apl_capacity_share(&token, g);
    apl_leave(&token);
    return APR_SUCCESS;
}

apr_status_t apl_configure_remove(apl_pool_t *pool, const char *name,
                                  int64_t now)
{
    apl_group_t *g;
    apl_lock_token_t token;
    apr_status_t rv = apl_enter_group(&token, pool, name, now, &g);

    if (rv != APR_SUCCESS)
        return rv;
    g->retired = 1;
    APL_CRASH_POINT("remove_retired");
    apl_retire_closed(&token, g);
    apl_capacity_assign(&token);
    apl_leave(&token);
    return APR_SUCCESS;
}

APL_UNLOCKED apr_status_t apl_configure_group_name(const apl_pool_t *pool,
                                                   uint32_t index,
                                                   char name[APL_NAME_MAX])
{
    const apl_group_t *g = apl_group_at(pool, index);

    if (!g || index > pool->header->top_group || g->state != APL_GROUP_USED)
        return APL_ESTALE;
    memcpy(name, g->name, APL_NAME_MAX);
    name[APL_NAME_MAX - 1] = 0;
    return APR_SUCCESS;
}
