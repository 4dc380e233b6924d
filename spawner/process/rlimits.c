/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "spawner/process/rlimits.h"

#include <sys/resource.h>

static const char *name_of(int resource)
{
    return resource == RLIMIT_CPU  ? "RLimitCPU"
           : resource == RLIMIT_AS ? "RLimitMEM"
                                   : "RLimitNPROC";
}

const char *rlimits_apply(const app_entry_t *app,
                          const struct rlimit *descriptors)
{
    int i;

    setrlimit(RLIMIT_NOFILE, descriptors);
    for (i = 0; i < app->n_rlimits; i++) {
        const app_rlimit_t *l = &app->rlimits[i];

        if (setrlimit((__rlimit_resource_t)l->resource, &l->to) != 0)
            return name_of(l->resource);
    }
    return NULL;
}
