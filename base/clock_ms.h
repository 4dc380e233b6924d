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

/**
 * How long was this turn of a loop that waits for other processes? If this
 * process was frozen, that time says nothing about them: as a rule, they were
 * frozen with it.
 * @param then when the last turn ended, ms; this one ends now
 * @param most ms: a turn counts as at most that
 * @return ms
 */
static inline int64_t clock_ms_turn(int64_t *then, int64_t most)
{
    int64_t now = clock_ms(), took = now - *then;

    *then = now;
    return took < most ? took : most;
}

#endif
