/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file lock_token.h
 * @brief The proof that the caller is the lock holder, and a note of the work
 *        that has to follow when the lock is free again. Only apl_enter() makes
 *        one.
 *
 * Lock:  a function that needs the lock takes an apl_lock_token_t as its first
 *        parameter. It may not allocate, log, block or make a system call.
 * Crash: the token is private memory. If its process dies, its notes are lost.
 *        A waiter then waits up to a second longer; nothing else happens.
 */
#ifndef APPPOOL_SHM_LOCK_LOCK_TOKEN_H
#define APPPOOL_SHM_LOCK_LOCK_TOKEN_H

#include <time.h>

#include "shm/format/pool.h"

#define APL_WAKES_MAX 32

typedef struct {
    apl_pool_t *pool;
    int64_t now;    /**< the verb's time, us */
    uint32_t ring;  /**< the spawner has something to do */
    uint32_t more;  /**< waiters are left that could be served */
    uint32_t turns; /**< groups that may yet be given a place: capacity.c */
    uint32_t n_wakes;
    uint32_t wakes[APL_WAKES_MAX]; /**< sessions to wake */
} apl_lock_token_t;

/** CLOCK_MONOTONIC in us. The lock holder uses token->now instead. */
static inline int64_t apl_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/** now - then, for any two numbers that a hostile segment may contain. */
static inline int64_t apl_since(int64_t now, int64_t then)
{
    return (int64_t)((uint64_t)now - (uint64_t)then);
}

#endif
