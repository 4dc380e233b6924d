/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file thread.h
 * @brief Starts a thread that gets no signals: they are for the main thread.
 *        And what such a thread waits for.
 */
#ifndef APPPOOL_STORE_THREAD_H
#define APPPOOL_STORE_THREAD_H

#include <pthread.h>
#include <stdint.h>

/** @param name at most 15 bytes, for ps and gdb
 * @return 0, or -1: errno */
int store_thread_start(pthread_t *, const char *name, void *(*run)(void *),
                       void *ctx);

/** Make a condition whose times are those of CLOCK_MONOTONIC: a step of the
 * host's clock ends no wait. */
void store_thread_condition(pthread_cond_t *);

/** The clock of such a condition, in ns. */
int64_t store_thread_now(void);

#endif
