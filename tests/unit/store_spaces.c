/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a slave gets of spaces that come, that have no items, and that are
 * flushed while it joins. */

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock_ms.h"
#include "store/cluster/master.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/slave.h"

#define MANY 500
#define HOUR 3600

static void fill_blog(unsigned n)
{
    shelf_t other = shelf;
    char key[16];
    unsigned i;

    other.space = blog;
    for (i = 0; i < n; i++) {
        snprintf(key, sizeof key, "b%u", i);
        assert_true(shelf_set(&other, key, i, 100, 0) > 0);
    }
}

/* A copy cannot end while a bucket is locked. */
static void come_and_look(void)
{
    store_bucket_t bucket;

    store_index_lock(&bucket, blog, "b0", 2);
    master_get_blog();
    assert_string_equal(store_master_drain(0), "a slave still takes its copy");
    store_index_unlock(&bucket);
}

/* The configuration of the master has it later, or again. */
static void a_space_that_comes_is_copied(void **state)
{
    slave_t *before, *joined;

    (void)state;
    fill_blog(MANY);
    before = slave_join("127.0.0.1", 1);
    assert_true(slave_read(before, STORE_WIRE_COMPLETE, 1));
    slave_is_same(before, blog);
    master_lose_blog();
    joined = slave_join("127.0.0.2", 1);
    assert_true(slave_read(joined, STORE_WIRE_COMPLETE, 1));
    /* What expires in it, for example, is no concern of this slave. */
    fill_blog(1);
    slave_catch_up(joined);
    assert_null(slave_find(joined, "blog", "b0"));
    assert_null(store_master_drain(SLAVE_WAIT));
    come_and_look();
    assert_true(slave_read(joined, STORE_WIRE_COMPLETE, 2));
    slave_is_same(joined, blog);
    slave_catch_up(joined);
    assert_null(store_master_drain(SLAVE_WAIT));
    /* Who had it has it still, and gets it no second time. */
    slave_catch_up(before);
    slave_is_same(before, blog);
    assert_true(before->packets[STORE_WIRE_SET] < 2 * MANY);
    slave_close(before);
    slave_close(joined);
}

/* Its thread is busy with a large change then. A mark is about all spaces, so no
 * change may be left out before it. */
static void a_change_is_not_left_out_while_its_space_comes(void **state)
{
    const uint64_t *sent = &store_region_figures()->cluster.slave[0].sent;
    slave_t *s;
    char key[16];

    (void)state;
    config.slave_timeout = 600;
    master_lose_blog();
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    for (unsigned i = 0; i < 14; i++) {
        snprintf(key, sizeof key, "large%u", i);
        assert_true(shelf_set(&shelf, key, i, 1000000, 0) > 0);
    }
    store_changes_ring();
    while (STORE_GET(*sent) < 1000000) {
        poll(NULL, 0, 5);
        store_master_tick(clock_ms());
    }
    master_get_blog();
    fill_blog(1);
    slave_catch_up(s);
    assert_non_null(slave_find(s, "blog", "b0"));
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 2));
    slave_close(s);
}

static void a_yrmcds_gets_the_open_space_when_it_comes(void **state)
{
    slave_t *s;

    (void)state;
    strcpy(config.open_space, "blog");
    fill_blog(MANY);
    master_lose_blog();
    s = slave_join("127.0.0.3", 0);
    master_wait_log("slave 127.0.0.3 has the whole copy: 0 items");
    master_get_blog();
    assert_true(slave_read(s, STORE_WIRE_SET, MANY));
    slave_is_same(s, blog);
    slave_close(s);
}

/* Or a slave that is promoted would give a cas again. */
static void a_space_without_items_has_its_counter(void **state)
{
    const uint64_t given = UINT64_C(5) << 32;
    slave_t *s;

    (void)state;
    store_space_raise_cas(blog, given);
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    assert_int_equal(s->packets[STORE_WIRE_SPACE], 2);
    assert_string_equal(s->space, "blog");
    assert_true(s->last[STORE_WIRE_SPACE].number >= given);
    slave_close(s);
}

/* ---- a flush ---- */

static int is_joining; /* a slave joins within the flush; atomic */
static int is_awaited; /* it waits for the end of the flush; atomic */
static pthread_barrier_t noted;

void __real_store_space_await_flushes(void);
void __wrap_store_space_await_flushes(void);
void __wrap_store_space_await_flushes(void)
{
    __atomic_store_n(&is_awaited, 1, __ATOMIC_RELEASE);
    __real_store_space_await_flushes();
}

void __real_store_changes_add(store_space_t *, store_change_kind_t,
                              const void *, uint8_t, uint64_t);
void __wrap_store_changes_add(store_space_t *, store_change_kind_t,
                              const void *, uint8_t, uint64_t);
void __wrap_store_changes_add(store_space_t *space, store_change_kind_t kind,
                              const void *key, uint8_t klen, uint64_t cas)
{
    __real_store_changes_add(space, kind, key, klen, cas);
    if (kind != STORE_CHANGE_FLUSH ||
        !__atomic_load_n(&is_joining, __ATOMIC_ACQUIRE))
        return;
    pthread_barrier_wait(&noted);
    /* A slave that does not wait for the flush gets its copy. */
    while (!__atomic_load_n(&is_awaited, __ATOMIC_ACQUIRE) &&
           !notes_count("slave 127.0.0.1 has the whole copy"))
        poll(NULL, 0, 1);
}

static void *flush(void *space)
{
    store_space_flush(space, 0);
    return NULL;
}

/* The note of the flush is before its place in the list, and the items are not
 * dead yet. */
static void a_flush_at_the_very_instant_of_a_join(void **state)
{
    pthread_t thread;
    slave_t *first, *s;

    (void)state;
    shelf_set(&shelf, "a", 1, 10, 0);
    first = slave_join("127.0.0.2", 1); /* so that there is a list */
    assert_true(slave_read(first, STORE_WIRE_COMPLETE, 1));
    pthread_barrier_init(&noted, NULL, 2);
    __atomic_store_n(&is_awaited, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&is_joining, 1, __ATOMIC_RELEASE);
    assert_int_equal(pthread_create(&thread, NULL, flush, shelf.space), 0);
    pthread_barrier_wait(&noted);
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    pthread_join(thread, NULL);
    __atomic_store_n(&is_joining, 0, __ATOMIC_RELEASE);
    assert_null(slave_find(s, "shop", "a"));
    slave_close(s);
    slave_close(first);
    pthread_barrier_destroy(&noted);
}

/* A slave that is promoted flushes then. */
static void a_flush_that_is_due_later(void **state)
{
    slave_t *before, *after;
    const store_packet_t *named;
    unsigned n;

    (void)state;
    before = slave_join("127.0.0.1", 1);
    assert_true(slave_read(before, STORE_WIRE_COMPLETE, 1));
    named = &before->last[STORE_WIRE_SPACE];
    assert_int_equal(named->exptime, 0);
    n = before->packets[STORE_WIRE_SPACE];
    store_space_flush(blog, HOUR);
    store_changes_ring();
    assert_true(slave_read(before, STORE_WIRE_SPACE, n + 1));
    assert_string_equal(before->space, "blog");
    assert_in_range(named->exptime, HOUR - SLAVE_WAIT / 1000, HOUR);
    after = slave_join("127.0.0.2", 1);
    assert_true(slave_read(after, STORE_WIRE_COMPLETE, 1));
    assert_in_range(after->last[STORE_WIRE_SPACE].exptime,
                    HOUR - SLAVE_WAIT / 1000, HOUR);
    store_space_flush(blog, 0);
    store_changes_ring();
    assert_true(slave_read(before, STORE_WIRE_FLUSHED, 1));
    slave_close(before);
    slave_close(after);
}

static void a_yrmcds_hears_of_no_later_flush(void **state)
{
    slave_t *s = slave_join("127.0.0.3", 0);

    (void)state;
    master_wait_log("has the whole copy");
    store_space_flush(shelf.space, HOUR);
    slave_catch_up(s);
    assert_int_equal(s->packets[STORE_WIRE_SPACE], 0);
    slave_is_same(s, shelf.space);
    slave_close(s);
}

/* The main thread looks at its slaves once a second. */
static void a_slave_that_is_gone_counts_no_longer(void **state)
{
    const uint64_t *complete =
        &store_region_figures()->cluster.slave[0].complete;
    int64_t until = clock_ms() + SLAVE_WAIT;
    slave_t *s = slave_join("127.0.0.1", 1);

    (void)state;
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    slave_catch_up(s);
    assert_int_equal(STORE_GET(*complete), 1);
    slave_close(s);
    while (STORE_GET(*complete) && clock_ms() < until)
        poll(NULL, 0, 1);
    assert_int_equal(STORE_GET(*complete), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_space_that_comes_is_copied,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(
            a_change_is_not_left_out_while_its_space_comes, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(
            a_yrmcds_gets_the_open_space_when_it_comes, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(a_space_without_items_has_its_counter,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(a_flush_at_the_very_instant_of_a_join,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(a_flush_that_is_due_later, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(a_slave_that_is_gone_counts_no_longer,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(a_yrmcds_hears_of_no_later_flush,
                                        master_open, master_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
