/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/clock.h"

#include "store/atomic.h"

int64_t store_clock_ahead;

void store_clock_set(int64_t offset)
{
    STORE_SET(store_clock_ahead, offset);
}

int64_t store_clock_offset(void)
{
    struct timespec host, here;

    clock_gettime(CLOCK_REALTIME_COARSE, &host);
    clock_gettime(CLOCK_MONOTONIC_COARSE, &here);
    return host.tv_sec - here.tv_sec - (host.tv_nsec < here.tv_nsec);
}
