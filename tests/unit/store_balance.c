/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What was unused longest goes first, whatever its size is. */

#include <stdio.h>

#include "store/memory/chunk.h"
#include "store/memory/evict.h"
#include "tests/unit/support/shelf.h"

#define PAGES  256 /* 16 MB */
#define OLD    300 /* bytes of a session before the deployment */
#define PIECES 50000
#define HEADS  0  /* the class of their heads */
#define IDLE   20 /* s */
#define SOON   3  /* s after its write, a session is read for the first time */
#define HOT    8  /* of so many old sessions one is used all the time */

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

static void set(const char *what, unsigned i, uint32_t length)
{
    assert_true(shelf_set(&shelf, name(what, i), i, length, 0) != 0);
}

/* Of those from `first` on: how many there are. */
static unsigned count(const char *what, unsigned first, unsigned n,
                      uint32_t length)
{
    unsigned i, found = 0;

    for (i = first; i < first + n; i++)
        found += (unsigned)shelf_get(&shelf, name(what, i), i, length);
    return found;
}

/* @return how many items the space has then */
static unsigned fill(const char *what, uint32_t length)
{
    unsigned n = 0;

    while (shelf.space->figures->evictions == 0)
        set(what, n++, length);
    shelf.space->figures->evictions = 0;
    return n - 1;
}

static uint64_t evictions(void)
{
    return shelf.space->figures->evictions;
}

/* A deployment enlarges the sessions. The old ones are idle. */
static void deploy(unsigned rate, unsigned seconds, uint32_t length)
{
    unsigned second;

    fill("old", OLD);
    shelf_later(&shelf, IDLE);
    for (second = 0; second < seconds; second++) {
        unsigned i;

        for (i = second * rate; i < (second + 1) * rate; i++)
            set("new", i, length);
        if (second >= SOON)
            assert_int_equal(count("new", (second - SOON) * rate, rate, length),
                             rate);
        shelf_later(&shelf, 1);
    }
    assert_true(evictions() > 0);
    assert_int_equal(count("new", 0, rate * seconds, length), rate * seconds);
}

static void y23_sessions_that_grow_stay(void **state)
{
    (void)state;
    deploy(150, 40, 1500);
}

static void y23_also_if_there_are_few(void **state)
{
    (void)state;
    deploy(10, 70, 1500);
}

static void y23_also_if_there_are_many(void **state)
{
    (void)state;
    deploy(2000, 4, 1500);
}

static void y23_also_if_they_are_in_pieces(void **state)
{
    (void)state;
    deploy(10, 50, 20000);
}

static void y23_also_if_they_are_smaller(void **state)
{
    (void)state;
    deploy(1000, 40, 60);
}

/* A page of old sessions has some that are used. */
static void y23_what_is_used_stays(void **state)
{
    unsigned n, i, second, hot = 0;

    (void)state;
    n = fill("old", OLD);
    for (second = 0; second < IDLE + 40; second++) {
        shelf_later(&shelf, 1);
        for (i = 1, hot = 0; i < n; i += HOT)
            hot += (unsigned)shelf_get(&shelf, name("old", i), i, OLD);
        for (i = second * 100; second >= IDLE && i < (second + 1) * 100; i++)
            set("new", i, 1500);
    }
    assert_in_range(hot, n / HOT, n / HOT + 1);
    assert_int_equal(count("new", IDLE * 100, 4000, 1500), 4000);
}

/* A few small items, which are unused for long. */
/* A page may have the heads of all values of a space. To empty it would remove
 * all of them, for one item of another size. */
static void heads_of_values_keep_their_page(void **state)
{
    unsigned n, i, left;

    (void)state;
    n = fill("old", PIECES);
    shelf_later(&shelf, IDLE);
    for (i = 0; i < 100; i++) {
        set("new", i, 1500);
        set("newer", i, 300);
    }
    assert_in_range(evictions(), 1, 40);
    assert_int_equal(count("new", 0, 100, 1500), 100);
    assert_int_equal(count("newer", 0, 100, 300), 100);
    left = count("old", 0, n, PIECES);
    assert_in_range(left, n - 40, n);
    shelf_later(&shelf, IDLE);
    store_chunk_lock(shelf.space);
    assert_int_equal(store_evict_page_of(shelf.space, HEADS, 1), 0);
    store_chunk_unlock(shelf.space);
    assert_int_equal(count("old", 0, n, PIECES), left);
}

static void the_last_page_stays(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; i < 100; i++)
        set("small", i, 40);
    shelf_later(&shelf, IDLE);
    for (i = 0; i < 30000; i++) {
        set("k", i, 1500);
        if (i % 1000 == 0)
            shelf_later(&shelf, 1);
    }
    assert_int_equal(count("small", 0, 100, 40), 100);
}

/* Of each size as many as before, so no page has to move for long. */
static void classes_of_the_same_age_keep_their_pages(void **state)
{
    static const uint32_t sizes[] = {100, 300, 700, 1500, 4000};
    unsigned second, i, n = 0;
    uint64_t moves = 0, evicted = 0;

    (void)state;
    for (second = 0; second < 90; second++) {
        for (i = 0; i < 500; i++, n++)
            set("k", n, sizes[n % 5]);
        shelf_later(&shelf, 1);
        if (second == 45) {
            moves = shelf.space->figures->page_moves;
            evicted = evictions();
        }
    }
    assert_true(evictions() - evicted > 15000);
    assert_in_range(shelf.space->figures->page_moves - moves, 0, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(y23_sessions_that_grow_stay, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(y23_also_if_there_are_few, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(y23_also_if_there_are_many, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(y23_also_if_they_are_in_pieces, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(y23_also_if_they_are_smaller, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(y23_what_is_used_stays, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(heads_of_values_keep_their_page, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_last_page_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(
            classes_of_the_same_age_keep_their_pages, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
