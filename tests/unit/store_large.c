/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Large values are in memory as all others, and do not take it from them. */

#include <stdio.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "tests/unit/support/shelf.h"

#define PAGES 256          /* 16 MB */
#define LARGE (600 * 1024) /* bytes of a value */
#define HALF  (PAGES / 2)  /* pages */
#define FLOOD 100          /* large values: four times the space */
#define MANY  20000        /* items that fill the space with FULL values */
#define FULL  700          /* bytes */
#define HOT   4000
#define SMALL 1000 /* bytes */

static shelf_t shelf;

static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shelf_close(&shelf);
    return 0;
}

static const char *name(const char *what, unsigned i)
{
    static char key[32];

    snprintf(key, sizeof key, "%s%u", what, i);
    return key;
}

static int set(const char *what, unsigned i, uint32_t length)
{
    return shelf_set(&shelf, name(what, i), i, length, 0) != 0;
}

static unsigned count(const char *what, unsigned n, uint32_t length)
{
    unsigned i, found = 0;

    for (i = 0; i < n; i++)
        found += (unsigned)shelf_get(&shelf, name(what, i), i, length);
    return found;
}

static void fill(const char *what, unsigned n, uint32_t length)
{
    unsigned i;

    for (i = 0; i < n; i++)
        assert_true(set(what, i, length));
}

static uint32_t chunks_of(uint32_t length)
{
    return (length + STORE_PIECE_BYTES - 1) / STORE_PIECE_BYTES;
}

/* @return how many there are in the ring, and how many chunks they have */
static unsigned ring(uint32_t *chunks)
{
    store_item_t *first = store_large_next(shelf.space), *item = first;
    unsigned n = 0;

    for (*chunks = 0; item && (n == 0 || item != first); n++) {
        *chunks += chunks_of(item->length);
        item = store_large_next(shelf.space);
    }
    return n;
}

/* The ring has these values, and no other one. */
static void check(unsigned n)
{
    uint32_t chunks;

    assert_int_equal(ring(&chunks), n);
    assert_int_equal(chunks, shelf.space->large_chunks);
    shelf_check(&shelf);
}

static void y45_a_flood_of_large_values_leaves_the_small_ones(void **state)
{
    unsigned i;

    (void)state;
    fill("hot", HOT, SMALL);
    for (i = 0; i < FLOOD; i++) {
        assert_true(set("large", i, LARGE));
        shelf_later(&shelf, 1);
        assert_int_equal(count("hot", HOT, SMALL), HOT);
    }
    assert_true(shelf_get(&shelf, "large99", 99, LARGE));
    shelf_check(&shelf);
}

/* Nobody else needs it. */
static void y45_large_values_may_have_all_memory_that_is_free(void **state)
{
    (void)state;
    fill("large", 24, LARGE);
    assert_int_equal(shelf.space->figures->evictions, 0);
    assert_true(store_large_exceed(shelf.space));
    check(24);
}

/* The others were used as lately. */
static void y45_small_ones_get_their_half_back(void **state)
{
    unsigned left;

    (void)state;
    fill("large", 24, LARGE);
    fill("small", MANY, FULL);
    assert_false(store_large_exceed(shelf.space));
    left = count("large", 24, LARGE);
    assert_in_range(left, 11, 13);
    check(left);
    assert_true(count("small", MANY, FULL) >= HALF * 80);
}

/* What was unused longest goes first, whatever its size is. */
static void old_ones_give_way_below_their_half(void **state)
{
    unsigned left;

    (void)state;
    fill("large", 24, LARGE);
    shelf_later(&shelf, 10);
    fill("small", MANY, FULL);
    left = count("large", 24, LARGE);
    assert_true(left < 11);
    check(left);
}

static void y45_the_one_unused_longest_goes_first(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 24; i++) {
        assert_true(set("large", i, LARGE));
        shelf_later(&shelf, 1);
    }
    assert_true(shelf_get(&shelf, "large0", 0, LARGE));
    assert_true(shelf_get(&shelf, "large1", 1, LARGE));
    for (i = 24; i < 34; i++)
        assert_true(set("large", i, LARGE));
    assert_true(shelf_get(&shelf, "large0", 0, LARGE));
    assert_true(shelf_get(&shelf, "large1", 1, LARGE));
    assert_false(shelf_get(&shelf, "large2", 2, LARGE));
    assert_true(shelf_get(&shelf, "large23", 23, LARGE));
}

static void y45_none_goes_if_nothing_may_be_evicted(void **state)
{
    (void)state;
    shelf.options.evict = 0;
    store_space_configure(shelf.space, &shelf.options);
    fill("large", 24, LARGE);
    fill("more", 2, LARGE);
    assert_false(set("more", 2, LARGE));
    assert_false(set("more", 3, LARGE));
    assert_int_equal(count("large", 24, LARGE), 24);
    check(26);
}

static void those_that_have_expired_go_in_any_case(void **state)
{
    unsigned i;

    (void)state;
    shelf.options.evict = 0;
    store_space_configure(shelf.space, &shelf.options);
    for (i = 0; i < 24; i++)
        assert_true(shelf_set(&shelf, name("large", i), i, LARGE,
                              i % 2 ? 0 : store_clock() + 10) != 0);
    shelf_later(&shelf, 20);
    assert_true(set("more", 0, LARGE));
    assert_int_equal(count("large", 24, LARGE), 12);
}

/* A value that is replaced, deleted, or that does not fit leaves the ring. */
static void the_ring_has_what_is_in_memory(void **state)
{
    store_item_t *kept;

    (void)state;
    check(0);
    fill("large", 3, LARGE);
    assert_true(set("small", 0, STORE_LARGE));
    check(3);
    assert_true(set("large", 1, SMALL));
    check(2);
    kept = shelf_take(&shelf, "large0");
    assert_true(shelf_delete(&shelf, "large0"));
    assert_int_equal(shelf.space->large_chunks, 2 * chunks_of(LARGE));
    store_item_release(shelf.space, kept);
    check(1);
    assert_true(shelf_delete(&shelf, "large2"));
    check(0);
    fill("large", 3, LARGE);
    shelf_recover(&shelf);
    check(3);
    fill("large", 3, LARGE);
    check(3);
}

static void a_value_that_does_not_fit_is_no_loss_for_others(void **state)
{
    (void)state;
    store_item_max = PAGES * STORE_PAGE;
    fill("hot", HOT, SMALL);
    assert_null(store_item_make(shelf.space, "k", 1, 0, 0,
                                (PAGES + 1) * (STORE_PAGE / 2)));
    assert_int_equal(count("hot", HOT, SMALL), HOT);
    check(0);
}

/* An older build had values in files. A file ended with its store. */
static void a_value_that_was_in_a_file_is_dropped(void **state)
{
    store_item_t *item;

    (void)state;
    fill("small", 3, SMALL);
    item = shelf_take(&shelf, "small1");
    item->bits |= 16;
    item->length = STORE_LARGE + 1;
    item->check = store_item_check(item);
    shelf_recover(&shelf);
    assert_int_equal(shelf.space->figures->dropped, 1);
    assert_false(shelf_get(&shelf, "small1", 1, SMALL));
    assert_int_equal(count("small", 3, SMALL), 2);
    shelf_check(&shelf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            y45_a_flood_of_large_values_leaves_the_small_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(
            y45_large_values_may_have_all_memory_that_is_free, setup, teardown),
        cmocka_unit_test_setup_teardown(y45_small_ones_get_their_half_back,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(old_ones_give_way_below_their_half,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(y45_the_one_unused_longest_goes_first,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(y45_none_goes_if_nothing_may_be_evicted,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(those_that_have_expired_go_in_any_case,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(the_ring_has_what_is_in_memory, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            a_value_that_does_not_fit_is_no_loss_for_others, setup, teardown),
        cmocka_unit_test_setup_teardown(a_value_that_was_in_a_file_is_dropped,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
