/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkout.c
 * @brief The speed of the pool itself: what a request pays for picking a
 *        process and giving it back. Ratios, each measured side by side.
 *
 * Two sides of a ratio are measured in turns, many short ones, and the best
 * of each is taken: what disturbs a shared machine only ever adds time.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/enter.h"
#include "shm/group.h"
#include "shm/lock.h"
#include "shm/maintenance.h"
#include "tests/bench/pool.h"

#define TURNS 300
#define LOOPS 20000

static int failures;

/* ---- what is compared; ns for each round ---- */

static double lock_pairs(bench_pool_t *b)
{
    uint32_t *lock = &b->pool.header->lock;
    int64_t begin = bench_ns();
    int i, died;

    for (i = 0; i < LOOPS; i++) {
        apl_lock_take(lock, APL_FOREVER, &died);
        apl_lock_give(lock);
        apl_lock_take(lock, APL_FOREVER, &died);
        apl_lock_give(lock);
    }
    return (double)(bench_ns() - begin) / LOOPS;
}

static double posix_pairs(pthread_mutex_t *mutex)
{
    int64_t begin = bench_ns();
    int i;

    for (i = 0; i < LOOPS; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return (double)(bench_ns() - begin) / LOOPS;
}

/* Requests of all groups in turn. */
static double requests(bench_pool_t *b)
{
    int64_t begin = bench_ns();
    apl_hold_t hold;
    int i;

    for (i = 0; i < LOOPS; i++) {
        const apl_app_t *app = &b->apps[(i * 7) % b->n_apps];

        if (apl_checkout(&b->pool, &hold, app, NULL, NULL, i) != APR_SUCCESS)
            abort();
        apl_checkin(&b->pool, &hold, i);
    }
    return (double)(bench_ns() - begin) / LOOPS;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void against_locks(void)
{
    bench_pool_t b;
    pthread_mutexattr_t attr;
    pthread_mutex_t *mutex;
    double own = 1e9, posix = 1e9, pair = 1e9;
    int i;

    bench_pool_make(&b, 10, 1);
    mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attr);
    for (i = 0; i < TURNS; i++) {
        own = least(own, lock_pairs(&b));
        posix = least(posix, posix_pairs(mutex));
        pair = least(pair, requests(&b));
    }
    printf("# checkout + checkin %.1f ns, two lock pairs %.1f ns, of a POSIX "
           "robust mutex %.1f ns\n",
           pair, own, posix);
    failures += bench_verdict("checkout + checkin, against two lock pairs",
                              pair / own, "x", 4, 1);
    failures += bench_verdict("the same, against those of a POSIX robust mutex",
                              pair / posix, "x", 4, 1);
    bench_pool_free(&b);
}

/* Few against many, in turns. */
static void flat(const char *what, int few_groups, int many_processes,
                 int many_groups)
{
    bench_pool_t few, many;
    double a = 1e9, z = 1e9;
    char text[80];
    int i;

    bench_pool_make(&few, 10, few_groups);
    bench_pool_make(&many, many_processes, many_groups);
    for (i = 0; i < TURNS; i++) {
        a = least(a, requests(&few));
        z = least(z, requests(&many));
    }
    snprintf(text, sizeof text, "from 10 to 1000 %s", what);
    failures += bench_verdict(text, z / a, "x", 1.25, 1);
    bench_pool_free(&few);
    bench_pool_free(&many);
}

/* Groups that want the place above the limit, and cannot have it as each has a
 * start under way. */
static void replacing(void)
{
    bench_pool_t plain, busy;
    double a = 1e9, z = 1e9;
    int64_t next;
    int i;

    bench_pool_make(&plain, 500, 500);
    bench_pool_make(&busy, 500, 500);
    for (i = 0; i < busy.n_apps; i++)
        apl_supervise_restart(&busy.pool, busy.apps[i].name, 1, 1);
    apl_supervise_tick(&busy.pool, 1, &next);
    for (i = 0; i < TURNS; i++) {
        a = least(a, requests(&plain));
        z = least(z, requests(&busy));
    }
    failures += bench_verdict("while 500 groups are being replaced", z / a, "x",
                              1.5, 1);
    bench_pool_free(&plain);
    bench_pool_free(&busy);
}

/* ---- many processes at once ---- */

#define HAMMERS 8

/* Requests in a second of so many processes together. */
static double hammer(int processes)
{
    bench_pool_t b;
    struct {
        uint32_t go, stop;
        uint64_t done[HAMMERS];
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pids[HAMMERS];
    uint64_t total = 0;
    int64_t begin;
    double seconds;
    int i;

    bench_pool_make(&b, 2 * HAMMERS, 1);
    for (i = 0; i < processes; i++) {
        pids[i] = fork();
        if (pids[i] != 0)
            continue;
        apl_child_register(&b.pool, 1);
        while (!__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE))
            sched_yield();
        while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
            apl_hold_t hold;

            if (apl_checkout(&b.pool, &hold, &b.apps[0], NULL, NULL, 1) !=
                APR_SUCCESS)
                abort();
            apl_checkin(&b.pool, &hold, 1);
            shared->done[i]++;
        }
        _exit(0);
    }
    begin = bench_ns();
    __atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
    usleep(300000);
    __atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
    seconds = (double)(bench_ns() - begin) / 1e9;
    for (i = 0; i < processes; i++) {
        waitpid(pids[i], NULL, 0);
        total += shared->done[i];
    }
    munmap(shared, sizeof *shared);
    bench_pool_free(&b);
    return (double)total / seconds;
}

static void contended(void)
{
    double one = 0, many = 0;
    int i;

    for (i = 0; i < 5; i++) {
        double x = hammer(1), y = hammer(HAMMERS);

        one = x > one ? x : one;
        many = y > many ? y : many;
    }
    printf("# %.1f M requests/s of one process, %.1f M of %d on %ld cores\n",
           one / 1e6, many / 1e6, HAMMERS, sysconf(_SC_NPROCESSORS_ONLN));
    failures += bench_verdict("8 processes hammering, against one", many / one,
                              "x", 0.7, 0);
}

/* ---- hand-off ---- */

#define HANDOFFS 2000

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* @return 1: it had to wait */
static int take(bench_pool_t *b, apl_hold_t *hold)
{
    if (apl_checkout(&b->pool, hold, &b->apps[0], NULL, NULL, apl_now()) ==
        APR_SUCCESS)
        return 0;
    if (apl_checkout_wait(&b->pool, hold, apl_now() + 60000000, NULL, NULL) !=
        APR_SUCCESS)
        abort();
    return 1;
}

/* One process of an app, and two that take it in turns: from giving it back
 * until the other runs with it. */
static void hand_off(void)
{
    bench_pool_t b;
    apl_hold_t hold;
    struct {
        int64_t given, took[HANDOFFS];
        uint32_t n;
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid;

    bench_pool_make(&b, 1, 1);
    pid = fork();
    if (pid == 0) {
        apl_child_register(&b.pool, 1);
        while (shared->n < HANDOFFS) {
            if (take(&b, &hold))
                shared->took[shared->n++] = bench_ns() - shared->given;
            apl_checkin(&b.pool, &hold, apl_now());
            /* The other one's turn. */
            while (b.pool.header->active == 0 && shared->n < HANDOFFS)
                usleep(20);
        }
        _exit(0);
    }
    for (;;) {
        take(&b, &hold);
        while (b.pool.header->waiting == 0 && waitpid(pid, NULL, WNOHANG) == 0)
            usleep(50);
        usleep(50); /* now it sleeps */
        shared->given = bench_ns();
        apl_checkin(&b.pool, &hold, apl_now());
        if (waitpid(pid, NULL, WNOHANG) != 0)
            break;
    }
    qsort(shared->took, shared->n, sizeof shared->took[0], by_value);
    printf("# hand-off of %u: p50 %.1f us, p99 %.1f us, max %.1f us\n",
           shared->n, (double)shared->took[shared->n / 2] / 1e3,
           (double)shared->took[shared->n * 99 / 100] / 1e3,
           (double)shared->took[shared->n - 1] / 1e3);
    failures += bench_verdict(
        "freeing a process to the waiter running on it, p99",
        (double)shared->took[shared->n * 99 / 100] / 1e3, "us", 200, 1);
    munmap(shared, sizeof *shared);
    bench_pool_free(&b);
}

int main(void)
{
    printf("# the best of %d turns of %d rounds each\n", TURNS, LOOPS);
    against_locks();
    flat("processes of one group", 1, 1000, 1);
    flat("groups", 10, 1000, 1000);
    replacing();
    contended();
    hand_off();
    return failures != 0;
}
