/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/bench/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "shm/slots/group.h"
#include "shm/format/segment.h"

#define LIMIT 2000

int64_t bench_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int bench_verdict(const char *what, double value, const char *unit,
                  double limit, int at_most)
{
    int good = at_most ? value <= limit : value >= limit;

    printf("%s - %s: %.2f %s (%s %.2f)\n", good ? "ok" : "not ok", what, value,
           unit, at_most ? "at most" : "at least", limit);
    return !good;
}

static void make_apps(bench_pool_t *b, int groups)
{
    int i;

    b->n_apps = groups;
    b->apps = calloc((size_t)groups, sizeof *b->apps);
    for (i = 0; i < groups; i++) {
        char *name = malloc(16);

        snprintf(name, 16, "app%d", i);
        b->apps[i] = (apl_app_t){
            .name = name,
            .root = "/",
            .key = apl_group_key(name),
            .options = {.config = 1, .concurrency = 1, .global_queue = 1}};
    }
}

void *bench_share(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        abort();
    return memory;
}

void bench_pool_make(bench_pool_t *b, int processes, int groups)
{
    const apl_capacity_t n = {1100, 1100, 2000, 100};
    apl_session_ref_t *holds = calloc((size_t)processes, sizeof *holds);
    apl_order_t order;
    void *memory;
    int i;

    b->size = apl_segment_size(&n);
    memory = bench_share(b->size);
    apl_segment_format(&b->pool, memory, &n);
    apl_configure_limits(&b->pool, LIMIT, 1, 1);
    apl_child_register(&b->pool, 1);
    make_apps(b, groups);
    for (i = 0; i < processes; i++) {
        apl_checkout(&b->pool, &holds[i], &b->apps[i % groups], NULL, NULL, 1);
        if (apl_supervise_next_order(&b->pool, (uint64_t)(i + 1) << 20, 1,
                                     &order) != APR_SUCCESS ||
            apl_supervise_ready(&b->pool, order.id, 1) != APR_SUCCESS ||
            apl_checkout_poll(&b->pool, &holds[i], 1) != APR_SUCCESS)
            abort();
    }
    for (i = 0; i < processes; i++)
        apl_checkin(&b->pool, &holds[i], 1);
    free(holds);
}

void bench_pool_free(bench_pool_t *b)
{
    int i;

    for (i = 0; i < b->n_apps; i++)
        free((void *)(uintptr_t)b->apps[i].name);
    free(b->apps);
    munmap(b->pool.base, b->size);
}
