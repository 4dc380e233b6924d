/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "shm/verbs/response.h"

#include "shm/verbs/enter.h"

APL_UNLOCKED static int is_old(const apl_pool_t *pool, const apl_app_t *app)
{
    return app->options.config < pool->header->config;
}

apr_status_t apl_response_count(apl_pool_t *pool, const apl_app_t *app,
                                const apl_response_t *response, int64_t now,
                                int may_enter)
{
    uint32_t i = apl_group_index(pool, app->key, app->name);
    apl_group_t *g = apl_group_at(pool, i);
    apl_lock_token_t token;
    apr_status_t rv;

    if (!g) {
        if (!may_enter || is_old(pool, app))
            return APL_ESTALE;
        rv = apl_enter_app(&token, pool, app, now, &g);
        if (rv != APR_SUCCESS)
            return rv;
        apl_leave(&token);
    }
    apl_numbers_count(pool, g, response, now);
    return APR_SUCCESS;
}
