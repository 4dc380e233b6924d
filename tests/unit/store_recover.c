/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a store that starts makes of the memfd: what was acknowledged is there,
 * what cannot be proved is dropped, and no damage breaks it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/memory/chunk.h"
#include "store/memory/region.h"
#include "tests/unit/support/shelf.h"

#define LARGE 40000

static shelf_t shelf;

static store_item_t *item_of(const char *key)
{
    store_item_t *item = shelf_take(&shelf, key);

    assert_non_null(item);
    store_item_release(shelf.space, item);
    return item;
}

static void all_items_are_found(void **state)
{
    char key[16];
    unsigned i;
    uint64_t cas = 0;

    (void)state;
    shelf_open(&shelf, 600, 0);
    for (i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "%u", i);
        cas = shelf_set(&shelf, key, i, i % 50 ? i : i * 50, 0);
        assert_true(cas > 0);
    }
    for (i = 0; i < 3000; i += 3) {
        snprintf(key, sizeof key, "%u", i);
        assert_int_equal(shelf_delete(&shelf, key), 1);
    }
    shelf_recover(&shelf);
    assert_int_equal(shelf_check(&shelf), 2000);
    assert_int_equal(shelf.space->figures->recovered, 2000);
    assert_int_equal(shelf.space->figures->dropped, 0);
    for (i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "%u", i);
        assert_int_equal(shelf_get(&shelf, key, i, i % 50 ? i : i * 50),
                         i % 3 != 0);
    }
    assert_true(shelf_set(&shelf, "new", 1, 1, 0) > cas);
    shelf_close(&shelf);
}

static void references_and_unfinished_items_are_gone(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 0);
    shelf_set(&shelf, "a", 1, 100, 0);
    shelf_set(&shelf, "b", 1, LARGE, 0);
    shelf_take(&shelf, "a");
    shelf_take(&shelf, "b");
    shelf_delete(&shelf, "b");
    assert_non_null(store_item_make(shelf.space, "c", 1, 0, 0, LARGE));
    shelf_recover(&shelf);
    assert_int_equal(shelf_check(&shelf), 1);
    assert_int_equal(shelf_get(&shelf, "a", 1, 100), 1);
    shelf_close(&shelf);
}

static void of_two_items_of_a_key_the_newer_one_stays(void **state)
{
    int order;

    (void)state;
    for (order = 0; order < 2; order++) {
        store_item_t *one, *other;

        shelf_open(&shelf, 16, 0);
        shelf_set(&shelf, "a", 5, 100, 0);
        shelf_set(&shelf, "b", 6, LARGE, 0);
        one = item_of(order ? "a" : "b");
        other = item_of(order ? "b" : "a");
        *store_item_key(one) = *store_item_key(other) = 'k';
        store_cas_set(one, 1);
        store_cas_set(other, 2);
        one->check = store_item_check(one);
        other->check = store_item_check(other);
        shelf_recover(&shelf);
        assert_int_equal(shelf_check(&shelf), 1);
        assert_int_equal(
            shelf_get(&shelf, "k", order ? 6 : 5, order ? LARGE : 100), 1);
        shelf_close(&shelf);
    }
}

/* One byte of a living item is wrong. Fields that change while it lives are
 * not checked. */
static void a_damaged_header_is_dropped(void **state)
{
    const size_t not_checked[] = {8,  9,  10, 11, 12, 13, 14, 15,
                                  16, 17, 18, 19, 28, 29, 35};
    size_t at, i;

    (void)state;
    for (at = 0; at < sizeof(store_item_t) + 3; at++) {
        int checked = 1;

        shelf_open(&shelf, 16, 0);
        shelf_set(&shelf, "abc", 5, 100, 0);
        shelf_set(&shelf, "other", 6, 100, 0);
        ((unsigned char *)item_of("abc"))[at] ^= 0x41;
        for (i = 0; i < sizeof not_checked / sizeof *not_checked; i++)
            checked &= at != not_checked[i];
        shelf_recover(&shelf);
        assert_int_equal(shelf_check(&shelf), checked ? 1 : 2);
        assert_int_equal(shelf_get(&shelf, "other", 6, 100), 1);
        shelf_close(&shelf);
    }
}

static store_item_t *piece_of(const char *key, uint32_t number)
{
    store_place_t place = {0, 0};

    return store_piece_at(shelf.space, item_of(key), number * STORE_PIECE_BYTES,
                          &place);
}

enum { FREED, FOREIGN, CUT, CIRCLE, SHORT, OUTSIDE, ASKEW, DAMAGES };

static void damage(int what)
{
    switch (what) {
    case FREED:
        piece_of("b", 2)->state = STORE_FREE;
        break;
    case FOREIGN:
        piece_of("b", 2)->next = store_ref(shelf.space, piece_of("c", 3));
        break;
    case CUT:
        piece_of("b", 2)->next = 0;
        break;
    case CIRCLE:
        piece_of("b", 2)->next = store_ref(shelf.space, piece_of("b", 1));
        break;
    case SHORT:
        piece_of("b", 1)->length--;
        break;
    case OUTSIDE:
        piece_of("b", 1)->next = UINT32_MAX;
        break;
    case ASKEW:
        piece_of("b", 1)->next++;
        break;
    }
}

static void a_damaged_chain_is_dropped(void **state)
{
    int what;

    (void)state;
    for (what = FREED; what < DAMAGES; what++) {
        shelf_open(&shelf, 16, 0);
        shelf_set(&shelf, "b", 6, LARGE, 0);
        shelf_set(&shelf, "c", 7, LARGE, 0);
        damage(what);
        shelf_recover(&shelf);
        assert_int_equal(shelf_check(&shelf), 1);
        assert_int_equal(shelf.space->figures->dropped, 1);
        assert_int_equal(shelf_get(&shelf, "c", 7, LARGE), 1);
        assert_int_equal(shelf.space->figures->items, 1);
        shelf_close(&shelf);
    }
}

static void damaged_pages_are_free(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 0);
    shelf_set(&shelf, "a", 1, 10, 0);
    shelf_set(&shelf, "b", 6, 1000, 0);
    ((store_page_t *)(uintptr_t)shelf.space->base)->class_ = STORE_CLASSES;
    shelf_recover(&shelf);
    assert_int_equal(shelf_check(&shelf), 1);
    assert_int_equal(shelf_get(&shelf, "b", 6, 1000), 1);
    shelf.space->entry->pages = UINT32_MAX;
    shelf_recover(&shelf);
    assert_int_equal(shelf_check(&shelf), 1);
    shelf_close(&shelf);
}

static void pages_behind_the_last_one_lose_their_bytes(void **state)
{
    char key[16];
    unsigned i;

    (void)state;
    shelf_open(&shelf, 16, 0);
    for (i = 0; i < 600; i++) {
        snprintf(key, sizeof key, "%u", i);
        shelf_set(&shelf, key, i, 1000, 0);
    }
    memset(shelf.space->base + STORE_PAGE, STORE_LIVE, STORE_PAGE);
    shelf.space->entry->pages = 1;
    shelf_recover(&shelf);
    i = shelf_check(&shelf);
    assert_int_equal(i, store_class_chunks(store_class_of(1040)));
    shelf_set(&shelf, "small", 1, 10, 0);
    assert_int_equal(shelf_check(&shelf), i + 1);
    shelf_close(&shelf);
}

static void another_format_is_refused(void **state)
{
    store_directory_t *directory;

    (void)state;
    shelf_open(&shelf, 16, 0);
    directory = store_region_directory();
    directory->version++;
    assert_int_equal(store_region_open(shelf.items, shelf.figures), -1);
    assert_null(store_region_directory());
    store_space_close(shelf.space);
}

static void a_space_is_found_by_its_name(void **state)
{
    store_space_options_t options = {.size = 16 * STORE_PAGE};
    store_space_t *second;
    char name[STORE_NAME + 1];

    (void)state;
    shelf_open(&shelf, 16, 0);
    memset(name, 'n', STORE_NAME);
    name[STORE_NAME] = '\0';
    options.name = name;
    assert_null(store_space_open(&options));
    name[STORE_NAME - 1] = '\0';
    second = store_space_open(&options);
    assert_non_null(second);
    assert_int_equal(second->slot, 1);
    assert_string_equal(second->name, name);
    shelf_set(&shelf, "a", 1, 10, 0);
    store_space_close(second);
    second = store_space_open(&options);
    assert_int_equal(second->slot, 1);
    assert_int_equal(second->figures->items, 0);
    store_space_close(second);
    shelf_close(&shelf);
}

static unsigned calls;

static void count_call(void)
{
    calls++;
}

/* The watchdog kills a store that has no heartbeat for long. */
static void a_recovery_tells_that_it_runs(void **state)
{
    uint32_t pages;

    (void)state;
    shelf_open(&shelf, 64, 1);
    for (unsigned i = 0; i < 1000; i++) {
        char key[16];

        snprintf(key, sizeof key, "k%u", i);
        shelf_set(&shelf, key, 1, 1000, 0);
    }
    pages = shelf.space->entry->pages;
    assert_true(pages > 8);
    shelf_close_space(&shelf);
    calls = 0;
    shelf.options.progress = count_call;
    shelf_start(&shelf);
    assert_true(calls >= pages);
    shelf_close(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_are_found),
        cmocka_unit_test(references_and_unfinished_items_are_gone),
        cmocka_unit_test(of_two_items_of_a_key_the_newer_one_stays),
        cmocka_unit_test(a_damaged_header_is_dropped),
        cmocka_unit_test(a_damaged_chain_is_dropped),
        cmocka_unit_test(damaged_pages_are_free),
        cmocka_unit_test(pages_behind_the_last_one_lose_their_bytes),
        cmocka_unit_test(another_format_is_refused),
        cmocka_unit_test(a_space_is_found_by_its_name),
        cmocka_unit_test(a_recovery_tells_that_it_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
