/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A space that evicts nothing has room for any size, as long as it has room:
 * living items leave a page that another size needs. */

#include <stdio.h>
#include <string.h>

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/chunk.h"
#include "tests/unit/support/shelf.h"

#define PAGES 256 /* 16 MB */
#define FEW   64
#define EACH  120 /* of so many items one lives */
#define SMALL 300 /* bytes */
#define OTHER 1500
#define LONG  200000
#define LARGE 300000
#define CHUNK 8100 /* as large as a piece */
#define RING  (64 * 1024)
#define LIFE  10   /* s */
#define MOST  9000 /* of OTHER need most of the pages */

static shelf_t shelf;

static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, PAGES, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shelf_check(&shelf);
    shelf_close(&shelf);
    return 0;
}

static const char *name(const char *what, unsigned i)
{
    static char key[32];

    snprintf(key, sizeof key, "%s%u", what, i);
    return key;
}

/* Those between two living ones expire. @return how many items fit */
static unsigned fill(uint32_t length, unsigned each)
{
    unsigned n = 0;

    while (shelf_set(&shelf, name("k", n), n, length,
                     n % each ? store_clock() + LIFE : 0))
        n++;
    return n;
}

static unsigned set_others(unsigned n, uint32_t length)
{
    unsigned i, stored = 0;

    for (i = 0; i < n; i++)
        stored += shelf_set(&shelf, name("o", i), i, length, 0) != 0;
    return stored;
}

static void all_living_are_there(unsigned n, uint32_t length, unsigned each)
{
    unsigned i;

    for (i = 0; i < n; i += each)
        assert_int_equal(shelf_get(&shelf, name("k", i), i, length), 1);
}

static void y23_a_nearly_empty_space_takes_any_size(void **state)
{
    unsigned n;

    (void)state;
    n = fill(SMALL, EACH);
    assert_int_equal(set_others(10, OTHER), 0);
    shelf_later(&shelf, LIFE + 1);
    assert_int_equal(set_others(8000, OTHER), 8000);
    assert_int_equal(set_others(1, 100), 1);
    all_living_are_there(n, SMALL, EACH);
    assert_int_equal(shelf.space->figures->evictions, 0);
    shelf_recover(&shelf);
    all_living_are_there(n, SMALL, EACH);
}

static store_item_t *find(const char *key)
{
    store_item_t *item = shelf_take(&shelf, key);

    assert_non_null(item);
    store_item_release(shelf.space, item);
    return item;
}

/* The same items, many of them in another place. */
static void nobody_notices(void **state)
{
    static store_item_t *at[500], before[500];
    unsigned n, i, moved = 0;
    uint64_t position;

    (void)state;
    n = fill(SMALL, EACH) / EACH;
    for (i = 0; i < n; i++) {
        at[i] = find(name("k", i * EACH));
        STORE_SET(at[i]->bits, STORE_FETCHED | STORE_STALE);
        before[i] = *at[i];
    }
    shelf_later(&shelf, LIFE + 1);
    assert_int_equal(store_changes_open(RING), 0);
    position = store_changes_position() + shelf.space->figures->items;
    assert_int_equal(set_others(MOST, OTHER), MOST);
    for (i = 0; i < n; i++) {
        store_item_t *item = find(name("k", i * EACH));

        moved += item != at[i];
        before[i].next = item->next;
        before[i].used = item->used;
        assert_memory_equal(item, &before[i], sizeof before[i]);
    }
    assert_true(moved > n / 2);
    /* Each one that came or went is a change, and no other one is. */
    assert_int_equal(store_changes_position(),
                     position + MOST - (shelf.space->figures->items - MOST));
    store_changes_close();
}

static void one_that_is_in_use_stays_where_it_is(void **state)
{
    store_item_t *item;

    (void)state;
    fill(SMALL, EACH);
    item = shelf_take(&shelf, "k0");
    shelf_later(&shelf, LIFE + 1);
    assert_int_equal(set_others(MOST, OTHER), MOST);
    assert_ptr_equal(find("k0"), item);
    assert_true(shelf_is(&shelf, item, 0, SMALL));
    store_item_release(shelf.space, item);
}

/* The ring of large values goes through their first pieces. */
static void check_ring(uint32_t length)
{
    const store_item_t *first = store_large_next(shelf.space), *item = first;
    uint32_t pieces = (length + STORE_PIECE_BYTES - 1) / STORE_PIECE_BYTES, n;

    for (n = shelf.space->large_chunks / pieces; n > 1; n--) {
        item = store_large_next(shelf.space);
        assert_ptr_not_equal(item, first);
    }
    assert_ptr_equal(store_large_next(shelf.space), first);
}

/* Pieces leave a page, and heads stay. */
static void values_in_pieces(uint32_t length, unsigned each, unsigned others)
{
    unsigned n, i;

    n = fill(length, each);
    shelf_later(&shelf, LIFE + 1);
    assert_int_equal(set_others(others, OTHER), others);
    assert_int_equal(set_others(others, SMALL), others);
    all_living_are_there(n, length, each);
    shelf_check(&shelf);
    if (length > STORE_LARGE)
        check_ring(length);
    shelf_recover(&shelf);
    all_living_are_there(n, length, each);
    assert_int_equal(shelf.space->figures->dropped, 0);
    for (i = 0; i < n; i += each)
        assert_int_equal(shelf_delete(&shelf, name("k", i)), 1);
}

static void pieces_are_moved(void **state)
{
    (void)state;
    values_in_pieces(20000, 4, 7000);
}

static void pieces_of_large_values_are_moved(void **state)
{
    (void)state;
    values_in_pieces(LARGE, 13, 9200);
}

/* One value of many is dead. Its pages are not beside those that are looked at
 * first. */
static void one_that_is_dead_gives_its_room(unsigned dead)
{
    unsigned n = 0, rest = 0;

    shelf_open(&shelf, FEW, 0);
    while (shelf_set(&shelf, name("k", n), n, LONG,
                     n == dead ? store_clock() + LIFE : 0))
        n++;
    while (shelf_set(&shelf, name("r", rest), rest, CHUNK, 0))
        rest++;
    assert_true(dead < n);
    shelf_later(&shelf, LIFE + 1);
    assert_int_equal(set_others(1, OTHER), 1);
    assert_int_equal(shelf_check(&shelf), n + rest);
    shelf_close(&shelf);
}

static void what_is_dead_is_found_behind_the_living(void **state)
{
    unsigned dead;

    (void)state;
    for (dead = 0; dead < 20; dead++)
        one_that_is_dead_gives_its_room(dead);
}

static void what_is_full_stays_full(void **state)
{
    unsigned n;

    (void)state;
    n = fill(SMALL, 1);
    assert_int_equal(set_others(100, OTHER), 0);
    assert_int_equal(shelf.space->figures->page_moves, 0);
    all_living_are_there(n, SMALL, 1);
}

/* To look at all classes for each item that is refused would take as long as a
 * hundred items. */
static void a_refusal_holds_for_a_second(void **state)
{
    unsigned n, i;

    (void)state;
    n = fill(SMALL, 1);
    assert_true(n > 10000);
    assert_int_equal(set_others(1, OTHER), 0);
    for (i = 0; i < 30; i++) /* in many pages */
        shelf_delete(&shelf, name("k", i * 300));
    assert_int_equal(set_others(1, OTHER), 0);
    for (; i < 400; i++)
        shelf_delete(&shelf, name("k", i * 30 + 1));
    assert_int_equal(set_others(1, OTHER), 1);
}

static void a_refusal_is_over_with_the_second(void **state)
{
    unsigned i;

    (void)state;
    fill(7000, 1); /* 8 of them fill a page */
    assert_int_equal(set_others(1, OTHER), 0);
    for (i = 0; i < 10; i++)
        shelf_delete(&shelf, name("k", i * 20));
    assert_int_equal(set_others(1, OTHER), 0);
    shelf_later(&shelf, 1);
    assert_int_equal(set_others(1, OTHER), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(y23_a_nearly_empty_space_takes_any_size,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_notices, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_in_use_stays_where_it_is,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_are_moved, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_of_large_values_are_moved, setup,
                                        teardown),
        cmocka_unit_test(what_is_dead_is_found_behind_the_living),
        cmocka_unit_test_setup_teardown(what_is_full_stays_full, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_refusal_holds_for_a_second, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_refusal_is_over_with_the_second,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
