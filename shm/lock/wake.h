/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wake.h
 * @brief Doorbells: a futex word for a waiting request, an eventfd for the
 *        spawner.
 *
 * The sleeper reads the bell, looks whether what it waits for is there, and
 * sleeps only while the bell still has the value it read. The waker stores
 * first, then changes the bell (under the lock), then wakes (after it). No
 * process-shared condition variable: glibc's loses wake-ups and hangs its
 * poster when a waiter is killed.
 *
 * Lock:  apl_wake_change() under it, the others never.
 * Crash: a waker that dies between mark and wake costs the sleeper the rest
 *        of its slice, a second at the most. A dead sleeper leaves nothing.
 * Trust: a hostile bell can wake too often, or let a sleeper have its slice.
 */
#ifndef APPPOOL_SHM_LOCK_WAKE_H
#define APPPOOL_SHM_LOCK_WAKE_H

#include <stdint.h>

#define APL_WAKE_SLICE 1000000 /* us */

static inline uint32_t apl_wake_read(const uint32_t *bell)
{
    return __atomic_load_n(bell, __ATOMIC_ACQUIRE);
}

static inline void apl_wake_change(uint32_t *bell)
{
    __atomic_add_fetch(bell, 1, __ATOMIC_RELEASE);
}

/** Sleep for `us` at the most, unless the bell differs from `seen`. */
void apl_wake_sleep(uint32_t *bell, uint32_t seen, int64_t us);

/** Wake who sleeps on the bell. */
void apl_wake_up(uint32_t *bell);

/** Ring for the spawner. @param bell eventfd, or -1: nobody to ring for */
void apl_wake_ring(int bell);

#endif
