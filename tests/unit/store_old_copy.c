/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a slave has is kept until it has the next copy. */

#include "store/cluster/old_copy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/cluster/follower_state.h"
#include "store/memory/region.h"
#include "tests/unit/support/fake_master.h"

#define LENGTH 1000

static store_apply_t *begin(void)
{
    store_apply_t *a =
        store_apply_make(&fake_hooks, 0, 1, store_follower_state_begins, NULL);

    assert_non_null(a);
    fake_put_begin();
    return a;
}

static void feed(store_apply_t *a)
{
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    fake_wire.n = 0;
}

static uint32_t lacks(void)
{
    return store_region_directory()->lacks;
}

static void own_items(unsigned n, uint32_t seed)
{
    char key[16];
    unsigned i;

    for (i = 0; i < n; i++) {
        snprintf(key, sizeof key, "own%u", i);
        assert_true(shelf_set(&fake_shelf, key, seed + i, LENGTH, 0) > 0);
    }
}

/* @return of these items, those that are there. Others may have come with the key
 * of the second one */
static unsigned count_own(unsigned n, uint32_t seed)
{
    unsigned i, found = 0;
    char key[16];

    for (i = 0; i < n; i++) {
        if (i == 1)
            continue;
        snprintf(key, sizeof key, "own%u", i);
        found += (unsigned)shelf_get(&fake_shelf, key, seed + i, LENGTH);
    }
    return found;
}

/* "own0" is the same, "own1" was changed, "own2" is deleted, and there is a new
 * one. */
static void put_copy(void)
{
    fake_put_set("own0", 0, LENGTH, 0, 20);
    fake_put_set("own1", 99, 50, 0, 21);
    fake_put_set("new", 3, 50, 0, 22);
    fake_put_delete("own2");
}

static void old_items_stay_until_the_copy_is_complete(void **state)
{
    store_apply_t *a = begin();

    (void)state;
    own_items(10, 0);
    put_copy();
    feed(a);
    assert_true(store_apply_result(a)->is_kept);
    assert_int_equal(lacks(), STORE_LACKS_NEWER);
    assert_int_equal(count_own(10, 0), 8);
    assert_true(shelf_get(&fake_shelf, "own1", 99, 50));
    assert_null(shelf_take(&fake_shelf, "own2"));
    assert_true(shelf_get(&fake_shelf, "new", 3, 50));
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    feed(a);
    assert_int_equal(count_own(10, 0), 1);
    assert_true(shelf_get(&fake_shelf, "own1", 99, 50));
    assert_true(shelf_get(&fake_shelf, "new", 3, 50));
    assert_int_equal(STORE_GET(fake_shelf.space->figures->items), 3);
    assert_int_equal(STORE_GET(fake_shelf.space->figures->evictions), 0);
    store_apply_free(a);
}

/* What had come of the first copy is old, too. */
static void a_connection_may_end_again_and_again(void **state)
{
    store_apply_t *a;
    int i;

    (void)state;
    own_items(10, 0);
    for (i = 0; i < 3; i++) {
        a = begin();
        fake_put_set("first", 1, 50, 0, 20);
        feed(a);
        store_apply_free(a);
        assert_int_equal(lacks(), STORE_LACKS_NEWER);
        assert_int_equal(count_own(10, 0), 9);
    }
    a = begin();
    fake_put_set("own3", 3, LENGTH, 0, 30);
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    feed(a);
    assert_int_equal(count_own(10, 0), 1);
    assert_null(shelf_take(&fake_shelf, "first"));
    store_apply_free(a);
}

static void a_store_that_was_killed_goes_on(void **state)
{
    store_apply_t *a = begin();

    (void)state;
    own_items(10, 0);
    put_copy();
    feed(a);
    store_apply_free(a);
    shelf_recover(&fake_shelf);
    assert_int_equal(lacks(), STORE_LACKS_NEWER);
    assert_int_equal(count_own(10, 0), 8);
    a = begin();
    put_copy();
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    feed(a);
    assert_int_equal(STORE_GET(fake_shelf.space->figures->items), 3);
    store_apply_free(a);
}

/* Its cas may be higher, because it is of another master. The store was killed
 * before it could free it. */
static void the_newer_copy_of_a_key_wins(void **state)
{
    store_apply_t *a = begin();
    store_item_t *old;

    (void)state;
    own_items(10, 0);
    assert_true(shelf_set(&fake_shelf, "k", 1, LENGTH, 0) > 5);
    old = shelf_take(&fake_shelf, "k");
    fake_put_set("k", 2, LENGTH, 0, 5);
    feed(a);
    store_state_set(old, STORE_LIVE);
    store_apply_free(a);
    shelf_recover(&fake_shelf);
    assert_true(shelf_get(&fake_shelf, "k", 2, LENGTH));
}

static void a_part_of_a_copy_is_not_kept(void **state)
{
    store_apply_t *a = begin();

    (void)state;
    own_items(10, 0);
    store_region_directory()->lacks = STORE_LACKS_ITEMS;
    feed(a);
    assert_false(store_apply_result(a)->is_kept);
    assert_int_equal(count_own(10, 0), 0);
    assert_int_equal(lacks(), STORE_LACKS_ITEMS);
    store_apply_free(a);
}

/* The next items may have a lower cas than the flush. */
static void what_was_flushed_does_not_come_back(void **state)
{
    store_apply_t *a = begin();

    (void)state;
    own_items(10, 0);
    store_space_flush(fake_shelf.space, 0);
    assert_true(shelf_set(&fake_shelf, "own3", 3, LENGTH, 0) > 0);
    fake_put_set("low", 1, 50, 0, 2);
    feed(a);
    assert_int_equal(count_own(10, 0), 1);
    assert_true(shelf_get(&fake_shelf, "low", 1, 50));
    store_apply_free(a);
}

/* As many as the space has room for, of another size. */
static void the_copy_has_room(int evict)
{
    store_apply_t *a;
    unsigned i, missing = 0;
    char key[16];

    shelf_close(&fake_shelf);
    shelf_open(&fake_shelf, 16, evict);
    own_items(800, 0);
    a = begin();
    for (i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "new%u", i);
        fake_put_set(key, i, 9000, 0, 20 + i);
    }
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    feed(a);
    assert_int_equal(store_apply_result(a)->no_room, 0);
    for (i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "new%u", i);
        missing += !shelf_get(&fake_shelf, key, i, 9000);
    }
    assert_int_equal(missing, 0);
    assert_int_equal(count_own(800, 0), 0);
    store_apply_free(a);
}

static void a_full_space_gives_its_old_items_up(void **state)
{
    (void)state;
    the_copy_has_room(0);
    the_copy_has_room(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            old_items_stay_until_the_copy_is_complete, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(a_connection_may_end_again_and_again,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_store_that_was_killed_goes_on,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(the_newer_copy_of_a_key_wins,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_part_of_a_copy_is_not_kept,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(what_was_flushed_does_not_come_back,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_full_space_gives_its_old_items_up,
                                        fake_setup, fake_teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
