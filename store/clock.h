/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file clock.h
 * @brief The store's clock, in seconds.
 *
 * It starts as the time since 1970 and then follows CLOCK_MONOTONIC, so a step
 * of the host's clock expires no session. The offset between both is in the
 * directory of the memfd, so the next store goes on with the same clock.
 *
 * Each command asks it, so that is done in place: a few nanoseconds, and no
 * system call. Any thread.
 */
#ifndef APPPOOL_STORE_CLOCK_H
#define APPPOOL_STORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "store/atomic.h"

/** Use this offset from now on. @param offset s, of store_directory_t */
void store_clock_set(int64_t offset);

/** The offset that a new directory gets. */
int64_t store_clock_offset(void);

/** For this file only: the offset; atomic. */
extern int64_t store_clock_ahead;

static inline int64_t store_clock_read(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec;
}

/** 2 is the first time that is not "never" and not "expired". */
static inline uint32_t store_clock_in_range(int64_t time)
{
    return time < 2 ? 2 : time > UINT32_MAX ? UINT32_MAX : (uint32_t)time;
}

/** Now. Never 0. */
static inline uint32_t store_clock(void)
{
    return store_clock_in_range(store_clock_read(CLOCK_MONOTONIC_COARSE) +
                                STORE_GET(store_clock_ahead));
}

/**
 * An expiry time as a client writes it.
 * @param exptime s: 0 never; to 30 days from now; else since 1970 by the host's
 *                clock; negative: expired at once
 * @return s on the store's clock; 0: never; 1: it is expired
 */
static inline uint32_t store_clock_exptime(int64_t exptime)
{
    int64_t host;

    if (exptime == 0)
        return 0;
    if (exptime < 0)
        return 1;
    if (exptime <= INT64_C(30) * 24 * 60 * 60)
        return store_clock_in_range(store_clock() + exptime);
    host = store_clock_read(CLOCK_REALTIME_COARSE);
    return exptime <= host
               ? 1
               : store_clock_in_range(store_clock() + (exptime - host));
}

#endif
