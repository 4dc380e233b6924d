/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file held.c
 * @brief How long each verb holds the pool lock, while other processes use the
 *        pool, too.
 *
 * It is linked with --wrap, so the objects of the product are measured. To read
 * the clock takes about as long as a checkout, so the time of two readings is
 * subtracted.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "shm/lock/lock.h"
#include "tests/bench/pool.h"

#define ROUNDS 20000
#define OTHERS 3

static int64_t *times, begun, overhead;
static int n_times;

apr_status_t __real_apl_lock_take(uint32_t *word, int64_t limit, int *died);
int __real_apl_lock_give(uint32_t *word);
apr_status_t __wrap_apl_lock_take(uint32_t *word, int64_t limit, int *died);
int __wrap_apl_lock_give(uint32_t *word);

apr_status_t __wrap_apl_lock_take(uint32_t *word, int64_t limit, int *died)
{
    apr_status_t rv = __real_apl_lock_take(word, limit, died);

    begun = bench_ns();
    return rv;
}

int __wrap_apl_lock_give(uint32_t *word)
{
    int64_t took = bench_ns() - begun - overhead;
    int mine = __real_apl_lock_give(word);

    if (times && n_times < 4 * ROUNDS)
        times[n_times++] = took > 0 ? took : 0;
    return mine;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* @return 1: held for too long */
static int tell(const char *what, double limit)
{
    char text[80];
    double p99 = (double)times[n_times * 99 / 100];

    qsort(times, (size_t)n_times, sizeof *times, by_value);
    p99 = (double)times[n_times * 99 / 100];
    snprintf(text, sizeof text, "%s: lock held, p50 %lld ns, p99", what,
             (long long)times[n_times / 2]);
    n_times = 0;
    return bench_verdict(text, p99, "ns", limit, 1);
}

static void request(bench_pool_t *b, int i)
{
    apl_session_ref_t hold;

    if (apl_checkout(&b->pool, &hold, &b->apps[i % b->n_apps], NULL, NULL, i) ==
            APL_EWAIT &&
        apl_checkout_wait(&b->pool, &hold, apl_now() + 60000000, NULL, NULL) !=
            APR_SUCCESS)
        abort();
    apl_checkin(&b->pool, &hold, i);
}

static void others(bench_pool_t *b, pid_t pids[OTHERS])
{
    int i, n;

    for (i = 0; i < OTHERS; i++) {
        pids[i] = fork();
        if (pids[i] != 0)
            continue;
        times = NULL;
        apl_child_register(&b->pool, 1);
        for (n = i;; n++)
            request(b, n);
    }
}

static void end(pid_t pids[OTHERS])
{
    int i;

    for (i = 0; i < OTHERS; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
}

static int requests(const char *what, int processes, int groups, int contended)
{
    bench_pool_t b;
    pid_t pids[OTHERS];
    int i;

    bench_pool_make(&b, processes, groups);
    if (contended)
        others(&b, pids);
    n_times = 0;
    for (i = 0; i < ROUNDS; i++)
        request(&b, i);
    if (contended)
        end(pids);
    bench_pool_free(&b);
    return tell(what, 1000);
}

/* The spawner's look at each group, once a second. */
static int ticks(void)
{
    bench_pool_t b;
    int64_t next;
    int i;

    bench_pool_make(&b, 1000, 100);
    n_times = 0;
    for (i = 0; i < ROUNDS / 100; i++)
        apl_housekeeping_tick(&b.pool, 2, &next);
    bench_pool_free(&b);
    return tell("tick over 100 groups of 10 processes", 1000);
}

int main(void)
{
    int64_t begin = bench_ns();
    int i, bad = 0;

    for (i = 0; i < 1000; i++)
        bench_ns();
    overhead = (bench_ns() - begin) / 1001;
    times = calloc(4 * ROUNDS, sizeof *times);
    bad += requests("requests, 1 group, 10 processes", 10, 1, 0);
    bad += requests("requests, 1000 groups, 1000 processes", 1000, 1000, 0);
    bad += requests("requests, 4 processes at it", 10, 1, 1);
    bad += requests("requests, 4 that wait for 1 process", 1, 1, 1);
    bad += ticks();
    free(times);
    return bad != 0;
}
