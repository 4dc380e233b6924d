/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file wake.h
 * @brief How to wake a waiter: a futex word for a request that waits, and an
 *        eventfd, the doorbell, for the spawner.
 *
 * The sleeper reads the word. It checks whether what it waits for is there. It
 * sleeps only while the word still has the value that it read. The waker stores
 * first, then changes the word (under the lock), then wakes (after the lock).
 * This is not a process-shared condition variable, because the one of glibc
 * loses wake-ups, and makes its caller hang when a waiter is killed.
 *
 * Lock:  apl_wake_change() needs it; the others are never called under it.
 * Crash: a waker that dies between change and wake costs the sleeper the rest
 *        of its slice, at most a second. A dead sleeper leaves nothing.
 * Trust: a hostile word can wake too often, or let a sleeper sleep for its
 *        whole slice.
 */
#ifndef APPPOOL_SHM_LOCK_WAKE_H
#define APPPOOL_SHM_LOCK_WAKE_H

#include <stdint.h>

#define APL_WAKE_SLICE 1000000 /* us */

static inline uint32_t apl_wake_read(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void apl_wake_change(uint32_t *word)
{
    __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
}

/** Sleep for at most `us`, unless the word differs from `seen`. */
void apl_wake_sleep(uint32_t *word, uint32_t seen, int64_t us);

/** Wake the threads that sleep on the word. */
void apl_wake_up(uint32_t *word);

/** Ring the doorbell of the spawner. @param doorbell eventfd; -1: there is no
 * spawner to wake */
void apl_wake_ring(int doorbell);

#endif
