/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Pages go to the class that needs them, and back to the kernel; the sweeper
 * removes what is dead. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "store/memory/sweeper.h"
#include "tests/unit/support/shelf.h"

#define PAGES 20

static shelf_t shelf;

static const char *key_of(const char *what, unsigned i)
{
    static char key[32];

    snprintf(key, sizeof key, "%s%u", what, i);
    return key;
}

static void fill(const char *what, uint32_t length, unsigned n,
                 uint32_t exptime)
{
    unsigned i;

    for (i = 0; i < n; i++)
        assert_true(shelf_set(&shelf, key_of(what, i), i, length, exptime) > 0);
}

static uint32_t pages_of(uint32_t length)
{
    return store_chunk_stat(shelf.space, store_class_of(length + 40))->pages;
}

/* @return how many slices the pass had */
static unsigned sweep(unsigned chunks)
{
    unsigned n = 1;

    while (store_sweeper_run(shelf.space, chunks))
        n++;
    return n;
}

static void a_class_without_a_page_gets_one_of_a_full_space(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("small", 100, 20000, 0);
    assert_int_equal(pages_of(100), PAGES);
    fill("large", 3000, 10, 0);
    assert_int_equal(pages_of(100), PAGES - 1);
    assert_int_equal(pages_of(3000), 1);
    assert_int_equal(shelf.space->figures->page_moves, 1);
    fill("huge", 30000, 3, 0);
    assert_int_equal(shelf_get(&shelf, key_of("huge", 2), 2, 30000), 1);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

static void a_class_of_old_items_gives_the_page(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("old", 500, 5 * 100, 0);
    shelf_later(&shelf, 100);
    fill("young", 100, 15 * store_class_chunks(store_class_of(140)), 0);
    assert_int_equal(pages_of(500), 5);
    fill("new", 3000, 1, 0);
    assert_int_equal(pages_of(500), 4);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

/* The page at the hand has an item that is used, so another page is taken. */
static void a_page_that_is_used_is_not_taken(void **state)
{
    store_item_t *item;

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("small", 100, 1, 0);
    item = shelf_take(&shelf, key_of("small", 0));
    fill("others", 100, 20000, 0);
    fill("large", 3000, 10, 0);
    assert_true(shelf_is(&shelf, item, 0, 100));
    assert_int_equal(shelf_get(&shelf, key_of("small", 0), 0, 100), 1);
    store_item_release(shelf.space, item);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

/* A reader keeps the memory of an item that was deleted. So each page but one
 * has to stay, and what is in these pages stays, too. */
static void a_page_that_cannot_go_is_not_emptied(void **state)
{
    unsigned class_ = store_class_of(140);
    store_item_t *item[PAGES];
    uint32_t page;

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("small", 100, PAGES * store_class_chunks(class_), 0);
    assert_int_equal(pages_of(100), PAGES);
    for (page = 0; page < PAGES - 1; page++) {
        char key[32] = "";

        item[page] = store_at(shelf.space, store_page_chunk(page, class_, 0));
        memcpy(key, store_item_key(item[page]), item[page]->klen);
        assert_ptr_equal(shelf_take(&shelf, key), item[page]);
        assert_int_equal(shelf_delete(&shelf, key), 1);
    }
    fill("large", 3000, 1, 0);
    assert_int_equal(shelf.space->figures->page_moves, 1);
    assert_int_equal(shelf.space->figures->evictions,
                     store_class_chunks(class_));
    while (page-- > 0)
        store_item_release(shelf.space, item[page]);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

static void without_eviction_no_page_is_emptied(void **state)
{
    unsigned n;

    (void)state;
    shelf_open(&shelf, PAGES, 0);
    for (n = 0; shelf_set(&shelf, key_of("small", n), n, 100, 0); n++)
        ;
    assert_int_equal(shelf_set(&shelf, "large", 1, 3000, 0), 0);
    assert_int_equal(shelf_check(&shelf), n);
    shelf_close(&shelf);
}

static void y24_the_sweeper_removes_what_is_dead(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("flushed", 100, 100, 0);
    store_space_flush(shelf.space, 0);
    fill("alive", 100, 100, 0);
    fill("expired", 100, 100, 1);
    fill("large", 30000, 2, 1);
    assert_true(sweep(50) > 3);
    assert_int_equal(shelf_check(&shelf), 100);
    assert_int_equal(shelf.space->figures->expired, 202);
    assert_int_equal(shelf.space->figures->evictions, 0);
    shelf_close(&shelf);
}

static void look_at_memory(char *bytes, size_t n)
{
    assert_int_equal(pread(shelf.items, bytes, n, 0), n);
}

/* The age of an item is the time of its last use, so time alone changes no
 * item. */
static void y25_the_sweeper_does_not_write_to_living_items(void **state)
{
    enum { SIZE = PAGES * STORE_PAGE };
    static char before[SIZE], after[SIZE];

    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("small", 100, 2000, 0);
    fill("later", 1000, 50, store_clock_exptime(1000));
    sweep(1000);
    look_at_memory(before, SIZE);
    shelf_later(&shelf, 500);
    sweep(1000);
    look_at_memory(after, SIZE);
    assert_memory_equal(before, after, SIZE);
    assert_int_equal(shelf_check(&shelf), 2050);
    shelf_close(&shelf);
}

static void a_smaller_space_gives_its_memory_back(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 1);
    fill("small", 100, 20000, 0);
    fill("large", 3000, 100, 0);
    shelf.options.size = 7 * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    sweep(1000);
    assert_int_equal(shelf.space->figures->used, 7 * STORE_PAGE);
    assert_true(shelf_check(&shelf) > 0);
    fill("more", 100, 20000, 0);
    assert_int_equal(shelf.space->figures->used, 7 * STORE_PAGE);
    shelf.options.size = 9 * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    fill("more", 100, 20000, 0);
    assert_int_equal(shelf.space->figures->used, 9 * STORE_PAGE);
    assert_true(shelf.space->entry->pages <= PAGES);
    shelf_check(&shelf);
    shelf_recover(&shelf);
    shelf_check(&shelf);
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_without_a_page_gets_one_of_a_full_space),
        cmocka_unit_test(a_class_of_old_items_gives_the_page),
        cmocka_unit_test(a_page_that_is_used_is_not_taken),
        cmocka_unit_test(a_page_that_cannot_go_is_not_emptied),
        cmocka_unit_test(without_eviction_no_page_is_emptied),
        cmocka_unit_test(y24_the_sweeper_removes_what_is_dead),
        cmocka_unit_test(y25_the_sweeper_does_not_write_to_living_items),
        cmocka_unit_test(a_smaller_space_gives_its_memory_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
