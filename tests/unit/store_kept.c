/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What of an item and of a space is the same after a save and a load. */

#include "tests/unit/support/saved.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"

static uint8_t bits_of(const char *key)
{
    store_item_t *item = shelf_take(&shelf, key);
    uint8_t bits = STORE_GET(item->bits);

    store_item_release(shelf.space, item);
    return bits & STORE_RECORD_BITS;
}

static void mark(const char *key, unsigned bits, uint32_t used)
{
    store_item_t *item = shelf_take(&shelf, key);

    STORE_SET(item->bits, (uint8_t)(STORE_GET(item->bits) | bits));
    STORE_SET(item->used, used);
    store_item_release(shelf.space, item);
}

static void what_clients_see_of_an_item_is_kept(void **state)
{
    (void)state;
    mark("key1", STORE_STALE | STORE_TOKEN_SENT | STORE_LOCKED, 1);
    mark("key2", STORE_KEY_BINARY, 1);
    save();
    assert_int_equal(load(), ITEMS);
    assert_int_equal(bits_of("key1"), STORE_STALE | STORE_TOKEN_SENT);
    assert_int_equal(bits_of("key2"), STORE_KEY_BINARY);
    assert_int_equal(bits_of("key3"), 0);
}

static uint32_t used[ITEMS];

static void note_used(void *ctx, const store_item_t *item)
{
    char key[16] = "";

    (void)ctx;
    memcpy(key, store_item_key(item), item->klen);
    used[atoi(key + 3)] = item->used;
}

/* Else the eviction would take any of them. */
static void the_last_use_is_kept(void **state)
{
    uint32_t now = store_clock(), cursor = 0, i;
    char key[16];

    (void)state;
    for (i = 0; i < 30; i++) {
        key_of(key, i);
        mark(key, 0, now - (1u << i));
    }
    save();
    load_unseen();
    while (store_index_walk(shelf.space, &cursor, 1000, note_used, NULL))
        continue;
    for (i = 0; i < 30; i++)
        assert_in_range(store_clock() - used[i], (1u << i) - (1u << i) / 8,
                        (1u << i) + 3);
}

static void an_age_is_a_byte(void **state)
{
    uint32_t s, got;
    unsigned age = 0;

    (void)state;
    for (s = 0; s < UINT32_MAX / 2 - 7; s += s / 50 + 1) {
        assert_true(store_record_age(s) >= age);
        age = store_record_age(s);
        got = store_record_age_s((uint8_t)age);
        assert_in_range(got, s - s / 8, s);
    }
    assert_in_range(store_record_age_s(store_record_age(UINT32_MAX)),
                    UINT32_MAX - UINT32_MAX / 8, UINT32_MAX);
    assert_int_equal(store_record_age_s(255), UINT32_MAX);
}

static void a_flush_that_is_due_is_kept(void **state)
{
    uint32_t at = store_clock() + 500;

    (void)state;
    store_space_flush(shelf.space, 500);
    save();
    load();
    assert_in_range(shelf.space->entry->flush_at, at - 2, at + 2);
    shelf.space->entry->flush_at = store_clock() - 5;
    save();
    load();
    assert_in_range(shelf.space->entry->flush_at, 1, store_clock());
    store_space_tick(shelf.space);
    assert_false(shelf_get(&shelf, "key1", 1, length_of(1)));
}

/* Bytes of the build before this one: no bits, no ages, no flush, no headers in
 * front. */
static void a_file_of_the_build_before(void **state)
{
    struct {
        store_record_file_t file;
        store_record_t space;
        char shop[4];
        store_record_t item;
        char key[4], value[5];
        store_record_t end;
    } __attribute__((packed))
    old = {.file = {UINT64_C(0x31657661736f7473),
                    1,
                    0,
                    {'s', 'i', 'x', 't', 'e', 'e', 'n', ' ', 'b', 'y', 't', 'e',
                     's', '.', '.', '.'}},
           .space = {0x53415031, 1, 4, 0, 0, 0, 0, 777, 0},
           .shop = {'s', 'h', 'o', 'p'},
           .item = {0x53415031, 2, 4, 0, 0, 42, 5, 0, 0},
           .key = {'k', 'e', 'p', 't'},
           .value = {'v', 'a', 'l', 'u', 'e'},
           .end = {0x53415031, 3, 0, 0, 0, 0, 0, 1, 0}};
    const store_record_file_t at_first = old.file;
    store_item_t *item;
    char value[5];

    (void)state;
    old.space.check = store_record_check(&old.space, &at_first);
    old.item.check = store_record_check(&old.item, &at_first);
    old.end.check = store_record_check(&old.end, &at_first);
    assert_int_equal(pwrite(file, &old, sizeof old, 0), sizeof old);
    load();
    assert_int_equal(result.items, 1);
    assert_true(result.complete);
    item = shelf_take(&shelf, "kept");
    assert_non_null(item);
    assert_int_equal(item->flags, 42);
    assert_int_equal(store_cas(item), 778);
    assert_in_range(item->used, store_clock() - 2, store_clock());
    store_item_read(shelf.space, item, 0, value, sizeof value);
    assert_memory_equal(value, "value", sizeof value);
    store_item_release(shelf.space, item);
}

static void flags_and_times_are_kept(void **state)
{
    uint32_t exptime = store_clock() + 1000;
    store_item_t *item;

    (void)state;
    assert_true(shelf_set(&shelf, "brief", 1, 10, store_clock() + 1) > 0);
    assert_true(shelf_set(&shelf, "long", 1, 10, exptime) > 0);
    item = shelf_take(&shelf, "long");
    item->flags = 0xdeadbeef;
    store_item_release(shelf.space, item);
    save();
    load();
    item = shelf_take(&shelf, "long");
    assert_non_null(item);
    assert_int_equal(item->flags, 0xdeadbeef);
    assert_in_range(item->exptime, exptime - 2, exptime + 2);
    store_item_release(shelf.space, item);
    assert_int_equal(result.items + result.expired, ITEMS + 2);
}

/* The host's clock was set before the save, and again before the load. */
static void times_are_saved_by_the_clock_of_the_host(void **state)
{
    store_item_t *item;

    (void)state;
    shelf_later(&shelf, -100000);
    assert_true(shelf_set(&shelf, "long", 1, 10, store_clock() + 1000) > 0);
    store_space_flush(shelf.space, 500);
    save();
    shelf_close(&shelf);
    shelf_open(&shelf, PAGES, 1);
    shelf_later(&shelf, -50000);
    assert_int_equal(store_snapshot_load(file, find, yes, &result), 0);
    item = shelf_take(&shelf, "long");
    assert_non_null(item);
    assert_int_equal(item->exptime, store_clock() + 1000);
    store_item_release(shelf.space, item);
    assert_int_equal(shelf.space->entry->flush_at, store_clock() + 500);
}

/* A client that has an old cas must not change a new value with it. */
static void a_cas_is_not_given_twice(void **state)
{
    uint64_t last = shelf_set(&shelf, "a", 1, 1, 0);

    (void)state;
    save();
    load();
    assert_true(shelf_set(&shelf, "a", 1, 1, 0) > last);
}

/* It comes first, so that a part of the file has it, too. */
static void the_history_is_saved(void **state)
{
    store_history_t history = {.number = 7,
                               .flags = STORE_HISTORY_CONTESTED,
                               .n = 2,
                               .epoch = {{5, 6}, {7, 8}}};

    (void)state;
    begin(yes, &history);
    end();
    assert_int_equal(result.bytes, lseek(file, 0, SEEK_END));
    assert_int_equal(load(), 0);
    assert_false(result.complete);
    assert_int_equal(result.damaged, 0);
    assert_memory_equal(&result.history, &history, sizeof history);
    save();
    load();
    assert_int_equal(result.history.n, 0);
    history.n = STORE_EPOCHS + 1;
    begin(yes, &history);
    end();
    load();
    assert_int_equal(result.history.n, 0);
}

/* What is given after a save that was not the last thing is given not again
 * after its load. */
static void no_cas_is_given_twice_after_a_power_cut(void **state)
{
    store_snapshot_head_t head;
    uint64_t last;

    (void)state;
    begin(yes, &none);
    to.ahead = 1000;
    assert_int_equal(store_snapshot_save(&to, shelf.space), 0);
    assert_int_equal(store_snapshot_end(&to), 0);
    end();
    store_snapshot_look(file, &head);
    assert_true(head.live);
    last = shelf_set(&shelf, "a", 1, 1, 0);
    load();
    assert_true(shelf_set(&shelf, "a", 1, 1, 0) > last + 900);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, saved_setup, saved_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_clients_see_of_an_item_is_kept),
        TEST(the_last_use_is_kept),
        TEST(an_age_is_a_byte),
        TEST(a_flush_that_is_due_is_kept),
        TEST(a_file_of_the_build_before),
        TEST(flags_and_times_are_kept),
        TEST(times_are_saved_by_the_clock_of_the_host),
        TEST(a_cas_is_not_given_twice),
        TEST(no_cas_is_given_twice_after_a_power_cut),
        TEST(the_history_is_saved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
