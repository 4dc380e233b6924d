/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The list of changed keys: what is in it, and which readers are overtaken or
 * woken. */

#include "store/memory/changes.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/memory/sweeper.h"
#include "tests/unit/support/shelf.h"

#define RING (64 * 1024)

static shelf_t shelf;
static store_cursor_t cursor;

static int setup(void **state)
{
    (void)state;
    shelf_open(&shelf, 40, 1);
    assert_int_equal(store_changes_open(RING), 0);
    store_changes_end(&cursor);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    store_changes_close();
    shelf_close(&shelf);
    return 0;
}

/* The next changes as text: "put a, touch a". */
static const char *read_all(void)
{
    static const char *const names[] = {"", "put", "remove", "touch", "flush"};
    static char text[4096];
    store_change_t changes[3];
    size_t used = 0, n = 3, i;

    text[0] = '\0';
    for (; n == 3;) {
        assert_int_equal(store_changes_read(&cursor, changes, &n), 0);
        for (i = 0; i < n; i++) {
            assert_ptr_equal(changes[i].space, shelf.space);
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%s%s%.*s", used ? ", " : "",
                names[changes[i].kind], changes[i].klen ? " " : "",
                changes[i].klen, changes[i].key);
        }
    }
    return text;
}

static void change_item(const char *key, uint32_t exptime, unsigned bits)
{
    store_bucket_t bucket;
    store_item_t *item;

    store_index_lock(&bucket, shelf.space, key, (uint8_t)strlen(key));
    item = store_index_find(&bucket, NULL);
    assert_non_null(item);
    if (exptime)
        store_index_touch(&bucket, item, exptime);
    store_index_bits(&bucket, item, bits, 0);
    store_index_unlock(&bucket);
}

/* Also what a client does not see as a change is none. */
static void each_change_is_in_the_list(void **state)
{
    (void)state;
    shelf_set(&shelf, "a", 1, 10, 0);
    shelf_set(&shelf, "b", 1, 9000, 0);
    assert_string_equal(read_all(), "put a, put b");
    shelf_set(&shelf, "a", 2, 20000, 0);
    assert_string_equal(read_all(), "put a");
    assert_true(shelf_get(&shelf, "a", 2, 20000));
    assert_false(shelf_delete(&shelf, "c"));
    assert_string_equal(read_all(), "");
    change_item("a", UINT32_MAX, 0);
    change_item("a", UINT32_MAX, STORE_FETCHED);
    change_item("a", 0, STORE_STALE);
    assert_string_equal(read_all(), "touch a, put a");
    assert_true(shelf_delete(&shelf, "a"));
    store_space_flush(shelf.space, 0);
    assert_string_equal(read_all(), "remove a, flush");
    assert_false(shelf_get(&shelf, "b", 1, 9000));
    assert_string_equal(read_all(), "remove b");
}

static void y27_what_the_store_removes_is_in_the_list(void **state)
{
    char key[8];
    int i;

    (void)state;
    shelf_set(&shelf, "old", 1, 100, (uint32_t)(store_clock() + 5));
    shelf_later(&shelf, 10);
    assert_string_equal(read_all(), "put old");
    while (store_sweeper_run(shelf.space, 1000))
        ;
    assert_string_equal(read_all(), "remove old");
    for (i = 0; !shelf.space->figures->evictions; i++) {
        snprintf(key, sizeof key, "%d", i);
        shelf_set(&shelf, key, 1, 60000, 0);
    }
    assert_non_null(strstr(read_all(), "remove "));
}

static void a_copy_has_the_cas_of_the_master(void **state)
{
    store_bucket_t bucket;
    store_item_t *item = store_item_make(shelf.space, "k", 1, 0, 0, 0);
    uint64_t first = shelf_set(&shelf, "a", 1, 10, 0);

    (void)state;
    store_index_lock(&bucket, shelf.space, "k", 1);
    store_index_put_copy(&bucket, item, NULL, first + 1000, STORE_STALE);
    store_index_unlock(&bucket);
    assert_true(item->cas == first + 1000);
    assert_int_equal(item->bits, STORE_STALE);
    store_item_release(shelf.space, item);
    assert_true(shelf_set(&shelf, "a", 1, 10, 0) == first + 1001);
    /* What a client has chosen is not what the space has given. */
    item = store_item_make(shelf.space, "k", 1, 0, 0, 0);
    store_index_lock(&bucket, shelf.space, "k", 1);
    store_index_put_copy(&bucket, item, store_index_find(&bucket, NULL),
                         UINT64_MAX, STORE_CAS_CHOSEN);
    store_index_unlock(&bucket);
    assert_true(item->cas == UINT64_MAX);
    store_item_release(shelf.space, item);
    assert_true(shelf_set(&shelf, "a", 1, 10, 0) == first + 1002);
    assert_int_equal(shelf_check(&shelf), 2);
}

/* After it, a copy with any cas is alive. */
static void a_space_is_emptied(void **state)
{
    store_bucket_t bucket;
    store_item_t *item;
    char key[8];
    int i;

    (void)state;
    for (i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "%d", i);
        shelf_set(&shelf, key, 1, 100 * (uint32_t)i, 0);
    }
    store_space_flush(shelf.space, 1000);
    store_space_empty(shelf.space, NULL);
    assert_int_equal(shelf_check(&shelf), 0);
    assert_int_equal(shelf.space->entry->flush_at, 0);
    item = store_item_make(shelf.space, "k", 1, 3, 0, 0);
    store_index_lock(&bucket, shelf.space, "k", 1);
    store_index_put_copy(&bucket, item, NULL, 1, 0);
    store_index_unlock(&bucket);
    store_item_release(shelf.space, item);
    assert_true(shelf_get(&shelf, "k", 3, 0));
    shelf_recover(&shelf);
    assert_true(shelf_get(&shelf, "k", 3, 0));
}

static void a_slow_reader_is_overtaken(void **state)
{
    store_cursor_t slow = cursor;
    store_change_t change;
    size_t n = 1, i;
    int64_t ms;

    (void)state;
    for (i = 0; i < RING / 40; i++)
        store_changes_add(shelf.space, STORE_CHANGE_PUT, "12345678", 8, i);
    assert_int_equal(store_changes_lag(&slow, &ms), RING / 40);
    assert_int_equal(store_changes_read(&cursor, &change, &n), 0);
    assert_int_equal(n, 1);
    /* Its place is the first one that is written again. */
    store_changes_add(shelf.space, STORE_CHANGE_PUT, "12345678", 8, i);
    store_changes_add(shelf.space, STORE_CHANGE_PUT, "12345678", 8, i);
    assert_int_equal(store_changes_read(&slow, &change, &n), -1);
    assert_int_equal(n, 0);
    n = 1;
    assert_int_equal(store_changes_read(&slow, &change, &n), -1);
    assert_int_equal(store_changes_lag(&slow, &ms), RING / 40 + 2);
}

/* Keys of all lengths, so that changes end anywhere at the end of the ring. */
static void nothing_is_lost_at_the_end_of_the_ring(void **state)
{
    enum { MOST = 500 };
    static store_change_t got[MOST];
    unsigned seed = 1, added = 0, taken = 0, i;
    char key[STORE_KEY_MAX];

    (void)state;
    while (taken < 200000) {
        size_t n;

        seed = seed * 1103515245 + 12345;
        for (i = 0; i < seed % 190; i++, added++) {
            memset(key, (int)added % 256, sizeof key);
            store_changes_add(shelf.space, STORE_CHANGE_REMOVE, key,
                              (uint8_t)(added % 251), added);
        }
        n = added - taken > 20 ? MOST : 7;
        assert_int_equal(store_changes_read(&cursor, got, &n), 0);
        for (i = 0; i < n; i++, taken++) {
            assert_int_equal(got[i].cas, taken);
            assert_int_equal(got[i].klen, taken % 251);
            memset(key, (int)taken % 256, sizeof key);
            assert_memory_equal(got[i].key, key, got[i].klen);
        }
    }
    assert_true(cursor.at > 100 * RING);
}

static void what_no_slave_has_is_counted(void **state)
{
    uint64_t before;

    (void)state;
    store_changes_close();
    before = store_changes_unsent();
    shelf_set(&shelf, "a", 1, 10, 0);
    shelf_set(&shelf, "a", 1, 10, 0);
    assert_int_equal(store_changes_unsent() - before, 2);
    assert_int_equal(store_changes_open(RING), 0);
    store_changes_end(&cursor);
    shelf_set(&shelf, "b", 1, 10, 0);
    assert_int_equal(store_changes_unsent() - before, 3);
    store_changes_sent(&cursor);
    assert_int_equal(store_changes_unsent(), 1);
    assert_string_equal(read_all(), "put b");
    store_changes_sent(&cursor);
    assert_int_equal(store_changes_unsent(), 0);
    shelf_set(&shelf, "c", 1, 10, 0);
    store_changes_close();
    assert_int_equal(store_changes_unsent(), 1);
}

static int is_rung(int bell)
{
    struct pollfd p = {bell, POLLIN, 0};

    return poll(&p, 1, 0) == 1;
}

static void only_a_change_wakes_a_reader(void **state)
{
    int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    (void)state;
    store_changes_wait(4, bell);
    store_changes_ring();
    assert_false(is_rung(bell));
    shelf_set(&shelf, "a", 1, 10, 0);
    assert_false(is_rung(bell));
    store_changes_wait(4, -1);
    store_changes_ring();
    assert_false(is_rung(bell));
    store_changes_wait(4, bell);
    shelf_set(&shelf, "a", 1, 10, 0);
    store_changes_ring();
    assert_true(is_rung(bell));
    close(bell);
}

/* ---- the end of a bell ---- */

static int watched_bell = -1; /* atomic, as the other two */
static int is_writing, has_written;

ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n);

ssize_t __wrap_write(int fd, const void *from, size_t n)
{
    const struct timespec while_the_reader_ends = {0, 50000000};
    ssize_t rv;

    if (fd != __atomic_load_n(&watched_bell, __ATOMIC_ACQUIRE))
        return __real_write(fd, from, n);
    __atomic_store_n(&is_writing, 1, __ATOMIC_RELEASE);
    nanosleep(&while_the_reader_ends, NULL);
    rv = __real_write(fd, from, n);
    __atomic_store_n(&has_written, 1, __ATOMIC_RELEASE);
    return rv;
}

static void *ring(void *ctx)
{
    (void)ctx;
    store_changes_ring();
    return NULL;
}

/* Its descriptor may be that of a client right after it is closed. */
static void nobody_rings_a_bell_that_is_closed(void **state)
{
    int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_t thread;

    (void)state;
    store_changes_wait(4, bell);
    shelf_set(&shelf, "a", 1, 10, 0);
    __atomic_store_n(&watched_bell, bell, __ATOMIC_RELEASE);
    assert_int_equal(pthread_create(&thread, NULL, ring, NULL), 0);
    while (!__atomic_load_n(&is_writing, __ATOMIC_ACQUIRE))
        sched_yield();
    store_changes_wait(4, -1);
    assert_true(__atomic_load_n(&has_written, __ATOMIC_ACQUIRE));
    pthread_join(thread, NULL);
    __atomic_store_n(&watched_bell, -1, __ATOMIC_RELEASE);
    close(bell);
}

/* Also without a list: a slave that was there before compares it. */
static void each_change_has_a_position(void **state)
{
    uint64_t place = 7;
    store_cursor_t here;
    store_change_t change;
    size_t n = 1;

    (void)state;
    store_changes_count_in(&place);
    store_changes_end(&here);
    assert_int_equal(here.position, 7);
    shelf_set(&shelf, "a", 1, 10, 0);
    shelf_set(&shelf, "b", 1, 10, 0);
    assert_int_equal(place, 9);
    assert_int_equal(store_changes_mine(), 9);
    assert_int_equal(store_changes_read(&here, &change, &n), 0);
    assert_int_equal(here.position, 8);
    store_changes_close();
    shelf_set(&shelf, "a", 1, 10, 0);
    assert_int_equal(store_changes_position(), 10);
    assert_int_equal(store_changes_mine(), 10);
    store_changes_count_in(NULL);
    shelf_set(&shelf, "a", 1, 10, 0);
    assert_int_equal(place, 10);
}

/* A thread has seen no list, and counts its change a moment later. It is in the
 * copy, because the bucket was locked meanwhile. A client that waits for
 * its position does not wait for another change. */
static void a_change_from_before_the_list_is_passed(void **state)
{
    uint64_t place = 7;
    store_cursor_t here;
    store_change_t change;
    size_t n = 1;

    (void)state;
    store_changes_count_in(&place);
    store_changes_end(&here);
    shelf_set(&shelf, "a", 1, 10, 0);
    place++;
    assert_int_equal(store_changes_read(&here, &change, &n), 0);
    assert_int_equal(n, 1);
    assert_int_equal(change.position, 8);
    assert_int_equal(here.position, 9);
    store_changes_count_in(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_change_is_in_the_list, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            y27_what_the_store_removes_is_in_the_list, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_has_the_cas_of_the_master, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_space_is_emptied, setup, teardown),
        cmocka_unit_test_setup_teardown(a_slow_reader_is_overtaken, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nothing_is_lost_at_the_end_of_the_ring,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_no_slave_has_is_counted, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(each_change_has_a_position, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_change_from_before_the_list_is_passed,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(only_a_change_wakes_a_reader, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nobody_rings_a_bell_that_is_closed,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
