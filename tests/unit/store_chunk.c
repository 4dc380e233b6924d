/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Chunks, pages, and the limit of a space. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/memory/chunk.h"
#include "store/memory/sweeper.h"
#include "tests/unit/support/shelf.h"

#define PAGES 16

static shelf_t shelf;

static void the_classes_fill_a_page_and_fit_their_bytes(void **state)
{
    uint32_t bytes;
    unsigned i;

    (void)state;
    assert_int_equal(store_class_size[STORE_CLASSES - 1], STORE_CHUNK_MAX);
    for (i = 0; i < STORE_CLASSES; i++) {
        uint32_t size = store_class_size[i], rest;

        assert_int_equal(size % STORE_UNIT, 0);
        rest = STORE_PAGE - (uint32_t)sizeof(store_page_t) -
               size * store_class_chunks(i);
        assert_true(rest < store_class_chunks(i) * STORE_UNIT);
        if (i > 0)
            assert_true(size <= store_class_size[i - 1] * 1.26);
    }
    for (bytes = 1; bytes <= STORE_CHUNK_MAX; bytes++) {
        i = store_class_of(bytes);
        assert_true(store_class_size[i] >= bytes);
        assert_true(i == 0 || store_class_size[i - 1] < bytes);
    }
}

/* @return how many items were set, "0", "1" ... */
static unsigned fill(uint32_t length, unsigned most)
{
    unsigned n;
    char key[16];

    for (n = 0; n < most; n++) {
        snprintf(key, sizeof key, "%u", n);
        if (!shelf_set(&shelf, key, n, length, 0))
            break;
    }
    return n;
}

static void without_eviction_a_full_space_says_so(void **state)
{
    unsigned n, i;
    char key[16];

    (void)state;
    shelf_open(&shelf, PAGES, 0);
    n = fill(400, 100000);
    assert_int_equal(n, PAGES * store_class_chunks(store_class_of(440)));
    assert_int_equal(shelf_check(&shelf), n);
    assert_int_equal(shelf.space->figures->used, PAGES * STORE_PAGE);
    for (i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%u", i);
        assert_int_equal(shelf_get(&shelf, key, i, 400), 1);
    }
    assert_int_equal(shelf_set(&shelf, "0", 1, 400, 0), 0);
    assert_int_equal(shelf_delete(&shelf, "7"), 1);
    assert_true(shelf_set(&shelf, "0", 1, 400, 0) > 0);
    shelf_close(&shelf);
}

static void a_page_without_items_serves_another_class(void **state)
{
    unsigned n, i;
    char key[16];

    (void)state;
    shelf_open(&shelf, PAGES, 0);
    n = fill(400, 100000);
    for (i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%u", i);
        shelf_delete(&shelf, key);
    }
    assert_int_equal(shelf_check(&shelf), 0);
    assert_int_equal(fill(4000, 100000), PAGES * 16);
    /* Nobody had to look for a page that can be emptied. */
    assert_int_equal(shelf.space->figures->page_moves, 0);
    shelf_recover(&shelf);
    assert_int_equal(shelf_check(&shelf), PAGES * 16);
    shelf_close(&shelf);
}

/* A value of which each byte looks like the state of a living item. */
static void put_misleading(const char *key)
{
    store_bucket_t bucket;
    uint32_t n;
    store_item_t *item =
        store_item_make(shelf.space, key, (uint8_t)strlen(key), 0, 0, 8100);
    char *value = store_item_bytes(shelf.space, item, 0, &n);

    memset(value, STORE_LIVE, n);
    store_index_lock(&bucket, shelf.space, key, (uint8_t)strlen(key));
    store_index_put(&bucket, item, NULL, 0);
    store_index_unlock(&bucket);
    store_item_release(shelf.space, item);
}

static void fill_with_misleading(void)
{
    char key[16];
    unsigned i;

    for (i = 0; i < PAGES * 8; i++) {
        snprintf(key, sizeof key, "%u", i);
        put_misleading(key);
    }
    for (i = 0; i < PAGES * 8; i++) {
        snprintf(key, sizeof key, "%u", i);
        assert_int_equal(shelf_delete(&shelf, key), 1);
    }
}

/* In the pages that are used now. */
static void no_old_bytes_are_items(void)
{
    fill(20, PAGES);
    shelf_recover(&shelf);
    assert_int_equal(shelf.space->figures->dropped, 0);
    assert_int_equal(shelf_check(&shelf), PAGES);
    shelf_close(&shelf);
}

static void bytes_of_an_old_class_are_no_items(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 0);
    fill_with_misleading();
    no_old_bytes_are_items();
}

/* ---- memory that the kernel does not take ---- */

static int keeps; /* 1: it takes none */

/* In place of the one of libc. */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (!keeps)
        return (int)syscall(SYS_fallocate, fd, mode, offset, length);
    errno = EPERM;
    return -1;
}

static int keeps_no_more(void **state)
{
    (void)state;
    keeps = 0;
    return 0;
}

static void a_page_that_keeps_its_memory_is_zero(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 0);
    fill_with_misleading();
    keeps = 1;
    shelf.options.size = STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    while (store_sweeper_run(shelf.space, STORE_SWEEPER_CHUNKS))
        continue;
    assert_int_equal(shelf.space->figures->used, STORE_PAGE);
    shelf.options.size = PAGES * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    fill(400, 200); /* two pages */
    assert_int_equal(shelf_delete(&shelf, "0"), 1);
    shelf_recover(&shelf);
    assert_int_equal(shelf.space->figures->dropped, 0);
    assert_int_equal(shelf_check(&shelf), 199);
    shelf_close(&shelf);
}

static void a_recovery_makes_such_a_page_zero(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 0);
    fill_with_misleading();
    keeps = 1;
    shelf_recover(&shelf);
    no_old_bytes_are_items();
}

/* The counter of pages was lost. */
static void what_is_behind_the_last_page_is_zero(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 0);
    fill_with_misleading();
    keeps = 1;
    shelf.space->entry->pages = 0;
    shelf_recover(&shelf);
    no_old_bytes_are_items();
}

static void y23_with_eviction_the_newest_are_kept(void **state)
{
    unsigned n = 20000, i, kept = 0;
    char key[16];

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    assert_int_equal(fill(400, n), n);
    i = shelf_check(&shelf);
    assert_int_equal(i, PAGES * store_class_chunks(store_class_of(440)));
    assert_int_equal(shelf.space->figures->evictions, n - i);
    for (; i > 0; i--) {
        snprintf(key, sizeof key, "%u", n - i);
        kept += shelf_get(&shelf, key, n - i, 400) == 1;
    }
    assert_true(kept > shelf_check(&shelf) * 8 / 10);
    shelf_close(&shelf);
}

static void y23_an_item_that_is_used_is_not_evicted(void **state)
{
    store_item_t *item;

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    shelf_set(&shelf, "used", 5, 400, 0);
    item = shelf_take(&shelf, "used");
    assert_int_equal(fill(400, 20000), 20000);
    assert_true(shelf_is(&shelf, item, 5, 400));
    assert_int_equal(shelf_get(&shelf, "used", 5, 400), 1);
    store_item_release(shelf.space, item);
    shelf_close(&shelf);
}

/* What is made together lies together. */
static void y23_items_made_together_stay_if_they_are_used(void **state)
{
    unsigned second, i, n = 0, hot = 0;
    char key[16];

    (void)state;
    shelf_open(&shelf, 128, 1);
    for (second = 0; second < 60; second++) {
        for (i = hot = 0; i < 300; i++) {
            snprintf(key, sizeof key, "hot%u", i);
            if (second == 0)
                shelf_set(&shelf, key, i, 400, 0);
            hot += shelf_get(&shelf, key, i, 400) == 1;
        }
        for (i = 0; i < 3000; i++, n++) {
            snprintf(key, sizeof key, "%u", n);
            assert_true(shelf_set(&shelf, key, n, 400, 0) > 0);
        }
        shelf_later(&shelf, 1);
    }
    assert_int_equal(hot, 300);
    shelf_close(&shelf);
}

static void y23_what_has_expired_goes_first(void **state)
{
    unsigned n, i;
    char key[16];

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    n = fill(400, PAGES * store_class_chunks(store_class_of(440)));
    for (i = 0; i < n; i += 10) {
        snprintf(key, sizeof key, "%u", i);
        shelf_set(&shelf, key, i, 400, 1);
    }
    n = shelf_check(&shelf);
    for (i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "new%u", i);
        assert_true(shelf_set(&shelf, key, i, 400, 0) > 0);
    }
    assert_in_range(shelf.space->figures->evictions, 1, 20);
    assert_in_range(shelf.space->figures->reclaimed, 80, 101);
    assert_in_range(shelf_check(&shelf), n, n + 1);
    shelf_close(&shelf);
}

static void large_values_evict_large_values(void **state)
{
    unsigned n, i;
    char key[16];

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    for (i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "%u", i);
        assert_true(shelf_set(&shelf, key, i, 100000, 0) > 0);
        assert_int_equal(shelf_get(&shelf, key, i, 100000), 1);
    }
    n = shelf_check(&shelf);
    assert_in_range(n, 5, 9);
    shelf_close(&shelf);
}

/* The pieces of the new value are beside each other, and the search for older
 * ones has to pass all of them. */
static void values_of_any_size_evict_others(void **state)
{
    uint32_t length = 1;
    unsigned i;

    (void)state;
    shelf_open(&shelf, 256, 1);
    for (i = 0; i < 300; i++) {
        char key[16];

        length = (length * 48271u + i) % 600000u;
        snprintf(key, sizeof key, "%u", i);
        assert_true(shelf_set(&shelf, key, i, 400000 + length, 0) > 0);
    }
    assert_true(shelf_check(&shelf) > 8);
    shelf_close(&shelf);
}

static void a_value_of_half_the_space_is_refused(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill(400, 1000);
    assert_int_equal(shelf_set(&shelf, "x", 1, PAGES * STORE_PAGE, 0), 0);
    assert_int_equal(shelf_check(&shelf), 1000);
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_classes_fill_a_page_and_fit_their_bytes),
        cmocka_unit_test(without_eviction_a_full_space_says_so),
        cmocka_unit_test(a_page_without_items_serves_another_class),
        cmocka_unit_test(bytes_of_an_old_class_are_no_items),
        cmocka_unit_test_teardown(a_page_that_keeps_its_memory_is_zero,
                                  keeps_no_more),
        cmocka_unit_test_teardown(a_recovery_makes_such_a_page_zero,
                                  keeps_no_more),
        cmocka_unit_test_teardown(what_is_behind_the_last_page_is_zero,
                                  keeps_no_more),
        cmocka_unit_test(y23_with_eviction_the_newest_are_kept),
        cmocka_unit_test(y23_an_item_that_is_used_is_not_evicted),
        cmocka_unit_test(y23_items_made_together_stay_if_they_are_used),
        cmocka_unit_test(y23_what_has_expired_goes_first),
        cmocka_unit_test(large_values_evict_large_values),
        cmocka_unit_test(values_of_any_size_evict_others),
        cmocka_unit_test(a_value_of_half_the_space_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
