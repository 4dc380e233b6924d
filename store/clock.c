/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "store/clock.h"

#include <time.h>

#define DAYS_30 (INT64_C(60) * 60 * 24 * 30)

static int64_t offset;

static int64_t seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec;
}

void store_clock_set(int64_t new_offset)
{
    __atomic_store_n(&offset, new_offset, __ATOMIC_RELAXED);
}

int64_t store_clock_offset(void)
{
    return seconds(CLOCK_REALTIME_COARSE) - seconds(CLOCK_MONOTONIC_COARSE);
}

/* 2 is the first time that is not "never" and not "expired". */
static uint32_t in_range(int64_t time)
{
    return time < 2 ? 2 : time > UINT32_MAX ? UINT32_MAX : (uint32_t)time;
}

uint32_t store_clock(void)
{
    return in_range(seconds(CLOCK_MONOTONIC_COARSE) +
                    __atomic_load_n(&offset, __ATOMIC_RELAXED));
}

uint32_t store_clock_exptime(int64_t exptime)
{
    int64_t host;

    if (exptime == 0)
        return 0;
    if (exptime < 0)
        return 1;
    if (exptime <= DAYS_30)
        return in_range(store_clock() + exptime);
    host = seconds(CLOCK_REALTIME_COARSE);
    return exptime <= host ? 1 : in_range(store_clock() + (exptime - host));
}
