/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app.h"

#include <string.h>

/* The apps of this configuration, in its pool. */
static apr_array_header_t *apps;

void apppool_app_begin(apr_pool_t *p, int n)
{
    apps = apr_array_make(p, n + 1, sizeof(apppool_app_t *));
}

void apppool_app_add(apppool_app_t *app)
{
    APR_ARRAY_PUSH(apps, apppool_app_t *) = app;
}

const apr_array_header_t *apppool_app_all(void)
{
    return apps;
}

const apppool_app_t *apppool_app_find(const char *name)
{
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = APR_ARRAY_IDX(apps, i, apppool_app_t *);

        if (!strcmp(app->pool.name, name))
            return app;
    }
    return NULL;
}
