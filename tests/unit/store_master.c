/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a master sends to its slaves, in both dialects. */

#include "store/cluster/master.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/clock.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "store/memory/sweeper.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/slave.h"

static void fill(unsigned n)
{
    static const uint32_t lengths[] = {0, 1, 100, 4000, 9000, 70000};
    shelf_t other = shelf;
    char key[16];
    unsigned i;

    other.space = blog;
    for (i = 0; i < n; i++) {
        snprintf(key, sizeof key, "k%u", i);
        shelf_set(&shelf, key, i, lengths[i % 6],
                  i % 4 ? 0 : store_clock() + 1000 + i);
        snprintf(key, sizeof key, "b%u", i);
        if (i % 5 == 0)
            shelf_set(&other, key, i + 7, lengths[i % 5], 0);
    }
}

static void change_bits(const char *key, unsigned bits, uint32_t exptime)
{
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, shelf.space, key, (uint8_t)strlen(key));
    item = store_index_find(&bucket, NULL);
    assert_non_null(item);
    store_index_bits(&bucket, item, bits, 0);
    if (exptime)
        store_index_touch(&bucket, item, exptime);
    store_index_unlock(&bucket);
}

static const store_slave_figures_t *figures(void)
{
    return &store_region_figures()->cluster.slave[0];
}

static void y4_a_slave_gets_all_data(void **state)
{
    slave_t *s;

    (void)state;
    fill(200);
    change_bits("k1", STORE_STALE | STORE_FETCHED, 0);
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    slave_is_same(s, shelf.space);
    slave_is_same(s, blog);
    assert_int_equal(slave_find(s, "shop", "k1")->p.bits & UINT8_MAX,
                     STORE_STALE);
    assert_int_equal(s->packets[STORE_WIRE_HELLO], 1);
    assert_int_equal(s->last[STORE_WIRE_HELLO].version, STORE_WIRE_VERSION);
    assert_in_range(s->last[STORE_WIRE_HELLO].number, time(NULL) - 40,
                    time(NULL));
    assert_true(s->last[STORE_WIRE_SPACE].number >= 40);
    master_wait_log("slave 127.0.0.1 has the whole copy: 240 items");
    assert_int_equal(notes_count("slave 127.0.0.1 joined"), 1);
    assert_string_equal(figures()->address, "127.0.0.1");
    assert_true(figures()->joined && STORE_GET(figures()->complete));
    assert_false(figures()->yrmcds);
    store_master_tick(0);
    assert_true(figures()->sent >= s->bytes); /* a mark may be on its way */
    slave_close(s);
    master_wait_log("slave 127.0.0.1 dropped: "); /* a mark may be unread */
    master_wait_gone(0);
}

static void y11_a_yrmcds_gets_the_open_space(void **state)
{
    slave_t *s, *silent;

    (void)state;
    fill(100);
    s = slave_join("127.0.0.3", 0);
    silent = slave_connect("127.0.0.4");
    master_wait_log("slave 127.0.0.3 has the whole copy: 100 items");
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    assert_null(slave_find(s, "", "b0"));
    master_wait_log("slave 127.0.0.3 joined, as a yrmcds");
    assert_true(figures()->yrmcds);
    master_wait_log("slave 127.0.0.4 joined, as a yrmcds");
    slave_catch_up(silent);
    slave_close(silent);
    slave_close(s);
}

/* It knows no others: opcodes of ours would end the connection. */
/* The slave's copy may have expired when the touch arrives. */
static void a_touch_shortly_before_the_end_sends_the_value(void **state)
{
    slave_t *s = slave_join("127.0.0.1", 1);
    uint32_t now = store_clock();
    unsigned sets, touches;

    (void)state;
    master_wait_log("has the whole copy");
    assert_true(shelf_set(&shelf, "soon", 5, 3, now + 30) > 0);
    assert_true(shelf_set(&shelf, "late", 5, 3, now + 5000) > 0);
    slave_catch_up(s);
    sets = s->packets[STORE_WIRE_SET];
    touches = s->packets[STORE_WIRE_TOUCH];
    change_bits("soon", 0, now + 6000);
    slave_catch_up(s); /* one set more */
    assert_int_equal(s->packets[STORE_WIRE_SET], sets + 2);
    assert_int_equal(s->packets[STORE_WIRE_TOUCH], touches);
    change_bits("late", 0, now + 6000);
    slave_catch_up(s);
    assert_int_equal(s->packets[STORE_WIRE_SET], sets + 3);
    assert_int_equal(s->packets[STORE_WIRE_TOUCH], touches + 1);
    slave_is_same(s, shelf.space);
    slave_close(s);
}

static void y10_a_yrmcds_gets_set_delete_and_touch_only(void **state)
{
    slave_t *s = slave_join("127.0.0.3", 0);
    uint32_t later = store_clock() + 500, empty;
    unsigned i, others = 0;

    (void)state;
    master_wait_log("has the whole copy");
    fill(30);
    assert_true(shelf_set(&shelf, "empty", 5, 0, later) > 0);
    change_bits("k2", 0, later);
    shelf_delete(&shelf, "k3");
    store_space_flush(blog, 0);
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    /* yrmcds loses the expiry time of a set that has no value. */
    assert_true(s->packets[STORE_WIRE_TOUCH] >= 2);
    empty = slave_find(s, "", "empty")->p.exptime;
    assert_in_range(slave_find(s, "", "k2")->p.exptime, empty - 1, empty + 1);
    for (i = 0; i < 256; i++)
        if (i != STORE_WIRE_SET && i != STORE_WIRE_DELETE &&
            i != STORE_WIRE_TOUCH)
            others += s->packets[i];
    assert_int_equal(others, 0);
    slave_close(s);
}

static void remove_in_each_way(void)
{
    fill(40);
    shelf_delete(&shelf, "k1");
    change_bits("k2", 0, 1); /* it has expired then */
    while (store_sweeper_run(shelf.space, 1000))
        ;
}

static void y27_removals_reach_a_slave(void **state)
{
    slave_t *ours = slave_join("127.0.0.1", 1);
    slave_t *yrmcds = slave_join("127.0.0.3", 0);

    (void)state;
    master_wait_log("slave 127.0.0.1 has the whole copy");
    master_wait_log("slave 127.0.0.3 has the whole copy");
    remove_in_each_way();
    slave_catch_up(ours);
    slave_is_same(ours, shelf.space);
    slave_catch_up(yrmcds);
    slave_is_same(yrmcds, shelf.space);
    store_space_flush(shelf.space, 0);
    shelf_set(&shelf, "new", 1, 10, 0);
    slave_catch_up(ours);
    slave_is_same(ours, shelf.space);
    assert_int_equal(ours->packets[STORE_WIRE_FLUSHED], 1);
    /* The flushed items are searched after the list, so twice. */
    slave_catch_up(yrmcds);
    while (yrmcds->n > 3) {
        store_changes_ring();
        assert_true(slave_read(yrmcds, STORE_WIRE_DELETE,
                               yrmcds->packets[STORE_WIRE_DELETE] + 1));
    }
    slave_catch_up(yrmcds);
    slave_is_same(yrmcds, shelf.space);
    slave_close(ours);
    slave_close(yrmcds);
}

/* So that a slave takes no time of the workers, however often a key changes. */
static void y33_a_slave_that_lags_gets_a_key_once(void **state)
{
    slave_t *s = slave_join("127.0.0.1", 1);
    unsigned i;

    (void)state;
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    s->packets[STORE_WIRE_SET] = 0;
    for (i = 0; i < 10000; i++)
        shelf_set(&shelf, "counter", i, 9000, 0);
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    /* 90 MB were stored. What is in the buffers was on its way before. */
    assert_true(s->packets[STORE_WIRE_SET] < 5000);
    slave_close(s);
}

/* No sweeper runs here. Two slaves have their copies from two threads. */
static void y28_the_copy_does_not_wait_for_the_sweeper(void **state)
{
    slave_t *slow, *fast;

    (void)state;
    fill(900);
    slow = slave_join("127.0.0.1", 1);
    fast = slave_join("127.0.0.2", 1);
    assert_true(slave_read(fast, STORE_WIRE_COMPLETE, 1));
    slave_is_same(fast, shelf.space);
    assert_int_equal(notes_count("slave 127.0.0.1 has the whole copy"), 0);
    assert_true(slave_read(slow, STORE_WIRE_COMPLETE, 1));
    slave_is_same(slow, shelf.space);
    slave_close(slow);
    slave_close(fast);
}

/* ---- with threads that write ---- */

#define WRITERS 3
#define STEPS   2000

/* Each key has one writer. Its flags rise. */
static void *write_keys(void *arg)
{
    unsigned i, me = (unsigned)(uintptr_t)arg;
    char key[16];

    for (i = 1; i <= STEPS; i++) {
        snprintf(key, sizeof key, "w%u-%u", me, i % 7);
        if (i % 50 == 0)
            shelf_delete(&shelf, key);
        else
            shelf_set(&shelf, key, i, i % 3000, 0);
        store_changes_ring();
    }
    return NULL;
}

static void start_writers(pthread_t threads[WRITERS])
{
    unsigned i;

    for (i = 0; i < WRITERS; i++)
        pthread_create(&threads[i], NULL, write_keys, (void *)(uintptr_t)i);
}

static void join_writers(const pthread_t threads[WRITERS])
{
    unsigned i;

    for (i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
}

static void y30_a_key_changes_in_the_order_of_the_master(void **state)
{
    unsigned highest[WRITERS][7] = {{0}}, i, round;
    pthread_t threads[WRITERS];
    slave_t *s;

    (void)state;
    config.changes = 64 << 20;
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    start_writers(threads);
    for (round = 0; round < 100; round++) {
        slave_catch_up(s);
        for (i = 0; i < s->n; i++) {
            unsigned writer, key, flags = s->items[i].p.flags;

            if (sscanf(s->items[i].key, "w%u-%u", &writer, &key) != 2)
                continue;
            assert_true(flags >= highest[writer][key]);
            highest[writer][key] = flags;
        }
    }
    join_writers(threads);
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    slave_close(s);
}

static void y31_slaves_come_and_go_while_workers_write(void **state)
{
    pthread_t threads[WRITERS];
    slave_t *s;
    unsigned i;

    (void)state;
    config.changes = 64 << 20;
    start_writers(threads);
    for (i = 0; i < 20; i++) {
        s = slave_join(i % 3 ? "127.0.0.1" : "127.0.0.3", i % 3 != 0);
        assert_true(slave_read(s, STORE_WIRE_SET, 3));
        slave_close(s);
        store_master_tick(0);
    }
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    join_writers(threads);
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    slave_close(s);
}

/* It is in the middle of its copy, and reads nothing. */
static void y29_clients_do_not_wait_for_a_slave(void **state)
{
    pthread_t threads[WRITERS];
    slave_t *s;

    (void)state;
    config.changes = 64 << 20;
    fill(900);
    s = slave_join("127.0.0.1", 1);
    master_wait_log("slave 127.0.0.1 joined");
    start_writers(threads);
    join_writers(threads);
    assert_int_equal(notes_count("has the whole copy"), 0);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    slave_is_same(s, blog);
    slave_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(y4_a_slave_gets_all_data, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(y11_a_yrmcds_gets_the_open_space,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(
            a_touch_shortly_before_the_end_sends_the_value, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(
            y10_a_yrmcds_gets_set_delete_and_touch_only, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(y27_removals_reach_a_slave, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(
            y28_the_copy_does_not_wait_for_the_sweeper, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(y33_a_slave_that_lags_gets_a_key_once,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(
            y30_a_key_changes_in_the_order_of_the_master, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(
            y31_slaves_come_and_go_while_workers_write, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(y29_clients_do_not_wait_for_a_slave,
                                        master_open, master_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
