/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file contend.c
 * @brief Many processes at once: how much they do together, and how soon a
 *        waiter runs when its process is free. Each figure is compared, in
 *        turns, with the same work that uses only libc and the kernel. How fast
 *        a cache line moves between processors, and how fast a sleeper wakes,
 *        depends on the machine.
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/verbs/enter.h"
#include "tests/bench/pool.h"
#include "tests/bench/yard.h"

#define HAMMERS 8

static int turns = 9, window = 200000, handoffs = 2000, failures;

/* ---- throughput ---- */

typedef void work_t(void *what);

typedef struct {
    uint32_t go, stop;
    struct {
        uint64_t done, unused[7]; /* a line of its own */
    } of[HAMMERS];
} score_t;

static void one_request(void *what)
{
    bench_pool_t *b = what;
    apl_session_ref_t hold;

    if (apl_checkout(&b->pool, &hold, &b->apps[0], NULL, NULL, 1) !=
        APR_SUCCESS)
        abort();
    apl_checkin(&b->pool, &hold, 1);
}

static void one_round(void *what)
{
    yard_round(what);
}

static void hit(score_t *score, int i, work_t *work, void *what)
{
    while (!__atomic_load_n(&score->go, __ATOMIC_ACQUIRE))
        sched_yield();
    while (!__atomic_load_n(&score->stop, __ATOMIC_RELAXED)) {
        work(what);
        score->of[i].done++;
    }
    _exit(0);
}

/* Rounds per second of this many processes together. */
static double hammer(int processes, work_t *work, void *what, apl_pool_t *pool)
{
    score_t *score = bench_share(sizeof *score);
    pid_t pids[HAMMERS];
    uint64_t total = 0;
    int64_t begin;
    double seconds;
    int i;

    for (i = 0; i < processes; i++) {
        pids[i] = fork();
        if (pids[i] != 0)
            continue;
        if (pool)
            apl_child_register(pool, 1);
        hit(score, i, work, what);
    }
    begin = bench_ns();
    __atomic_store_n(&score->go, 1, __ATOMIC_RELEASE);
    usleep((unsigned)window);
    __atomic_store_n(&score->stop, 1, __ATOMIC_RELAXED);
    seconds = (double)(bench_ns() - begin) / 1e9;
    for (i = 0; i < processes; i++) {
        waitpid(pids[i], NULL, 0);
        total += score->of[i].done;
    }
    munmap(score, sizeof *score);
    return (double)total / seconds;
}

static void keep_most(double *most, double now)
{
    if (now > *most)
        *most = now;
}

static double hammer_pool(int processes)
{
    bench_pool_t b;
    double rate;

    bench_pool_make(&b, 2 * HAMMERS, 1);
    rate = hammer(processes, one_request, &b, &b.pool);
    bench_pool_free(&b);
    return rate;
}

static double hammer_yard(int processes)
{
    yard_t *y = yard_make();
    double rate = hammer(processes, one_round, y, NULL);

    yard_free(y);
    return rate;
}

static void contended(void)
{
    double one = 0, many = 0, yard_one = 0, yard_many = 0;
    int i;

    for (i = 0; i < turns; i++) {
        keep_most(&one, hammer_pool(1));
        keep_most(&many, hammer_pool(HAMMERS));
        keep_most(&yard_one, hammer_yard(1));
        keep_most(&yard_many, hammer_yard(HAMMERS));
    }
    printf("# requests/s of one process %.1f M, of %d %.1f M (%.2f x); of the "
           "yard %.1f M, %.1f M (%.2f x); %ld cores\n",
           one / 1e6, HAMMERS, many / 1e6, many / one, yard_one / 1e6,
           yard_many / 1e6, yard_many / yard_one,
           sysconf(_SC_NPROCESSORS_ONLN));
    failures += bench_verdict("8 processes hammering, against the yard's",
                              many / yard_many, "x", 0.5, 0);
}

/* ---- hand-off ---- */

typedef struct {
    int64_t given, took[2000];
    uint32_t n, word, turn;
} relay_t;

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double median(relay_t *r)
{
    double us;

    qsort(r->took, r->n, sizeof r->took[0], by_value);
    us = (double)r->took[r->n / 2] / 1e3;
    munmap(r, sizeof *r);
    return us;
}

/* @return 1: it had to wait */
static int take(bench_pool_t *b, apl_session_ref_t *hold)
{
    if (apl_checkout(&b->pool, hold, &b->apps[0], NULL, NULL, apl_now()) ==
        APR_SUCCESS)
        return 0;
    if (apl_checkout_wait(&b->pool, hold, apl_now() + 60000000, NULL, NULL) !=
        APR_SUCCESS)
        abort();
    return 1;
}

static void be_handed(bench_pool_t *b, relay_t *r)
{
    apl_session_ref_t hold;

    apl_child_register(&b->pool, 1);
    while (r->n < (uint32_t)handoffs) {
        if (take(b, &hold))
            r->took[r->n++] = bench_ns() - r->given;
        apl_checkin(&b->pool, &hold, apl_now());
        /* Now it is the turn of the other process. */
        while (b->pool.header->active == 0 && r->n < (uint32_t)handoffs)
            usleep(20);
    }
    _exit(0);
}

/* One process of an app, and two children that take it in turns. The result is
 * the median time, in us, from the moment when one child gives it back until
 * the other child runs with it. */
static double hand_off(void)
{
    relay_t *r = bench_share(sizeof *r);
    bench_pool_t b;
    apl_session_ref_t hold;
    double us;
    pid_t pid;

    bench_pool_make(&b, 1, 1);
    pid = fork();
    if (pid == 0)
        be_handed(&b, r);
    for (;;) {
        take(&b, &hold);
        while (b.pool.header->waiting == 0 && waitpid(pid, NULL, WNOHANG) == 0)
            usleep(50);
        usleep(50); /* now it sleeps */
        r->given = bench_ns();
        apl_checkin(&b.pool, &hold, apl_now());
        if (waitpid(pid, NULL, WNOHANG) != 0)
            break;
    }
    us = median(r);
    bench_pool_free(&b);
    return us;
}

static void futex(uint32_t *word, int what, uint32_t value)
{
    struct timespec limit = {1, 0};

    syscall(SYS_futex, word, what, value, &limit, NULL, 0);
}

static void be_woken(relay_t *r)
{
    while (r->n < (uint32_t)handoffs) {
        __atomic_store_n(&r->turn, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&r->word, __ATOMIC_ACQUIRE) == 0)
            futex(&r->word, FUTEX_WAIT, 0);
        r->took[r->n++] = bench_ns() - r->given;
        __atomic_store_n(&r->word, 0, __ATOMIC_RELEASE);
    }
    _exit(0);
}

/* The same with only a futex. */
static double wake_up(void)
{
    relay_t *r = bench_share(sizeof *r);
    pid_t pid = fork();

    if (pid == 0)
        be_woken(r);
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (!__atomic_exchange_n(&r->turn, 0, __ATOMIC_ACQUIRE)) {
            usleep(50);
            continue;
        }
        usleep(100); /* now it sleeps */
        r->given = bench_ns();
        __atomic_store_n(&r->word, 1, __ATOMIC_RELEASE);
        futex(&r->word, FUTEX_WAKE, 1);
    }
    return median(r);
}

#define LIMIT 3.0 /* times a futex */
#define TRIES 20

static void handed_off(void)
{
    double ours = 1e9, plain = 1e9;
    int i;

    /* The kernel may place both on one processor with other work. */
    for (i = 0; i < 3 || (i < TRIES && ours > LIMIT * plain); i++) {
        double us = hand_off(), least = wake_up();

        ours = us < ours ? us : ours;
        plain = least < plain ? least : plain;
    }
    printf("# a process is handed over in %.1f us, a futex wakes in %.1f us, "
           "the medians of %d\n",
           ours, plain, handoffs);
    failures += bench_verdict(
        "freeing a process to the waiter running on it, against a futex",
        ours / plain, "x", LIMIT, 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "short") == 0) {
        turns = 5;
        window = 50000;
        handoffs = 300;
    }
    contended();
    handed_off();
    return failures != 0;
}
