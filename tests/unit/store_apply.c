/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A slave applies what a master sends: the copy, changes, and bytes that are no
 * packet. */

#include "store/cluster/apply.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/cluster/hello.h"
#include "tests/unit/support/fake_master.h"
#include "tests/unit/support/notes.h"

#define LARGE 300000

/* ---- feed the slave, as the follower does ---- */

static store_apply_t *apply_begin(int is_plain)
{
    store_apply_t *a = store_apply_make(&fake_hooks, is_plain, 0, NULL, NULL);

    assert_non_null(a);
    return a;
}

static void expect_error(const char *error, int is_plain)
{
    store_apply_t *a = apply_begin(is_plain);

    assert_int_equal(fake_feed(a, SIZE_MAX), -1);
    assert_string_equal(store_apply_result(a)->error, error);
    store_apply_free(a);
}

/* ---- the copy ---- */

static void y4_a_slave_takes_the_copy(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    fake_put_copy();
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    fake_expect_copy();
    assert_true(store_apply_result(a)->is_complete);
    assert_false(store_apply_result(a)->is_yrmcds);
    assert_int_equal(store_apply_result(a)->received, 2);
    store_apply_free(a);
}

static void the_input_may_be_in_pieces(void **state)
{
    size_t piece;

    (void)state;
    fake_put_copy();
    for (piece = 1; piece < 300; piece++) {
        store_apply_t *a = apply_begin(0);

        assert_true(fake_feed(a, piece) >= 0);
        fake_expect_copy();
        store_apply_free(a);
    }
}

static void y7_its_own_items_stay_until_it_has_the_copy(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    assert_false(store_apply_result(a)->has_begun);
    fake_put_begin();
    fake_feed(a, SIZE_MAX);
    assert_true(store_apply_result(a)->has_begun);
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    fake_wire.n = 0;
    fake_put_other(STORE_WIRE_COMPLETE, 0);
    fake_feed(a, SIZE_MAX);
    assert_false(shelf_get(&fake_shelf, "own", 8, 8));
    store_apply_free(a);
}

static void a_long_value_needs_no_buffer(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    fake_put_begin();
    fake_put_set("large", 6, LARGE, 0, 20);
    fake_put_set("after", 7, 5, 0, 21);
    assert_true(fake_feed(a, 50000) >= 0);
    assert_true(shelf_get(&fake_shelf, "large", 6, LARGE));
    assert_true(shelf_get(&fake_shelf, "after", 7, 5));
    store_apply_free(a);
}

/* An older value of the key would be wrong. */
static void what_has_no_room_is_not_kept(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    store_item_max = 1000;
    fake_put_begin();
    fake_put_set("a", 1, 10, 0, 20);
    fake_put_set("a", 2, 1001, 0, 21);
    fake_put_set("b", 3, 1000, 0, 22);
    assert_true(fake_feed(a, 100) >= 0);
    assert_null(shelf_take(&fake_shelf, "a"));
    assert_true(shelf_get(&fake_shelf, "b", 3, 1000));
    assert_int_equal(store_apply_result(a)->no_room, 1);
    store_apply_free(a);
}

static void a_connection_may_end_inside_of_a_value(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    fake_put_begin();
    fake_put_set("a", 1, 10, 0, 20);
    fake_put_set("a", 2, LARGE, 0, 21);
    fake_wire.n -= 1;
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    store_apply_free(a);
    assert_true(shelf_get(&fake_shelf, "a", 1, 10));
}

/* ---- changes ---- */

static void changes_are_applied_in_their_order(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    fake_put_begin();
    fake_put_set("a", 1, 10, 0, 20);
    fake_put_set("b", 2, 10, 0, 21);
    fake_put_set("c", 3, 10, 0, 22);
    fake_put_delete("a");
    fake_put_set("a", 4, 10, 0, 23);
    fake_put_touch("nothing", FAKE_HOUR);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_true(shelf_get(&fake_shelf, "a", 4, 10));
    assert_true(shelf_get(&fake_shelf, "b", 2, 10));
    assert_true(shelf_get(&fake_shelf, "c", 3, 10));
    store_apply_free(a);
}

static void a_flush_kills_what_is_older(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    fake_put_begin();
    fake_put_set("a", 1, 10, 0, 20);
    fake_put_set("b", 2, 10, 0, 30);
    fake_put_other(STORE_WIRE_FLUSHED, 25);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_false(shelf_get(&fake_shelf, "a", 1, 10));
    assert_true(shelf_get(&fake_shelf, "b", 2, 10));
    store_apply_free(a);
}

/* s. It is not used by that. */
static uint32_t unused_for(const char *key)
{
    store_bucket_t b;
    store_item_t *item;
    uint32_t s;

    store_index_lock(&b, fake_shelf.space, key, (uint8_t)strlen(key));
    item = store_index_find(&b, NULL);
    assert_non_null(item);
    s = store_clock() - STORE_GET(item->used);
    store_index_unlock(&b);
    return s;
}

static void put_used(uint8_t opcode, const char *key, uint64_t cas,
                     uint32_t age, uint32_t exptime)
{
    fake_put((store_packet_t){.opcode = opcode,
                              .klen = (uint8_t)strlen(key),
                              .value = opcode == STORE_WIRE_SET,
                              .cas = cas,
                              .bits = STORE_STALE | store_wire_used(age),
                              .exptime = exptime},
             key, "x");
}

/* It evicts as its master would. The master may have replaced an item already,
 * whose touch comes before the new value. */
static void a_slave_knows_what_was_used(void **state)
{
    store_apply_t *a = apply_begin(0);
    store_item_t *item;

    (void)state;
    fake_put_begin();
    put_used(STORE_WIRE_SET, "old", 20, 5000, 0);
    put_used(STORE_WIRE_SET, "read", 21, 5000, 0);
    put_used(STORE_WIRE_SET, "other", 22, 5000, 0);
    put_used(STORE_WIRE_SET, "older", 23, 5000, 0);
    put_used(STORE_WIRE_TOUCH, "read", 21, 1000, 0);
    put_used(STORE_WIRE_TOUCH, "other", 24, 1000, FAKE_HOUR);
    put_used(STORE_WIRE_TOUCH, "older", 23, 9000, 0);
    fake_put_set("now", 1, 10, 0, 25);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_in_range(unused_for("old"), 5000, 5040);
    assert_in_range(unused_for("read"), 1000, 1040);
    assert_in_range(unused_for("other"), 5000, 5040);
    assert_in_range(unused_for("older"), 5000, 5040);
    assert_in_range(unused_for("now"), 0, 40);
    item = shelf_take(&fake_shelf, "other");
    assert_int_equal(item->exptime, 0);
    assert_true(item->bits & STORE_STALE);
    store_item_release(fake_shelf.space, item);
    store_apply_free(a);
}

/* ---- what is wrong ---- */

static void what_no_master_sends_ends_the_connection(void **state)
{
    (void)state;
    fake_put_begin();
    fake_put_hello("");
    expect_error("it sends a second hello", 0);
    fake_wire.n = 0;
    fake_put_hello("");
    fake_put_delete("a");
    expect_error("it sends an item before the name of its space", 0);
    fake_put_begin();
    fake_put_other(STORE_WIRE_FLUSHED, UINT64_MAX);
    expect_error("it flushes what it has not named", 0);
    fake_put_begin();
    fake_put_space("shop", UINT64_MAX - 1);
    expect_error("its cas is out of range", 0);
    fake_put_begin();
    fake_put_set("a", 1, 1, 0, UINT64_MAX - 1);
    expect_error("its cas is out of range", 0);
    fake_put_begin();
    memcpy(fake_wire.bytes + fake_wire.n, "GET / HTTP/1.1\r\n\r\n", 18);
    fake_wire.n += 18;
    expect_error("it sends what is no packet", 0);
    fake_wire.n = 0;
    fake_put((store_packet_t){.opcode = STORE_WIRE_HELLO, .version = 99}, "",
             "");
    expect_error("it is of another version", 0);
}

/* Each byte of the stream becomes any other one. */
static void a_damaged_stream_does_no_harm(void **state)
{
    static char sound[8192];
    size_t n, at;
    unsigned to;

    (void)state;
    /* Each stream empties the space, and a small one sooner. */
    shelf_close(&fake_shelf);
    shelf_open(&fake_shelf, 8, 1);
    fake_put_copy();
    n = fake_wire.n;
    assert_true(n < sizeof sound);
    memcpy(sound, fake_wire.bytes, n);
    for (at = 0; at < n; at += at < 600 ? 1 : 97)
        for (to = 1; to < 256; to = to * 4 + 1) {
            store_apply_t *a = apply_begin(0);

            memcpy(fake_wire.bytes, sound, n);
            fake_wire.bytes[at] = (char)(fake_wire.bytes[at] ^ (char)to);
            fake_wire.n = n;
            fake_feed(a, 61);
            store_apply_free(a);
        }
    shelf_check(&fake_shelf);
}

/* ---- yrmcds ---- */

static void a_yrmcds_sends_the_open_space(void **state)
{
    store_apply_t *a = apply_begin(1);

    (void)state;
    shelf_set(&fake_shelf, "own", 8, 8, 0);
    fake_wire.n = 0;
    fake_wire.is_yrmcds = 1;
    fake_put_set("a", 1, 10, 0, 0);
    fake_put_set("b", 2, 10, FAKE_HOUR, UINT64_MAX);
    fake_put_set("old", 3, 10, -FAKE_HOUR, 0);
    assert_true(fake_feed(a, 3) >= 0);
    assert_true(store_apply_result(a)->is_yrmcds);
    assert_true(shelf_get(&fake_shelf, "a", 1, 10));
    assert_true(shelf_get(&fake_shelf, "b", 2, 10));
    assert_false(shelf_get(&fake_shelf, "old", 3, 10));
    assert_true(shelf_get(&fake_shelf, "own", 8, 8));
    store_apply_complete(a);
    assert_false(shelf_get(&fake_shelf, "own", 8, 8));
    fake_wire.n = 0;
    fake_put_space("shop", 1);
    assert_int_equal(fake_feed(a, SIZE_MAX), -1);
    store_apply_free(a);
}

static void without_an_open_space_nothing_of_a_yrmcds_is_kept(void **state)
{
    store_apply_t *a = apply_begin(1);

    (void)state;
    fake_config.open_space[0] = '\0';
    fake_wire.n = 0;
    fake_put_set("a", 1, 10, 0, 0);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_null(shelf_take(&fake_shelf, "a"));
    assert_true(notes_count("AppStoreOpenSpace"));
    store_apply_free(a);
}

/* ---- hello ---- */

static void differences_are_logged(void **state)
{
    store_packet_t p = {.number = (uint64_t)time(NULL) - 60};
    const char *list = "shop 999999999\nblog 5\nb\001g 7\n";

    (void)state;
    p.value = (uint32_t)strlen(list);
    store_hello_compare(&fake_hooks, 0, &p, list);
    assert_true(notes_count("60 s apart"));
    assert_true(notes_count("space shop has 4194304 bytes here"));
    assert_true(notes_count("has 2 spaces that are not here (blog)"));
    p.value = (uint32_t)strlen("blog \n");
    fake_config.open_space[0] = '\0'; /* so it is not expected there */
    store_hello_compare(&fake_hooks, 1, &p, "blog \n 99\n x");
    assert_false(notes_count("space shop is not at the master"));
    store_hello_compare(&fake_hooks, 0, &p, "blog \n 99\n x");
    assert_true(notes_count("space shop is not at the master"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(y4_a_slave_takes_the_copy, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(the_input_may_be_in_pieces, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(
            y7_its_own_items_stay_until_it_has_the_copy, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(a_long_value_needs_no_buffer,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(what_has_no_room_is_not_kept,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_connection_may_end_inside_of_a_value,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(changes_are_applied_in_their_order,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_flush_kills_what_is_older, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(a_slave_knows_what_was_used, fake_setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(
            what_no_master_sends_ends_the_connection, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(a_damaged_stream_does_no_harm,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_yrmcds_sends_the_open_space,
                                        fake_setup, fake_teardown),
        cmocka_unit_test_setup_teardown(
            without_an_open_space_nothing_of_a_yrmcds_is_kept, fake_setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(differences_are_logged, fake_setup,
                                        fake_teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
