/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file bell.h
 * @brief Wakes a thread that waits for descriptors: an eventfd, which is
 *        readable from a ring until it is read.
 *
 * Lock:  any thread rings; one thread reads.
 */
#ifndef APPPOOL_STORE_BELL_H
#define APPPOOL_STORE_BELL_H

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/** @return -1: errno */
static inline int store_bell_make(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static inline void store_bell_ring(int bell)
{
    const uint64_t one = 1;

    if (write(bell, &one, sizeof one) < 0) {
        /* EAGAIN: it has rung before, and the thread wakes up. */
    }
}

static inline void store_bell_read(int bell)
{
    uint64_t rings;

    if (read(bell, &rings, sizeof rings) < 0) {
        /* EAGAIN: nobody has rung since the last read. */
    }
}

#endif
