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

/** The offset that a new directory gets: s by which the host's clock is ahead
 * of CLOCK_MONOTONIC, rounded down. So an item that gets 600 s never has more
 * left by the host's clock (store_clock_to_host()). */
int64_t store_clock_offset(void);

/** For this file only: the offset; atomic. */
extern int64_t store_clock_ahead;

/** 2 is the first time that is not "never" and not "expired". */
static inline uint32_t store_clock_in_range(int64_t time)
{
    return time < 2 ? 2 : time > UINT32_MAX ? UINT32_MAX : (uint32_t)time;
}

/** Now. Never 0. */
static inline uint32_t store_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return store_clock_in_range(t.tv_sec + STORE_GET(store_clock_ahead));
}

/** s by which the host's clock is ahead of the store's now, without a part of a
 * second. */
static inline int64_t store_clock_apart(void)
{
    return store_clock_offset() - STORE_GET(store_clock_ahead);
}

/**
 * A time of the store's clock, for somebody who has the host's: a client, a
 * file.
 * @param at s on the store's clock; 0: never
 * @return s since 1970 by the host's clock as it is set now; 0: never
 */
static inline uint32_t store_clock_to_host(uint32_t at)
{
    return at == 0 ? 0 : store_clock_in_range(at + store_clock_apart());
}

/**
 * The reverse. As in memcached, what ends at a time of day may end up to 1 s
 * later.
 * @param host s since 1970 by the host's clock; 0: never
 * @return s on the store's clock; 0: never; 1: it is over
 */
static inline uint32_t store_clock_from_host(int64_t host)
{
    int64_t at = store_clock_in_range(host) - store_clock_apart();

    return host == 0 ? 0 : at <= store_clock() ? 1 : store_clock_in_range(at);
}

/**
 * An expiry time as a client writes it.
 * @param exptime s: 0 never; to 30 days from now; else since 1970 by the host's
 *                clock; negative: expired at once
 * @return s on the store's clock; 0: never; 1: it is expired
 */
static inline uint32_t store_clock_exptime(int64_t exptime)
{
    if (exptime == 0)
        return 0;
    if (exptime < 0)
        return 1;
    if (exptime <= INT64_C(30) * 24 * 60 * 60)
        return store_clock_in_range(store_clock() + exptime);
    return store_clock_from_host(exptime);
}

#endif
