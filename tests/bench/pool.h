/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file pool.h
 * @brief A pool of idle processes in shared memory, for the benchmarks.
 */
#ifndef APPPOOL_TESTS_BENCH_POOL_H
#define APPPOOL_TESTS_BENCH_POOL_H

#include "shm/verbs/checkin.h"
#include "shm/verbs/checkout.h"
#include "shm/verbs/configure.h"
#include "shm/verbs/housekeeping.h"
#include "shm/verbs/supervise.h"

typedef struct {
    apl_pool_t pool;
    apl_app_t *apps;
    int n_apps;
    size_t size;
} bench_pool_t;

/** This many idle processes in this many groups; this process is a child. */
void bench_pool_make(bench_pool_t *b, int processes, int groups);
void bench_pool_free(bench_pool_t *b);

/** Memory that children share; a failure ends the program. */
void *bench_share(size_t size);

/** Nanoseconds of a clock that cannot be set. */
int64_t bench_ns(void);

/** Print one line, good or not. @return 1: it is not good */
int bench_verdict(const char *what, double value, const char *unit,
                  double limit, int at_most);

#endif
