/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file scale.c
 * @brief What a copy, a check of all invariants and a repair cost for different
 *        sizes of the pool.
 *
 * Each is done in slices, as the spawner does it. There are 10 sessions for
 * each process. First one of ten waits, then nine wait, which is the worst
 * case: all for one app, in an order that is not the order of the slots. Each
 * time is the best of a few.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/slots/group.h"
#include "shm/view/snapshot.h"
#include "tests/bench/pool.h"
#include "shm/format/segment.h"

#define TIMES 7
#define SMALL 100
#define LARGE 10000

/* The time of one round in ns: the whole round, and its longest slice. */
typedef struct {
    double all, slice;
} took_t;

/* CPU time of this thread, because the machine may have other work. */
static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add_groups(apl_pool_t *pool, uint32_t n, uint32_t busy)
{
    uint32_t i;

    for (i = 0; i < n; i++) {
        char name[16];
        apl_app_t app = {
            .name = name,
            .root = "/",
            .options = {.config = 1, .concurrency = busy, .global_queue = 1}};

        snprintf(name, sizeof name, "app%u", i);
        app.key = apl_group_key(name);
        if (apl_configure_group(pool, &app, 1, 1) != APR_SUCCESS)
            abort();
    }
}

/* Slots are the truth: lists and counts are left to a repair. */
static void fill(apl_pool_t *pool, uint32_t n, uint32_t groups, uint32_t busy)
{
    apl_header_t *h = pool->header;
    uint32_t i;

    for (i = 1; i <= n; i++) {
        apl_process_t *p = &pool->processes[i];

        p->generation = p->revision = 1;
        p->id = (uint64_t)i << 20 | i;
        p->group = 1 + i % groups;
        p->birth = i;
        p->state = APL_PROCESS_LIVE;
    }
    for (i = 1; i <= 10 * n; i++) {
        apl_session_t *s = &pool->sessions[i];

        s->generation = s->process_generation = s->child = 1;
        s->ticket = 1 + i * 2654435761ull % 1000003;
        s->process = 1 + (uint32_t)(i * 7927ull % n);
        s->state = i <= busy * n ? APL_SESSION_OPEN : APL_SESSION_WAITING;
        s->group = i <= busy * n ? pool->processes[s->process].group : 1;
    }
    h->top_process = n;
    h->top_session = 10 * n;
    pool->damaged = 1;
}

static void make_empty(apl_pool_t *pool, const apl_capacity_t *n)
{
    void *memory = mmap(NULL, apl_segment_size(n), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    apl_segment_format(pool, memory, n);
}

static void make(apl_pool_t *pool, uint32_t processes, uint32_t busy)
{
    const apl_capacity_t n = {processes / 100, processes, 10 * processes, 1};

    make_empty(pool, &n);
    apl_configure_limits(pool, processes, 1, 1);
    apl_child_register(pool, 1);
    add_groups(pool, n.groups, busy);
    fill(pool, processes, n.groups, busy);
}

static void keep_best(took_t *best, took_t now)
{
    if (best->all == 0 || now.all < best->all)
        best->all = now.all;
    if (best->slice == 0 || now.slice < best->slice)
        best->slice = now.slice;
}

static took_t repair(apl_pool_t *pool)
{
    apl_lock_token_t token;
    took_t t;

    pool->damaged = 1;
    t.all = -(double)cpu_ns();
    if (apl_enter(&token, pool, 1, APL_FOREVER) != APR_SUCCESS)
        abort();
    t.all += (double)cpu_ns();
    apl_leave(&token);
    t.slice = t.all;
    return t;
}

/* What a repair has to do at least: read the first line of each session and
 * three lines of each process. */
static took_t reading(const apl_pool_t *pool)
{
    const apl_header_t *h = pool->header;
    uint64_t sum = 0;
    took_t t;
    uint32_t i;

    t.all = -(double)cpu_ns();
    for (i = 1; i <= h->top_session; i++)
        sum += pool->sessions[i].ticket;
    for (i = 1; i <= h->top_process; i++) {
        const apl_process_t *p = &pool->processes[i];

        sum += p->id + p->birth + p->replaces;
    }
    t.all += (double)cpu_ns();
    if (sum == 0)
        abort(); /* it has read nothing */
    t.slice = t.all;
    return t;
}

static took_t copy(apl_snapshot_t *s, int enter)
{
    took_t t = {0, 0};
    apr_status_t rv;

    do {
        double ns = -(double)cpu_ns();

        rv = apl_snapshot_try(s, enter);
        ns += (double)cpu_ns();
        t.all += ns;
        t.slice = ns > t.slice ? ns : t.slice;
    } while (rv == APR_INCOMPLETE);
    if (rv != APR_SUCCESS)
        abort();
    return t;
}

static took_t check(const apl_pool_t *pool)
{
    double ns = -(double)cpu_ns();
    apl_check_t *c = apl_check_begin(pool);
    apl_finding_t finding;
    took_t t = {0, 0};
    int came = c ? APL_CHECK_MORE : APL_CHECK_BAD;

    while (came == APL_CHECK_MORE) {
        came = apl_check_go(c, APL_CHECK_SLICE, &finding);
        ns += (double)cpu_ns();
        t.all += ns;
        t.slice = ns > t.slice ? ns : t.slice;
        ns = -(double)cpu_ns();
    }
    if (came != APL_CHECK_GOOD)
        abort();
    apl_check_end(c);
    return t;
}

typedef struct {
    took_t reading, repair, first, copy, locked, check;
} figures_t;

/* @param busy sessions that each process has */
static figures_t measure(uint32_t processes, uint32_t busy)
{
    figures_t best = {0};
    apl_pool_t pool;
    apr_pool_t *p;
    int i;

    make(&pool, processes, busy);
    repair(&pool);
    for (i = 0; i < TIMES; i++) {
        apl_snapshot_t s;

        apr_pool_create(&p, NULL);
        if (apl_snapshot_prepare(&s, &pool, p) != APR_SUCCESS)
            abort();
        keep_best(&best.first, copy(&s, 0));
        keep_best(&best.copy, copy(&s, 0));
        keep_best(&best.locked, copy(&s, 1));
        keep_best(&best.check, check(s.copy));
        keep_best(&best.reading, reading(&pool));
        keep_best(&best.repair, repair(&pool));
        apr_pool_destroy(p);
    }
    munmap(pool.base, pool.size);
    return best;
}

/* Another process has written names into all groups, so that they have one
 * bucket. */
static void crowd(apl_pool_t *pool)
{
    uint32_t i, k = 0;

    for (i = 1; i < pool->n.groups; i++) {
        apl_group_t *g = &pool->groups[i];

        g->state = APL_GROUP_USED;
        if (g->name[0] != 0)
            continue;
        do {
            snprintf(g->name, sizeof g->name, "app%u", k++);
            g->key = apl_group_key(g->name);
        } while (apl_group_bucket(pool, g->key) != pool->header->buckets);
    }
    pool->header->top_group = pool->n.groups - 1;
}

/* A repair then. */
static int tell_crowded(void)
{
    const apl_capacity_t n = {LARGE, 1, 1, 1};
    apl_pool_t pool;
    took_t best = {0};
    int i;

    make_empty(&pool, &n);
    for (i = 0; i < TIMES; i++) {
        crowd(&pool);
        keep_best(&best, repair(&pool));
    }
    munmap(pool.base, pool.size);
    return bench_verdict("repair, 10000 names in one bucket", best.all / 1e6,
                         "ms", 10, 1);
}

/* @return how many figures are not good */
static int tell(const char *what, took_t small, took_t large, double slice)
{
    char text[80];
    int bad;

    snprintf(text, sizeof text, "%s, 10000 processes, 100000 sessions", what);
    bad = bench_verdict(text, large.all / 1e6, "ms", 20, 1);
    snprintf(text, sizeof text, "%s, longest slice", what);
    bad += bench_verdict(text, large.slice / 1e6, "ms", slice, 1);
    snprintf(text, sizeof text, "%s, cost of a slot against 100 processes",
             what);
    /* It would be 100 if the cost was quadratic. The small one fits into the
     * processor's cache, the large one does not. */
    return bad + bench_verdict(text, large.all / small.all * SMALL / LARGE, "x",
                               20, 1);
}

/* A repair, against reading what it is made from. */
static int tell_repair(const char *what, figures_t small, figures_t large,
                       double slice, double reading)
{
    char text[80];

    snprintf(text, sizeof text, "%s, against reading the slots", what);
    return tell(what, small.repair, large.repair, slice) +
           bench_verdict(text, large.repair.all / large.reading.all, "x",
                         reading, 1);
}

int main(void)
{
    figures_t small, large;
    int bad = 0;

    apr_initialize();
    small = measure(SMALL, 9);
    large = measure(LARGE, 9);
    /* One slice may clear a huge page. */
    bad += tell("first copy", small.first, large.first, 2);
    bad += tell("copy", small.copy, large.copy, 1);
    bad += tell("copy under the lock", small.locked, large.locked, 1);
    bad += tell("check", small.check, large.check, 1);
    bad += tell_repair("repair", small, large, 2, 4);
    small = measure(SMALL, 1);
    large = measure(LARGE, 1);
    bad += tell("check, 90% wait", small.check, large.check, 1);
    bad += tell_repair("repair, 90% wait", small, large, 5, 10);
    bad += tell_crowded();
    return bad != 0;
}
