/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file checkout.c
 * @brief The speed of the pool itself: what a request pays to get a process and
 *        to give it back, as ratios; and to count its response.
 *
 * The two sides of a ratio are measured in many short turns, and the best turn
 * of each counts: other work on the machine can only add time. The speed of the
 * processor and the content of its caches are the same for both sides. The
 * other side is the pool, too, or the yard (yard.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/verbs/admin.h"
#include "shm/verbs/response.h"
#include "tests/bench/pool.h"
#include "tests/bench/yard.h"

#define GROUP_LINES 16 /* lines that a request of another group touches */

static int turns = 300, loops = 20000, failures;

/* ---- the two sides; ns for each round ---- */

static double yard_rounds(yard_t *y)
{
    int64_t begin = bench_ns();
    int i;

    for (i = 0; i < loops; i++)
        yard_round(y);
    return (double)(bench_ns() - begin) / loops;
}

/* Two rounds of a POSIX robust mutex, which the lock is compared with. */
static double lock_pairs(yard_t *y)
{
    int64_t begin = bench_ns();
    int i;

    for (i = 0; i < 2 * loops; i++) {
        pthread_mutex_lock(&y->mutex);
        pthread_mutex_unlock(&y->mutex);
    }
    return (double)(bench_ns() - begin) / loops;
}

/* Requests of all groups in turn. */
static double requests(bench_pool_t *b)
{
    int64_t begin = bench_ns();
    apl_session_ref_t hold;
    int i;

    for (i = 0; i < loops; i++) {
        const apl_app_t *app = &b->apps[(i * 7) % b->n_apps];

        if (apl_checkout(&b->pool, &hold, app, NULL, NULL, i) != APR_SUCCESS)
            abort();
        apl_checkin(&b->pool, &hold, i);
    }
    return (double)(bench_ns() - begin) / loops;
}

static void keep_least(double *least, double now)
{
    if (now < *least)
        *least = now;
}

static void against_yard(void)
{
    bench_pool_t b;
    yard_t *y = yard_make();
    double yard = 1e9, locks = 1e9, pair = 1e9;
    int i;

    bench_pool_make(&b, 10, 1);
    for (i = 0; i < turns; i++) {
        keep_least(&yard, yard_rounds(y));
        keep_least(&locks, lock_pairs(y));
        keep_least(&pair, requests(&b));
    }
    printf(
        "# checkout + checkin %.1f ns, the yard %.1f ns, two pairs of a POSIX "
        "robust mutex %.1f ns\n",
        pair, yard, locks);
    failures += bench_verdict("checkout + checkin, against the yard",
                              pair / yard, "x", 1.5, 1);
    bench_pool_free(&b);
    yard_free(y);
}

/* With many groups, the cache lines of a group are not in the cache. That
 * may cost as much as to read as many other lines. The figure depends on
 * where the kernel has put which pages: it is from 0.86 to 1.25 on one
 * machine. So the limit only finds a request that does more work where there
 * are more groups. bench/lines counts what a request touches. */
static void flat_groups(void)
{
    bench_pool_t few, many;
    yard_field_t small = yard_field(10, 1600), large = yard_field(1000, 1600);
    double a = 1e9, z = 1e9, near = 1e9, far = 1e9;
    int i;

    bench_pool_make(&few, 10, 10);
    bench_pool_make(&many, 1000, 1000);
    for (i = 0; i < turns; i++) {
        keep_least(&a, requests(&few));
        keep_least(&z, requests(&many));
        keep_least(&near, yard_read(&small, GROUP_LINES, loops));
        keep_least(&far, yard_read(&large, GROUP_LINES, loops));
    }
    printf("# 10 groups %.1f ns, 1000 groups %.1f ns; %d lines of one of 10 "
           "records %.1f ns, of 1000 %.1f ns\n",
           a, z, GROUP_LINES, near, far);
    failures += bench_verdict("from 10 to 1000 groups, less what the caches do",
                              (z - (far - near)) / a, "x", 2, 1);
    bench_pool_free(&few);
    bench_pool_free(&many);
    yard_field_free(&small);
    yard_field_free(&large);
}

static void flat_processes(void)
{
    bench_pool_t few, many;
    double a = 1e9, z = 1e9;
    int i;

    bench_pool_make(&few, 10, 1);
    bench_pool_make(&many, 1000, 1);
    for (i = 0; i < turns; i++) {
        keep_least(&a, requests(&few));
        keep_least(&z, requests(&many));
    }
    failures += bench_verdict("from 10 to 1000 processes of one group", z / a,
                              "x", 1.15, 1);
    bench_pool_free(&few);
    bench_pool_free(&many);
}

/* Groups that want the place above the limit, and cannot have it: each has a
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
        apl_admin_restart(&busy.pool, busy.apps[i].name, 1, 1);
    apl_housekeeping_tick(&busy.pool, 1, &next);
    for (i = 0; i < turns; i++) {
        keep_least(&a, requests(&plain));
        keep_least(&z, requests(&busy));
    }
    failures += bench_verdict("while 500 groups are being replaced", z / a, "x",
                              1.25, 1);
    bench_pool_free(&plain);
    bench_pool_free(&busy);
}

/* Responses of all groups in turn. */
static double responses(bench_pool_t *b)
{
    apl_response_t response = {200, 0, 5000, 0};
    int64_t begin = bench_ns();
    int i;

    for (i = 0; i < loops; i++) {
        response.took = i;
        if (apl_response_count(&b->pool, &b->apps[(i * 7) % b->n_apps],
                               &response, i, 1) != APR_SUCCESS)
            abort();
    }
    return (double)(bench_ns() - begin) / loops;
}

/* As a child of httpd does it at the end of each request. */
static void counting(void)
{
    bench_pool_t few, many;
    double a = 1e9, z = 1e9;
    int i;

    bench_pool_make(&few, 10, 10);
    bench_pool_make(&many, 1000, 1000);
    for (i = 0; i < turns; i++) {
        keep_least(&a, responses(&few));
        keep_least(&z, responses(&many));
    }
    printf("# a response of one of 10 applications is counted in %.1f ns, of "
           "1000 in %.1f ns\n",
           a, z);
    failures += bench_verdict("to count a response, of 10 applications", a,
                              "ns", 300, 1);
    bench_pool_free(&few);
    bench_pool_free(&many);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "short") == 0) {
        turns = 60;
        loops = 4000;
    }
    printf("# the best of %d turns of %d rounds each\n", turns, loops);
    against_yard();
    flat_processes();
    flat_groups();
    replacing();
    counting();
    return failures != 0;
}
