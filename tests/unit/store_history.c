/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Where the data of a host comes from: what a slave takes over, what it keeps,
 * and what a master begins. */

#include "store/cluster/history.h"

#include <string.h>
#include <unistd.h>

#include "store/cluster/apply.h"
#include "store/cluster/follower_state.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "tests/unit/support/fake_master.h"
#include "tests/unit/support/notes.h"

static store_history_t one(uint64_t id, uint64_t position)
{
    return (store_history_t){
        .number = 1, .n = 1, .epoch = {{.id = id, .position = position}}};
}

static store_history_t mine(void)
{
    store_history_t h;

    store_history_own(&h);
    return h;
}

/* The history of a master. */
static void put_hello(const store_history_t *h)
{
    char value[STORE_WIRE_HELLO_MAX] = "shop 4194304\n";
    size_t n = strlen(value) + 1;

    n += store_wire_put_history(h, (unsigned char *)value + n);
    fake_wire.n = 0;
    fake_put((store_packet_t){.opcode = STORE_WIRE_HELLO,
                              .version = STORE_WIRE_VERSION,
                              .value = (uint32_t)n},
             "", value);
}

static store_apply_t *take(void)
{
    store_apply_t *a =
        store_apply_make(&fake_hooks, 0, 1, store_follower_state_begins, NULL);

    assert_non_null(a);
    return a;
}

static void have(const store_history_t *h)
{
    store_follower_state_clear();
    store_region_directory()->history = *h;
    store_region_directory()->lacks = 0;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
}

/* ---- a slave ---- */

static void better_data_is_kept(void **state)
{
    store_history_t own = one('a', 9), theirs = one('b', 5);
    store_apply_t *a = take();

    (void)state;
    have(&own);
    put_hello(&theirs);
    fake_put_space("shop", 1000);
    assert_int_equal(fake_feed(a, SIZE_MAX), -1);
    assert_true(store_apply_result(a)->is_declined);
    assert_false(store_apply_result(a)->has_begun);
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    notes_expect("they have nothing in common (9 changes are only here, 5 only "
                 "there)");
    assert_int_equal(mine().epoch[0].id, 'a');
    store_apply_free(a);
}

/* Not before the copy is complete. A mark is no later than what is here. */
static void a_copy_has_the_history_of_its_master(void **state)
{
    store_history_t own = one('a', 9), theirs = one('a', 12);
    store_apply_t *a = take();

    (void)state;
    have(&own);
    put_hello(&theirs);
    fake_put_space("shop", 1000);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    assert_int_equal(mine().epoch[0].position, 9);
    store_history_mark(14);
    assert_int_equal(mine().epoch[0].position, 9);
    store_follower_state_complete(1);
    assert_int_equal(mine().epoch[0].position, 14);
    store_history_mark(20);
    store_history_mark(19);
    assert_int_equal(mine().epoch[0].position, 20);
    store_follower_state_forgets();
    assert_int_equal(mine().n, 0);
    store_apply_free(a);
}

static void what_is_dropped_is_logged(void **state)
{
    store_history_t own = one('a', 9), theirs = one('a', 5);
    store_apply_t *a = take();

    (void)state;
    have(&own);
    theirs.epoch[1] = theirs.epoch[0];
    theirs.epoch[0] = (store_epoch_t){'b', 7};
    theirs.n = 2;
    put_hello(&theirs);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    notes_expect("only here: 4; only there: 7");
    store_apply_free(a);
}

/* It has no history, and its slaves take its copy as ever. */
static void a_yrmcds_has_no_history(void **state)
{
    store_history_t own = one('a', 9);
    store_apply_t *a = take();

    (void)state;
    have(&own);
    fake_wire.n = 0;
    fake_wire.is_yrmcds = 1;
    fake_put_set("a", 1, 10, 0, 11);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    store_follower_state_complete(1);
    assert_int_equal(mine().n, 0);
    store_apply_free(a);
}

static void a_damaged_history_is_no_hello(void **state)
{
    store_history_t theirs = one('b', 5);
    store_apply_t *a = take();

    (void)state;
    theirs.n = STORE_EPOCHS; /* the rest are zeros */
    put_hello(&theirs);
    fake_wire.bytes[11]--; /* of the body */
    fake_wire.n--;
    assert_int_equal(fake_feed(a, SIZE_MAX), -1);
    assert_string_equal(store_apply_result(a)->error, "its history is damaged");
    store_apply_free(a);
}

/* ---- a master ---- */

static void begin(void)
{
    store_history_begin(&fake_hooks);
}

static void a_promotion_begins_an_epoch(void **state)
{
    store_history_t own = one('a', 9), h;

    (void)state;
    have(&own);
    begin();
    h = mine();
    assert_int_equal(h.n, 2);
    assert_int_equal(h.number, 2);
    assert_int_equal(h.flags, 0);
    assert_int_not_equal(h.epoch[0].id, 'a');
    assert_int_equal(h.epoch[1].position, 9);
    store_changes_close(); /* as store_master_begin() */
    shelf_set(&fake_shelf, "own", 9, 8, 0);
    assert_int_equal(mine().epoch[0].position, 1);
    store_history_contest();
    assert_int_equal(mine().flags, STORE_HISTORY_CONTESTED);
    store_history_end();
    shelf_set(&fake_shelf, "own", 9, 8, 0);
    assert_int_equal(mine().n, 0);
}

static void a_promotion_knows_what_it_begins_with(void **state)
{
    store_history_t none = {.n = 0}, own = one('a', 9);
    uint64_t id;

    (void)state;
    store_region_directory()->history = none;
    begin();
    id = mine().epoch[0].id;
    assert_int_equal(mine().flags, STORE_HISTORY_EMPTY);
    have(&none);
    begin();
    assert_int_equal(mine().flags, 0);
    assert_true(id != 0 && mine().epoch[0].id != id);
    have(&own);
    store_region_directory()->lacks = 1;
    assert_int_equal(mine().n, 0);
    begin();
    store_region_directory()->lacks = 0;
    assert_int_equal(mine().flags, STORE_HISTORY_INCOMPLETE);
    assert_int_equal(mine().n, 2);
    store_history_end();
}

/* Any bytes may be there after a crash of another build. */
static void a_damaged_directory_has_no_history(void **state)
{
    store_history_t own = one('a', 9);

    (void)state;
    have(&own);
    store_region_directory()->history.n = STORE_EPOCHS + 1;
    assert_int_equal(mine().n, 0);
    begin();
    assert_int_equal(mine().n, 1);
    store_history_end();
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)
    const struct CMUnitTest tests[] = {
        TEST(better_data_is_kept),
        TEST(a_copy_has_the_history_of_its_master),
        TEST(what_is_dropped_is_logged),
        TEST(a_yrmcds_has_no_history),
        TEST(a_damaged_history_is_no_hello),
        TEST(a_promotion_begins_an_epoch),
        TEST(a_promotion_knows_what_it_begins_with),
        TEST(a_damaged_directory_has_no_history),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
