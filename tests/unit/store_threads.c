/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Many threads use the same keys, in a space that is too small for them, while
 * the sweeper runs, the size changes and everything is flushed. Each value that
 * is read is one that was written. */

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/sweeper.h"
#include "store/memory/table.h"
#include "tests/unit/support/repeats.h"
#include "tests/unit/support/shelf.h"

#define THREADS 4
#define KEYS    300
#define STEPS   repeats(6000)

static shelf_t shelf;
static unsigned wrong, found, over;

typedef struct {
    unsigned seed;
    pthread_t thread;
} worker_t;

static unsigned any(worker_t *w, unsigned n)
{
    w->seed = w->seed * 1103515245 + 12345;
    return (w->seed >> 8) % n;
}

/* The flags of an item are the seed of its value and of the length. */
static uint32_t length_of(uint32_t seed)
{
    static const uint32_t most[] = {40, 300, 2000, 30000};

    if (seed % 64 == 5)
        return STORE_LARGE + 1 + seed % 5000;
    return seed / 7 % most[seed % 4];
}

static void read_one(const char *key)
{
    store_item_t *item = shelf_take(&shelf, key);

    if (!item)
        return;
    if (!shelf_is(&shelf, item, item->flags, length_of(item->flags)))
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&found, 1, __ATOMIC_RELAXED);
    store_item_release(shelf.space, item);
}

static void *work(void *arg)
{
    worker_t *w = arg;
    char key[16];
    unsigned i;

    for (i = 0; i < STEPS; i++) {
        unsigned what = any(w, 100);
        uint32_t seed = any(w, 1 << 24);

        snprintf(key, sizeof key, "%u", any(w, KEYS));
        if (what < 40)
            shelf_set(&shelf, key, seed, length_of(seed), what == 0);
        else if (what < 45)
            shelf_delete(&shelf, key);
        else
            read_one(key);
    }
    return NULL;
}

static void *sweep(void *arg)
{
    (void)arg;
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        store_sweeper_run(shelf.space, 200);
    return NULL;
}

static void change_the_space(unsigned i)
{
    shelf.options.size = (uint64_t)(24 + i % 3 * 8) * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    if (i % 16 == 0)
        store_space_flush(shelf.space, 0);
}

/* While all others use it. */
static void grow(unsigned times)
{
    shelf.options.size = UINT64_C(40) * STORE_PAGE << times;
    store_space_configure(shelf.space, &shelf.options);
    while (store_space_grow(shelf.space))
        continue;
}

static void load(void)
{
    worker_t workers[THREADS];
    pthread_t sweeper;
    unsigned i;

    wrong = found = over = 0;
    shelf_open(&shelf, 40, 1);
    pthread_create(&sweeper, NULL, sweep, NULL);
    for (i = 0; i < THREADS; i++) {
        workers[i].seed = i;
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (i = 0; i < 200; i++) {
        char key[16];

        if (i % 50 == 49)
            grow(1 + i / 50);
        change_the_space(i);
        snprintf(key, sizeof key, "%u", i);
        read_one(key);
    }
    for (i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    pthread_join(sweeper, NULL);
    assert_int_equal(wrong, 0);
    assert_true(found > STEPS / 4);
    shelf.options.size = 40 * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    shelf_check(&shelf);
    shelf_recover(&shelf);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

static void y47_each_value_is_one_that_was_written(void **state)
{
    (void)state;
    load();
}

#define PAGES 16
#define LOCKS 60 /* nearly all of the table; ThreadSanitizer knows 64 in all */

static sem_t held;

/* As one who gives a chunk back under the lock of its bucket. */
static void *hold_the_buckets(void *arg)
{
    uint64_t i;

    (void)arg;
    for (i = 0; i < LOCKS; i++)
        store_table_lock(shelf.space->table, i);
    sem_post(&held);
    store_chunk_lock(shelf.space);
    store_chunk_unlock(shelf.space);
    for (i = 0; i < LOCKS; i++)
        store_table_unlock(shelf.space->table, i);
    return NULL;
}

static void who_has_a_bucket_is_awaited(void **state)
{
    pthread_t thread;
    char key[16];
    unsigned i;
    int moved;

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    sem_init(&held, 0, 0);
    for (i = 0; shelf.space->figures->evictions == 0; i++) {
        snprintf(key, sizeof key, "%u", i);
        shelf_set(&shelf, key, i, 300, 0);
    }
    store_chunk_lock(shelf.space);
    pthread_create(&thread, NULL, hold_the_buckets, NULL);
    sem_wait(&held);
    moved = store_evict_page_of(shelf.space, store_class_of(340), 0);
    store_chunk_unlock(shelf.space);
    pthread_join(thread, NULL);
    assert_int_equal(moved, 1);
    shelf_check(&shelf);
    shelf_close(&shelf);
    sem_destroy(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_has_a_bucket_is_awaited),
        cmocka_unit_test(y47_each_value_is_one_that_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
