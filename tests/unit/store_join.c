/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A reader of changes joins while many threads write: it walks over all items,
 * reads the list meanwhile, and has what the space has in the end. */

#include "store/memory/changes.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/unit/support/repeats.h"
#include "tests/unit/support/shelf.h"

static shelf_t shelf;
static store_cursor_t cursor;

#define KEYS    200
#define WRITERS 3
#define STEPS   20000

static unsigned running;

static void *write_keys(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg, i;
    char key[8];

    for (i = 0; i < repeats(STEPS); i++) {
        seed = seed * 1103515245 + 12345;
        snprintf(key, sizeof key, "%u", (seed >> 8) % KEYS);
        if (seed % 7 == 0)
            shelf_delete(&shelf, key);
        else
            shelf_set(&shelf, key, i, 10 + (seed >> 16) % 30000, 0);
        store_changes_ring();
    }
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* What a slave has: the cas of each key; 0: none. */
static uint64_t copy[KEYS], highest[KEYS];

static void take_present(const char *key, uint8_t klen)
{
    unsigned k = (unsigned)strtoul(key, NULL, 10);
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, shelf.space, key, klen);
    item = store_index_find(&bucket, NULL);
    copy[k] = item ? item->cas : 0;
    store_index_unlock(&bucket);
    assert_true(copy[k] == 0 || copy[k] >= highest[k]);
    highest[k] = copy[k] ? copy[k] : highest[k];
}

static void take_changes(void)
{
    static store_change_t got[64];
    size_t n = 64, i;

    assert_int_equal(store_changes_read(&cursor, got, &n), 0);
    for (i = 0; i < n; i++) {
        got[i].key[got[i].klen] = '\0';
        take_present(got[i].key, got[i].klen);
    }
}

static void take_item(void *ctx, const store_item_t *item)
{
    char key[STORE_KEY_MAX + 1];

    (void)ctx;
    memcpy(key, store_item_key(item), item->klen);
    key[item->klen] = '\0';
    copy[strtoul(key, NULL, 10)] = store_cas(item);
}

static void wait_for_changes(int bell)
{
    struct pollfd p = {bell, POLLIN, 0};
    uint64_t rings;
    int64_t ms;

    store_changes_wait(0, bell);
    if (store_changes_lag(&cursor, &ms) == 0 &&
        __atomic_load_n(&running, __ATOMIC_ACQUIRE) && poll(&p, 1, 1000) == 1)
        assert_int_equal(read(bell, &rings, sizeof rings), sizeof rings);
    store_changes_wait(0, -1);
}

static void y32_a_reader_that_joins_loses_nothing(void **state)
{
    int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_t threads[WRITERS];
    uint32_t bucket = 0;
    int64_t ms;
    unsigned i;

    (void)state;
    shelf_open(&shelf, 40, 1);
    running = WRITERS;
    for (i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_keys, (void *)(uintptr_t)i);
    assert_int_equal(store_changes_open(64 << 20), 0);
    store_changes_end(&cursor);
    while (store_index_walk(shelf.space, &bucket, 1, take_item, NULL))
        take_changes();
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE) ||
           store_changes_lag(&cursor, &ms)) {
        wait_for_changes(bell);
        take_changes();
    }
    for (i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_true(cursor.n > repeats(STEPS));
    for (i = 0; i < KEYS; i++) {
        char key[8];
        uint64_t had = copy[i];

        snprintf(key, sizeof key, "%u", i);
        take_present(key, (uint8_t)strlen(key));
        assert_int_equal(had, copy[i]);
    }
    close(bell);
    store_changes_close();
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(y32_a_reader_that_joins_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
