/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app.h"

#include <apr_hash.h>
#include <apr_strings.h>
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

/* ---- labels ---- */

#define CURRENT "/current"

static const char several[] = ""; /* in the place of a root */

static apppool_app_t *at(int i)
{
    return APR_ARRAY_IDX(apps, i, apppool_app_t *);
}

/* The last names of the path, as many as `names`, or all of it. */
static const char *tail(apr_pool_t *p, const char *root, int names)
{
    const char *end = root + strlen(root), *from;
    size_t n = strlen(CURRENT);

    while ((size_t)(end - root) > n && !strncmp(end - n, CURRENT, n))
        end -= n;
    for (from = end; from > root; from--)
        if (from[-1] == '/' && names-- == 1)
            break;
    return from - root > 1 ? apr_pstrmemdup(p, from, (size_t)(end - from))
                           : root;
}

/* The root that each label stands for. */
static apr_hash_t *roots_of(apr_pool_t *p)
{
    apr_hash_t *roots = apr_hash_make(p);
    int i;

    for (i = 0; i < apps->nelts; i++) {
        const apppool_app_t *app = at(i);
        const char *other =
            apr_hash_get(roots, app->label, APR_HASH_KEY_STRING);
        int same =
            !other || (!app->set->group_name && !strcmp(other, app->pool.root));

        apr_hash_set(roots, app->label, APR_HASH_KEY_STRING,
                     !same                  ? several
                     : app->set->group_name ? app->pool.name
                                            : app->pool.root);
    }
    return roots;
}

/* @return 0: all labels differ, as far as the paths differ */
static int lengthen(apr_pool_t *p, int names)
{
    apr_hash_t *roots = roots_of(p);
    int i, changed = 0;

    for (i = 0; i < apps->nelts; i++) {
        apppool_app_t *app = at(i);

        if (app->set->group_name || !strcmp(app->label, app->pool.root) ||
            apr_hash_get(roots, app->label, APR_HASH_KEY_STRING) != several)
            continue;
        app->label = tail(p, app->pool.root, names);
        changed = 1;
    }
    return changed;
}

/* Those of one root. */
static void add_environment(apr_pool_t *p)
{
    apr_hash_t *first = apr_hash_make(p);
    int pass, i;

    for (pass = 0; pass < 2; pass++)
        for (i = 0; i < apps->nelts; i++) {
            apppool_app_t *app = at(i);
            const char *root = app->pool.root;

            if (app->set->group_name)
                continue;
            if (pass == 0)
                apr_hash_set(first, root, APR_HASH_KEY_STRING,
                             apr_hash_get(first, root, APR_HASH_KEY_STRING)
                                 ? several
                                 : root);
            else if (apr_hash_get(first, root, APR_HASH_KEY_STRING) == several)
                app->label =
                    apr_psprintf(p, "%s (%s)", app->label, app->environment);
        }
}

void apppool_app_label_all(apr_pool_t *p)
{
    int i, names;

    for (i = 0; i < apps->nelts; i++) {
        apppool_app_t *app = at(i);

        app->label = app->set->group_name ? app->set->group_name
                                          : tail(p, app->pool.root, 1);
    }
    for (names = 2; lengthen(p, names); names++)
        ;
    add_environment(p);
}
