/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file clock_ms.h
 * @brief CLOCK_MONOTONIC in ms, for programs that have no segment. With a
 *        segment, the clock is apl_now(). libc only.
 */
#ifndef APPPOOL_BASE_CLOCK_MS_H
#define APPPOOL_BASE_CLOCK_MS_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
