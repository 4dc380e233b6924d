/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/cluster/new_cas.h"

#include <time.h>

#include "store/memory/space.h"

/* @return ms */
static uint64_t time_of_day(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void store_new_cas(const store_cluster_hooks_t *hooks)
{
    uint64_t by_time = time_of_day() * STORE_CAS_MS;
    store_space_t *space;
    unsigned i;

    for (i = 0; (space = hooks->nth(i)); i++) {
        uint64_t cas = STORE_GET(space->entry->cas);

        store_space_raise_cas(space, by_time > cas + STORE_CAS_UNHEARD
                                         ? by_time
                                         : cas + STORE_CAS_GAP);
    }
}
