/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/command/stat_counters.h"

#include "store/memory/region.h"

static store_counters_t remembered[STORE_SPACES];

static uint64_t sum(const store_space_t *space, unsigned what)
{
    store_figures_t *figures = store_region_figures();
    uint64_t n = 0;

    for (unsigned i = 0; i < STORE_THREADS; i++)
        n += STORE_GET(figures->worker[i][space->slot].n[what]);
    return n;
}

void store_stat_counters_sum(const store_space_t *space,
                             store_counters_t *counters)
{
    for (unsigned i = 0; i < STORE_COUNTERS; i++)
        counters->n[i] =
            sum(space, i) - STORE_GET(remembered[space->slot].n[i]);
}

void store_stat_counters_reset(const store_space_t *space)
{
    for (unsigned i = 0; i < STORE_COUNTERS; i++)
        STORE_SET(remembered[space->slot].n[i], sum(space, i));
}

void store_stat_counters_forget(const store_space_t *space)
{
    store_figures_t *figures = store_region_figures();

    for (unsigned i = 0; i < STORE_THREADS; i++)
        for (unsigned what = 0; what < STORE_COUNTERS; what++)
            STORE_SET(figures->worker[i][space->slot].n[what], 0);
    remembered[space->slot] = (store_counters_t){0};
}
