/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file store_memory.c
 * @brief What the memory of the store costs: instructions and time of a get and
 *        of a set, bytes of an object, memory of an empty space, and how fast
 *        the items of a memfd are recovered. No protocol, no socket.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/item.h"
#include "store/memory/region.h"
#include "store/memory/space.h"
#include "tests/crash/stepper.h"

#define MIB    (UINT64_C(1) << 20)
#define KEY    16
#define COUNTS 20     /* operations whose instructions are counted */
#define TIMED  200000 /* and whose time is measured */

static int items_fd, figures_fd;
static store_space_t *space;
static char value[512];

static unsigned failed;

static void verdict(const char *what, double n, const char *unit, double limit,
                    int at_most)
{
    int good = at_most ? n <= limit : n >= limit;

    printf("%s - %s: %.1f %s, wanted %s %.1f\n", good ? "ok" : "not ok", what,
           n, unit, at_most ? "at most" : "at least", limit);
    failed += !good;
}

static void begin(uint64_t size)
{
    store_space_options_t options = {"bench", size, 1, NULL};

    items_fd = memfd_create("items", MFD_CLOEXEC);
    figures_fd = memfd_create("figures", MFD_CLOEXEC);
    if (store_region_open(items_fd, figures_fd) != 0 ||
        !(space = store_space_open(&options)))
        abort();
}

static void end(void)
{
    store_space_close(space);
    store_region_close();
    close(items_fd);
    close(figures_fd);
}

static const char *key_of(unsigned i)
{
    static char key[KEY + 1];

    snprintf(key, sizeof key, "key-%012u", i);
    return key;
}

static void set(unsigned i, uint32_t length)
{
    const char *key = key_of(i);
    store_item_t *item = store_item_make(space, key, KEY, 0, 0, length);
    store_bucket_t b;

    if (!item)
        abort();
    store_item_write(space, item, 0, value, length);
    store_index_lock(&b, space, key, KEY);
    store_index_put(&b, item, store_index_find(&b, NULL), 0);
    store_index_unlock(&b);
    store_item_release(space, item);
}

static void get(unsigned i)
{
    const char *key = key_of(i);
    store_bucket_t b;
    store_item_t *item;

    store_index_lock(&b, space, key, KEY);
    item = store_index_find(&b, NULL);
    if (item) {
        store_index_fetched(&b, item);
        store_item_keep(item);
    }
    store_index_unlock(&b);
    if (item)
        store_item_release(space, item);
}

/* ---- instructions and time ---- */

enum { NOTHING, GET, REPLACE, NEW };

typedef struct {
    int what;
    unsigned first, n;
} job_t;

static void work(void *arg)
{
    const job_t *job = arg;
    unsigned i;

    for (i = job->first; i < job->first + job->n; i++)
        switch (job->what) {
        case NOTHING:
            key_of(i);
            break;
        case GET:
            get(i);
            break;
        default:
            set(i, 100);
        }
}

static int never(void *ctx, pid_t pid, unsigned step)
{
    (void)ctx;
    (void)pid;
    (void)step;
    return 0;
}

static double instructions(int what, unsigned first)
{
    job_t job = {what, first, COUNTS};
    stepper_path_t path = {0};
    char none = 0;
    pid_t pid;
    unsigned n;

    work(&job); /* so that everything that is looked up once is known */
    job.first += what == NEW ? COUNTS : 0;
    n = stepper_run(work, &job, &none, 1, never, NULL, &path, &pid);
    stepper_kill(pid);
    stepper_free(&path);
    return (double)n / COUNTS;
}

/* Of this process, so that others do not count. */
static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double nanoseconds(int what, unsigned first)
{
    job_t job = {what, first, TIMED}, none = {NOTHING, first, TIMED};
    double began = seconds(), key;

    work(&none);
    key = seconds() - began;
    began = seconds();
    work(&job);
    return (seconds() - began - key) / TIMED * 1e9;
}

/* The time first: instructions are counted in a child, which writes to the same
 * memfd. After that, the index of this process is not that of the memfd. */
static void report(const char *name, int what, unsigned first, double limit)
{
    double ns = nanoseconds(what, first), key = instructions(NOTHING, 0);

    first += what == NEW ? TIMED : 0;
    verdict(name, instructions(what, first) - key, "instructions", limit, 1);
    printf("# %.0f ns\n", ns);
}

static void speed(void)
{
    unsigned i;

    begin(256 * MIB);
    for (i = 0; i < 300000; i++)
        set(i, 100);
    report("get", GET, 0, 750);
    report("set of a present key", REPLACE, 0, 1700);
    report("set of a new key", NEW, 300000, 1800);
    end();
    begin(8 * MIB);
    for (i = 0; i < 200000; i++)
        set(i, 100);
    report("set of a new key in a full space", NEW, 200000, 4200);
    end();
}

/* ---- memory ---- */

static uint64_t resident(void)
{
    unsigned long size, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%lu %lu", &size, &pages) != 2)
        abort();
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void bytes_of_an_object(uint32_t length)
{
    uint64_t before = resident(), n;
    char name[64];
    unsigned i;

    begin(64 * MIB);
    for (i = 0; space->figures->evictions == 0; i++)
        set(i, length);
    n = space->figures->items;
    snprintf(name, sizeof name, "memory beside key and %u bytes of value",
             length);
    verdict(name, (double)(resident() - before) / (double)n - KEY - length,
            "bytes", 65, 1);
    end();
}

static void empty_space(void)
{
    uint64_t before = resident();
    struct stat st;

    begin(64 * MIB);
    fstat(items_fd, &st);
    verdict("an empty space of 64 MiB", (double)(resident() - before) / 1024,
            "KiB", 512, 1);
    verdict("its part of the memfd", (double)st.st_blocks / 2, "KiB", 128, 1);
    end();
}

/* ---- recovery ---- */

static void recovery(uint32_t length, unsigned n)
{
    store_space_options_t options = {"bench", 512 * MIB, 1, NULL};
    char name[64];
    double began;
    unsigned i;

    begin(512 * MIB);
    for (i = 0; i < n; i++)
        set(i, length);
    store_space_close(space);
    began = seconds();
    space = store_space_open(&options);
    snprintf(name, sizeof name, "recovery of values of %u bytes", length);
    verdict(name, (double)space->figures->recovered / (seconds() - began) / 1e6,
            "million a second", 3, 0);
    end();
}

int main(void)
{
    empty_space();
    bytes_of_an_object(32);
    bytes_of_an_object(100);
    bytes_of_an_object(400);
    speed();
    recovery(32, 1000000);
    recovery(400, 700000);
    return failed != 0;
}
