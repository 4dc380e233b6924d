/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "mod_apppool/config/app_files.h"

/* A number is one word: key of the app, second and answer. */
int apppool_app_files_ask(uint64_t known[APPPOOL_APP_FILES],
                          int (*question)(const apppool_app_t *app),
                          const apppool_app_t *app, uint64_t second)
{
    uint64_t *mine = &known[app->pool.key % APPPOOL_APP_FILES];
    uint64_t number = (app->pool.key * 31 + (uint64_t)second + 1) << 1;
    uint64_t last = __atomic_load_n(mine, __ATOMIC_RELAXED);

    if ((last & ~UINT64_C(1)) != number) {
        last = number | (question(app) != 0);
        __atomic_store_n(mine, last, __ATOMIC_RELAXED);
    }
    return (int)(last & 1);
}
