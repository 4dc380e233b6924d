/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file clock.h
 * @brief The store's clock, in seconds.
 *
 * It starts as the time since 1970 and then follows CLOCK_MONOTONIC, so a step
 * of the host's clock expires no session. The offset between both is in the
 * directory of the memfd, so the next store goes on with the same clock.
 *
 * Lock:  none; any thread.
 */
#ifndef APPPOOL_STORE_CLOCK_H
#define APPPOOL_STORE_CLOCK_H

#include <stdint.h>

/** Use this offset from now on. @param offset s, of store_directory_t */
void store_clock_set(int64_t offset);

/** The offset that a new directory gets. */
int64_t store_clock_offset(void);

/** Now. Never 0. It costs a few nanoseconds and no system call. */
uint32_t store_clock(void);

/**
 * An expiry time as a client writes it.
 * @param exptime s: 0 never; to 30 days from now; else since 1970 by the host's
 *                clock; negative: expired at once
 * @return s on the store's clock; 0: never; 1: it is expired
 */
uint32_t store_clock_exptime(int64_t exptime);

#endif
