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
    return store_clock_read(CLOCK_REALTIME_COARSE) -
           store_clock_read(CLOCK_MONOTONIC_COARSE);
}
