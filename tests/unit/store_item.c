/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Items of the store: made, published, found, replaced, removed. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/chunk.h"
#include "store/memory/table.h"
#include "tests/unit/support/shelf.h"
#include "tests/unit/support/test_clock.h"

#define SOME 2000

static shelf_t shelf;

static void a_value_is_found_until_it_is_deleted(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 1);
    assert_int_equal(shelf_get(&shelf, "a", 1, 5), 0);
    assert_int_equal(shelf_set(&shelf, "a", 1, 5, 0), 1);
    assert_int_equal(shelf_get(&shelf, "a", 1, 5), 1);
    assert_int_equal(shelf_get(&shelf, "b", 1, 5), 0);
    assert_int_equal(shelf_delete(&shelf, "a"), 1);
    assert_int_equal(shelf_delete(&shelf, "a"), 0);
    assert_int_equal(shelf_get(&shelf, "a", 1, 5), 0);
    assert_int_equal(shelf_check(&shelf), 0);
    shelf_close(&shelf);
}

static void each_length_around_a_boundary_is_kept(void **state)
{
    const uint32_t chunk = STORE_CHUNK_MAX - sizeof(store_item_t) - 1;
    const uint32_t at[] = {0,
                           11,
                           12,
                           chunk,
                           STORE_PIECE_BYTES,
                           2 * STORE_PIECE_BYTES,
                           5 * STORE_PIECE_BYTES};
    uint32_t i, length;

    (void)state;
    shelf_open(&shelf, 64, 1);
    for (i = 0; i < sizeof at / sizeof *at; i++)
        for (length = at[i] > 3 ? at[i] - 3 : 0; length < at[i] + 4; length++) {
            assert_true(shelf_set(&shelf, "k", length, length, 0) > 0);
            assert_int_equal(shelf_get(&shelf, "k", length, length), 1);
            assert_int_equal(shelf_check(&shelf), 1);
        }
    shelf_close(&shelf);
}

static void the_longest_key_may_have_a_chained_value(void **state)
{
    char key[STORE_KEY_MAX + 1];

    (void)state;
    memset(key, 'x', STORE_KEY_MAX);
    key[STORE_KEY_MAX] = '\0';
    shelf_open(&shelf, 16, 1);
    assert_true(shelf_set(&shelf, key, 3, 100000, 0) > 0);
    assert_int_equal(shelf_get(&shelf, key, 3, 100000), 1);
    shelf_recover(&shelf);
    assert_int_equal(shelf_get(&shelf, key, 3, 100000), 1);
    assert_int_equal(shelf_check(&shelf), 1);
    shelf_close(&shelf);
}

static void a_reference_keeps_an_old_value(void **state)
{
    store_item_t *item, *large;

    (void)state;
    shelf_open(&shelf, 16, 1);
    shelf_set(&shelf, "a", 1, 50, 0);
    shelf_set(&shelf, "large", 2, 50000, 0);
    item = shelf_take(&shelf, "a");
    large = shelf_take(&shelf, "large");
    shelf_set(&shelf, "a", 7, 50, 0);
    assert_int_equal(shelf_delete(&shelf, "large"), 1);
    shelf_set(&shelf, "other", 3, 50, 0);
    shelf_set(&shelf, "others", 4, 50000, 0);
    assert_true(shelf_is(&shelf, item, 1, 50));
    assert_true(shelf_is(&shelf, large, 2, 50000));
    store_item_release(shelf.space, item);
    store_item_release(shelf.space, large);
    assert_int_equal(shelf_get(&shelf, "a", 7, 50), 1);
    assert_int_equal(shelf_check(&shelf), 3);
    shelf_close(&shelf);
}

/* 16 bits count the references. */
static void a_reference_too_many_keeps_the_memory(void **state)
{
    store_item_t *item;
    int i;

    (void)state;
    shelf_open(&shelf, 16, 1);
    shelf_set(&shelf, "a", 1, 50, 0);
    item = shelf_take(&shelf, "a");
    for (i = 0; i < 70000; i++)
        store_item_keep(item);
    shelf_delete(&shelf, "a");
    for (i = 0; i < 70001; i++)
        store_item_release(shelf.space, item);
    shelf_set(&shelf, "b", 2, 50, 0);
    assert_true(shelf_is(&shelf, item, 1, 50));
    shelf_close(&shelf);
}

static void y22_an_item_expires(void **state)
{
    store_bucket_t bucket;
    store_absent_t why;
    store_item_t *item;

    (void)state;
    shelf_open(&shelf, 16, 1);
    shelf_set(&shelf, "a", 1, 50, store_clock_exptime(10));
    shelf_set(&shelf, "past", 1, 50, store_clock_exptime(-1));
    assert_int_equal(shelf_get(&shelf, "past", 1, 50), 0);
    store_index_lock(&bucket, shelf.space, "a", 1);
    item = store_index_find(&bucket, NULL);
    store_index_touch(&bucket, item, store_clock_exptime(100));
    store_index_unlock(&bucket);
    shelf_later(&shelf, 98);
    assert_int_equal(shelf_get(&shelf, "a", 1, 50), 1);
    shelf_later(&shelf, 2);
    store_index_lock(&bucket, shelf.space, "a", 1);
    assert_null(store_index_find(&bucket, &why));
    assert_int_equal(why, STORE_ABSENT_EXPIRED);
    assert_null(store_index_find(&bucket, &why));
    assert_int_equal(why, STORE_ABSENT_NEVER);
    store_index_unlock(&bucket);
    assert_int_equal(shelf_check(&shelf), 0);
    shelf_close(&shelf);
}

static void put_with_cas(const char *key, uint64_t cas)
{
    store_bucket_t bucket;
    store_item_t *item = store_item_make(shelf.space, key, 1, 1, 0, 0);

    store_index_lock(&bucket, shelf.space, key, 1);
    assert_int_equal(
        store_index_put(&bucket, item, store_index_find(&bucket, NULL), cas),
        cas);
    store_index_unlock(&bucket);
    store_item_release(shelf.space, item);
}

static void a_flush_takes_what_was_there_and_nothing_else(void **state)
{
    (void)state;
    shelf_open(&shelf, 16, 1);
    shelf_set(&shelf, "a", 1, 50, 0);
    put_with_cas("b", UINT64_MAX);
    store_space_flush(shelf.space, 0);
    shelf_set(&shelf, "c", 1, 50, 0);
    put_with_cas("d", 1);
    assert_int_equal(shelf_get(&shelf, "a", 1, 50), 0);
    assert_int_equal(shelf_get(&shelf, "b", 1, 0), 0);
    shelf_recover(&shelf);
    assert_int_equal(shelf_get(&shelf, "c", 1, 50), 1);
    assert_int_equal(shelf_get(&shelf, "d", 1, 0), 1);
    assert_int_equal(shelf_check(&shelf), 2);
    store_space_flush(shelf.space, 5);
    shelf_set(&shelf, "e", 1, 50, 0);
    store_space_tick(shelf.space);
    assert_int_equal(shelf_get(&shelf, "e", 1, 50), 1);
    shelf_later(&shelf, 5);
    store_space_tick(shelf.space);
    assert_int_equal(shelf_get(&shelf, "e", 1, 50), 0);
    assert_int_equal(shelf_get(&shelf, "d", 1, 0), 0);
    shelf_close(&shelf);
}

static void count_key(void *ctx, const store_item_t *item)
{
    unsigned *seen = ctx;

    assert_int_equal(item->klen, 2);
    seen[(store_item_key(item)[0] - '0') * 10 + store_item_key(item)[1] -
         '0']++;
}

static void a_walk_sees_each_living_item_once(void **state)
{
    unsigned seen[100] = {0}, i;
    uint32_t cursor = 0;
    char key[8];

    (void)state;
    shelf_open(&shelf, 16, 1);
    for (i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "%02u", i);
        shelf_set(&shelf, key, i, 10, i % 10 ? 0 : 1);
    }
    while (store_index_walk(shelf.space, &cursor, 7, count_key, seen))
        ;
    for (i = 0; i < 100; i++)
        assert_int_equal(seen[i], i % 10 ? 1 : 0);
    shelf_close(&shelf);
}

/* A change takes the lock of one bucket, and the lock of the chunks for a
 * moment. If there were one lock for all keys, this would never end. */
static void y20_a_locked_bucket_holds_up_few_others(void **state)
{
    store_table_t *table;
    store_bucket_t bucket;
    unsigned i, free = 0;
    char key[8];

    (void)state;
    alarm(300);
    shelf_open(&shelf, 16, 1);
    table = shelf.space->table;
    store_index_lock(&bucket, shelf.space, "a", 1);
    for (i = 0; i < 100; i++) {
        uint64_t hash;

        snprintf(key, sizeof key, "%02u", i);
        hash = store_table_hash(key, 2);
        if (!store_table_try(table, hash))
            continue;
        store_table_unlock(table, hash);
        free++;
        assert_true(shelf_set(&shelf, key, i, 10, 0) > 0);
        assert_int_equal(shelf_get(&shelf, key, i, 10), 1);
        assert_int_equal(shelf_delete(&shelf, key), 1);
    }
    store_index_unlock(&bucket);
    assert_in_range(free, 80, 100);
    shelf_close(&shelf);
}

/* One for each 256 bytes of the space. */
static void y21_the_number_of_buckets_follows_from_the_size(void **state)
{
    unsigned pages, i;
    char key[8];

    (void)state;
    for (pages = 16; pages <= 64; pages *= 4) {
        shelf_open(&shelf, pages, 1);
        for (i = 0; i < 10000; i++) {
            assert_int_equal(store_table_buckets(shelf.space->table),
                             pages * STORE_PAGE / 256);
            snprintf(key, sizeof key, "%u", i);
            shelf_set(&shelf, key, i, 10, 0);
        }
        shelf_close(&shelf);
    }
}

static unsigned dumped[SOME];

static void dump_key(void *ctx, const store_item_t *item)
{
    unsigned n = 0;
    uint8_t i;

    (void)ctx;
    for (i = 0; i < item->klen; i++)
        n = n * 10 + (unsigned)(store_item_key(item)[i] - '0');
    dumped[n]++;
}

static const char *number(unsigned i)
{
    static char key[16];

    snprintf(key, sizeof key, "%u", i);
    return key;
}

/* At each part of the growth a walk is somewhere else. What it has seen it does
 * not see again, and nothing is hidden from it. */
static void a_walk_goes_on_while_the_table_grows(void **state)
{
    uint32_t cursor = 0;
    unsigned i, larger, before;
    int more;

    (void)state;
    for (before = 1; before < 5000; before += before / 3 + 1) {
        shelf_open(&shelf, 16, 1);
        memset(dumped, 0, sizeof dumped);
        more = 1;
        for (i = 0; i < SOME; i++)
            assert_true(shelf_set(&shelf, number(i), i, 10, 0) > 0);
        if (before % 2)
            more =
                store_index_walk(shelf.space, &cursor, before, dump_key, NULL);
        for (larger = 64; larger <= 256; larger *= 4) {
            shelf.options.size = (uint64_t)larger * STORE_PAGE;
            store_space_configure(shelf.space, &shelf.options);
            while (store_space_grow(shelf.space))
                if (more)
                    more = store_index_walk(shelf.space, &cursor, 13, dump_key,
                                            NULL);
            assert_int_equal(store_table_buckets(shelf.space->table),
                             larger * STORE_PAGE / 256);
            assert_int_equal(shelf_check(&shelf), SOME);
        }
        while (more)
            more = store_index_walk(shelf.space, &cursor, 1000, dump_key, NULL);
        assert_int_equal(cursor, 0);
        for (i = 0; i < SOME; i++)
            assert_int_equal(dumped[i], 1);
        shelf_close(&shelf);
    }
}

/* Each key is found, changed and removed in the middle of it. */
static void the_table_grows_under_its_keys(void **state)
{
    unsigned i = 0;
    int more;

    (void)state;
    shelf_open(&shelf, 16, 1);
    for (i = 0; i < SOME; i++)
        assert_true(shelf_set(&shelf, number(i), i, 10, 0) > 0);
    shelf.options.size = 160 * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    i = 0;
    do {
        more = store_space_grow(shelf.space);
        assert_true(shelf_get(&shelf, number(i), i, 10));
        assert_true(shelf_set(&shelf, number(i), i + 1, 20, 0) > 0);
        assert_true(shelf_delete(&shelf, number(i + 1)));
        i += 2;
    } while (more);
    assert_int_equal(shelf_check(&shelf), SOME - i / 2);
    while (i > 0) {
        i -= 2;
        assert_true(shelf_get(&shelf, number(i), i + 1, 20));
        assert_false(shelf_get(&shelf, number(i + 1), i + 1, 10));
    }
    assert_false(store_space_grow(shelf.space));
    shelf.options.size = 16 * STORE_PAGE;
    store_space_configure(shelf.space, &shelf.options);
    assert_false(store_space_grow(shelf.space));
    shelf_close(&shelf);
}

static void times_of_clients(void **state)
{
    (void)state;
    store_clock_set(store_clock_offset());
    assert_int_equal(store_clock_exptime(0), 0);
    assert_int_equal(store_clock_exptime(-1), 1);
    assert_int_equal(store_clock_exptime(INT64_MIN), 1);
    assert_true(store_clock_exptime(60) - store_clock() <= 60);
    assert_int_equal(store_clock_exptime(60 * 60 * 24 * 30 + 1), 1);
    assert_in_range(store_clock_exptime((int64_t)store_clock() + 5000000),
                    store_clock() + 4999990, store_clock() + 5000001);
    assert_int_equal(store_clock_exptime(INT64_MAX), UINT32_MAX);
    /* The host's clock was set; the store's goes on. */
    store_clock_set(store_clock_offset() - 1000);
    assert_in_range(
        store_clock_exptime((int64_t)store_clock() + 1000 + 5000000),
        store_clock() + 4999990, store_clock() + 5000001);
}

/* Both clocks have their seconds at other moments. */
static void an_item_has_no_more_time_left_than_it_was_given(void **state)
{
    uint32_t at, first;

    (void)state;
    test_clock_stand(5000200, 10900);
    store_clock_set(store_clock_offset());
    first = store_clock_exptime(600);
    for (int64_t ms = 0; ms < 2000; ms += 100) {
        test_clock_stand(5000200 + ms, 10900 + ms);
        at = store_clock_exptime(600);
        assert_in_range(store_clock_to_host(at), (5000200 + ms) / 1000 + 599,
                        (5000200 + ms) / 1000 + 600);
        assert_int_equal(store_clock_from_host(store_clock_to_host(at)), at);
        assert_int_equal(store_clock_to_host(first), first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_found_until_it_is_deleted),
        cmocka_unit_test(each_length_around_a_boundary_is_kept),
        cmocka_unit_test(the_longest_key_may_have_a_chained_value),
        cmocka_unit_test(a_reference_keeps_an_old_value),
        cmocka_unit_test(a_reference_too_many_keeps_the_memory),
        cmocka_unit_test(y22_an_item_expires),
        cmocka_unit_test(a_flush_takes_what_was_there_and_nothing_else),
        cmocka_unit_test(a_walk_sees_each_living_item_once),
        cmocka_unit_test(y20_a_locked_bucket_holds_up_few_others),
        cmocka_unit_test(y21_the_number_of_buckets_follows_from_the_size),
        cmocka_unit_test(a_walk_goes_on_while_the_table_grows),
        cmocka_unit_test(the_table_grows_under_its_keys),
        cmocka_unit_test(times_of_clients),
        cmocka_unit_test(an_item_has_no_more_time_left_than_it_was_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
