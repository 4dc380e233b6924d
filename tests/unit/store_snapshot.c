/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the store saves it loads again, and of a damaged file what is sound. */

#include "tests/unit/support/saved.h"

#include <apr_siphash.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static store_space_t *find_none(const char *name)
{
    (void)name;
    return NULL;
}

static void all_is_loaded(void **state)
{
    (void)state;
    save();
    assert_int_equal(result.items, ITEMS);
    assert_int_equal(load(), ITEMS);
    assert_int_equal(result.items, ITEMS);
    assert_int_equal(result.damaged, 0);
    assert_true(result.complete);
}

/* The store was killed while it loaded. */
static void what_is_there_already_stays(void **state)
{
    (void)state;
    save();
    assert_true(shelf_set(&shelf, "key7", 4711, 100, 0));
    assert_true(shelf_delete(&shelf, "key8"));
    assert_int_equal(store_snapshot_load(file, find, yes, &result), 0);
    assert_true(shelf_get(&shelf, "key7", 4711, 100));
    assert_true(shelf_get(&shelf, "key8", 8, length_of(8)));
    assert_int_equal(shelf_check(&shelf), ITEMS);
}

/* The file ends earlier and earlier. */
static void what_was_cut_off_is_missed(void **state)
{
    unsigned n, last = ITEMS;
    off_t size;

    (void)state;
    save();
    for (size = (off_t)result.bytes - 1; size > 0; size = size * 3 / 4) {
        assert_int_equal(ftruncate(file, size), 0);
        n = load();
        assert_true(n <= last);
        assert_int_equal(result.items, n);
        assert_false(result.complete);
        last = n;
    }
    assert_int_equal(last, 0);
}

/* One byte of a record is wrong: only its item is lost. */
static void a_wrong_byte_costs_one_item(void **state)
{
    unsigned i;
    uint64_t size;

    (void)state;
    save();
    size = result.bytes;
    srand(1);
    for (i = 0; i < 200; i++) {
        off_t at = (off_t)(sizeof(store_record_file_t) + 40 +
                           (unsigned)rand() % (size - 120));
        unsigned char byte, wrong;

        assert_int_equal(pread(file, &byte, 1, at), 1);
        wrong = byte ^ (unsigned char)(1 << rand() % 8);
        assert_int_equal(pwrite(file, &wrong, 1, at), 1);
        assert_in_range(load(), ITEMS - 1, ITEMS);
        assert_int_equal(result.damaged, 1);
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
    }
    assert_int_equal(load(), ITEMS);
}

static void other_files_have_nothing(void **state)
{
    static char bytes[100000];
    size_t i;

    (void)state;
    assert_int_equal(load(), 0);
    assert_int_equal(result.damaged, 0);
    srand(2);
    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)rand();
    assert_int_equal(pwrite(file, bytes, sizeof bytes, 0), sizeof bytes);
    assert_int_equal(load(), 0);
    assert_int_equal(result.damaged, 1);
}

/* The store empties a file before it writes it. */
static void only_its_own_files_are_written(void **state)
{
    const char zeros[4096] = "";
    uint32_t version;

    (void)state;
    assert_null(store_snapshot_why_not(file)); /* empty */
    assert_int_equal(pwrite(file, zeros, sizeof zeros, 0), sizeof zeros);
    assert_null(store_snapshot_why_not(file));
    assert_int_equal(pwrite(file, "SWAPSPACE2", 10, 4086), 10);
    assert_string_equal(store_snapshot_why_not(file),
                        "it is no file of the store");
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, "x", 1, 30), 1);
    assert_string_equal(store_snapshot_why_not(file),
                        "it is no file of the store");
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(pwrite(file, "secret", 6, 0), 6);
    assert_string_equal(store_snapshot_why_not(file),
                        "it is no file of the store");
    save();
    for (version = 1; version <= STORE_RECORD_VERSION; version++) {
        assert_int_equal(pwrite(file, &version, sizeof version,
                                offsetof(store_record_file_t, version)),
                         sizeof version);
        assert_null(store_snapshot_why_not(file));
    }
    assert_int_equal(pwrite(file, &version, sizeof version,
                            offsetof(store_record_file_t, version)),
                     sizeof version);
    assert_string_equal(store_snapshot_why_not(file),
                        "a newer build has saved it");
}

/* Save one more item, of which a byte is wrong in the file. */
static void save_with_damaged(const void *value, uint32_t n)
{
    store_item_t *item = store_item_make(shelf.space, "forged", 6, 0, 0, n);
    store_bucket_t bucket;
    char *bytes;

    assert_non_null(item);
    store_item_write(shelf.space, item, 0, value, n);
    store_index_lock(&bucket, shelf.space, "forged", 6);
    store_index_put(&bucket, item, NULL, 0);
    store_index_unlock(&bucket);
    store_item_release(shelf.space, item);
    save();
    bytes =
        mmap(NULL, result.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    *(char *)memmem(bytes, result.bytes, "forged", 6) = 'F';
    munmap(bytes, result.bytes);
}

/* A client knows the format, but not the key of the file. What it puts into a
 * value is no record, also when the record around it is damaged. */
static void a_value_is_no_record(void **state)
{
    char value[200] = "";
    store_record_t *r = (store_record_t *)(void *)(value + 8);
    static const store_record_file_t other = {.magic = STORE_RECORD_FILE,
                                              .version = STORE_RECORD_VERSION};

    (void)state;
    r->magic = STORE_RECORD_MAGIC;
    r->kind = STORE_RECORD_ITEM;
    r->klen = 4;
    memcpy(r + 1, "evil", 4);
    r->check = store_record_check(r, &other);
    save_with_damaged(value, sizeof value);
    assert_int_equal(load(), ITEMS);
    assert_int_equal(result.items, ITEMS);
    assert_null(shelf_take(&shelf, "evil"));
}

static uint64_t hashed; /* bytes; atomic: a load has two threads */

/* In place of the one of the library. */
apr_uint64_t apr_siphash24(const void *bytes, apr_size_t n,
                           const unsigned char key[APR_SIPHASH_KSIZE])
{
    __atomic_fetch_add(&hashed, n, __ATOMIC_RELAXED);
    return apr_siphash(bytes, n, key, 2, 4);
}

/* Each of many headers in a value says that a long record follows. */
static void false_headers_cost_no_time(void **state)
{
    static store_record_t value[1000];
    size_t i, n = sizeof value / sizeof *value;

    (void)state;
    for (i = 0; i < n; i++)
        value[i] = (store_record_t){.magic = STORE_RECORD_MAGIC,
                                    .kind = STORE_RECORD_ITEM,
                                    .klen = 1,
                                    .length = 20000,
                                    .check = i};
    save_with_damaged(value, sizeof value);
    hashed = 0;
    assert_int_equal(load(), ITEMS);
    assert_in_range(hashed, result.bytes / 2, result.bytes * 2);
}

static void turn_byte(off_t at)
{
    unsigned char byte;

    assert_int_equal(pread(file, &byte, 1, at), 1);
    byte = (unsigned char)~byte;
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

static void a_file_says_what_it_is(void **state)
{
    store_snapshot_head_t head;
    unsigned i;

    (void)state;
    assert_false(store_snapshot_look(file, &head));
    save();
    assert_true(store_snapshot_look(file, &head));
    assert_int_equal(head.number, 7);
    assert_true(head.whole);
    assert_false(head.live);
    assert_in_range(head.at, time(NULL) - 2, time(NULL));
    assert_int_equal(ftruncate(file, (off_t)result.bytes - 1), 0);
    assert_true(store_snapshot_look(file, &head));
    assert_false(head.whole);
    save();
    for (i = 1; i <= 32; i++) { /* a byte of the end is wrong */
        turn_byte((off_t)result.bytes - i);
        store_snapshot_look(file, &head);
        assert_false(head.whole);
        turn_byte((off_t)result.bytes - i);
    }
}

static void items_of_unknown_spaces_are_dropped(void **state)
{
    (void)state;
    save();
    assert_int_equal(store_snapshot_load(file, find_none, yes, &result), 0);
    assert_int_equal(result.dropped, ITEMS);
    assert_int_equal(result.items, 0);
}

static void a_save_that_takes_too_long_ends(void **state)
{
    (void)state;
    begin(no, &none);
    assert_int_equal(store_snapshot_save(&to, shelf.space), 1);
    end();
    assert_int_equal(result.items, 0);
    assert_true(result.late);
    assert_false(result.complete);
}

static unsigned asked, granted;

static int some_times(void)
{
    return asked++ < granted;
}

/* A large index with no item takes time, too. */
static void a_save_of_few_items_has_a_limit(void **state)
{
    unsigned all;

    (void)state;
    shelf_close(&shelf);
    shelf_open(&shelf, PAGES, 1);
    asked = 0;
    granted = UINT32_MAX;
    begin(some_times, &none);
    assert_int_equal(store_snapshot_save(&to, shelf.space), 0);
    assert_int_equal(to.done.items, 0);
    all = asked;
    assert_true(all > 2);
    asked = 0;
    granted = 2;
    assert_int_equal(store_snapshot_save(&to, shelf.space), 1);
    end();
    assert_int_equal(asked, granted + 1);
    assert_true(result.late);
}

static int replaces;

/* As a client that changes items while they are saved. */
static int replace(void)
{
    if (replaces++ == 0) {
        shelf_set(&shelf, "key50", 4711, 100, 0);
        shelf_delete(&shelf, "key51");
    }
    return 1;
}

/* A value is kept while it is written, and nothing is held after that. */
static void others_serve_while_it_saves(void **state)
{
    char key[16];
    unsigned i;

    (void)state;
    replaces = 0;
    begin(replace, &none);
    assert_int_equal(store_snapshot_save(&to, shelf.space), 0);
    assert_int_equal(store_snapshot_end(&to), 0);
    end();
    assert_int_equal(shelf_check(&shelf), ITEMS - 1);
    assert_in_range(result.items, ITEMS - 1, ITEMS);
    load_unseen();
    for (i = 0; i < 50; i++) {
        key_of(key, i);
        assert_true(shelf_get(&shelf, key, i, length_of(i)));
    }
    assert_true(shelf_get(&shelf, "key50", 4711, 100));
}

/* More items than a bucket usually has: a large table has few of them. */
static void a_bucket_may_have_many_items(void **state)
{
    char key[16];
    unsigned i;

    (void)state;
    shelf_close(&shelf);
    shelf_open(&shelf, PAGES, 1);
    for (i = 0; i < 100000; i++) {
        snprintf(key, sizeof key, "k%u", i);
        assert_true(shelf_set(&shelf, key, i, 1, 0) > 0);
    }
    save();
    assert_int_equal(result.items, 100000);
    assert_int_equal(shelf_check(&shelf), 100000);
}

static int fails_to_start;

int __wrap_store_thread_start(pthread_t *, const char *name,
                              void *(*run)(void *), void *ctx);
int __real_store_thread_start(pthread_t *, const char *name,
                              void *(*run)(void *), void *ctx);
int __wrap_store_thread_start(pthread_t *thread, const char *name,
                              void *(*run)(void *), void *ctx)
{
    return fails_to_start ? -1
                          : __real_store_thread_start(thread, name, run, ctx);
}

#define MANY  400
#define LARGE 25000

static unsigned count_large(void)
{
    char key[16];
    unsigned i, n = 0;

    for (i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "large%u", i);
        n += (unsigned)shelf_get(&shelf, key, i, LARGE);
    }
    return n;
}

static void save_and_load_large(void)
{
    uint64_t size;
    unsigned i;

    save();
    size = result.bytes;
    assert_int_equal(result.items, ITEMS + MANY);
    assert_int_equal(load(), ITEMS);
    assert_int_equal(count_large(), MANY);
    assert_true(result.complete);
    for (i = 1; i < 10; i++)
        turn_byte((off_t)(size * i / 10));
    load();
    assert_int_equal(result.items, ITEMS + MANY - 9);
    assert_int_equal(result.damaged, 9);
    assert_in_range(count_large(), MANY - 9, MANY);
    assert_true(result.complete);
}

/* More than the memory of both threads. */
static void a_file_of_many_blocks(void **state)
{
    char key[16];
    unsigned i;

    (void)state;
    for (i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "large%u", i);
        assert_true(shelf_set(&shelf, key, i, LARGE, 0) > 0);
    }
    save_and_load_large();
}

static void threads_are_not_needed(void **state)
{
    fails_to_start = 1;
    a_file_of_many_blocks(state);
    fails_to_start = 0;
}

/* What could not be written is not told as saved. */
static void a_save_on_a_full_disk(void **state)
{
    struct rlimit old, full;
    uint64_t told;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    full = old;
    full.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    begin(yes, &none);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    assert_int_equal(store_snapshot_save(&to, shelf.space), -1);
    assert_int_equal(to.error, EFBIG);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    end();
    told = result.items;
    assert_in_range(load(), told, ITEMS - 1);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, saved_setup, saved_teardown)
    const struct CMUnitTest tests[] = {
        TEST(all_is_loaded),
        TEST(what_is_there_already_stays),
        TEST(what_was_cut_off_is_missed),
        TEST(a_wrong_byte_costs_one_item),
        TEST(other_files_have_nothing),
        TEST(only_its_own_files_are_written),
        TEST(a_value_is_no_record),
        TEST(false_headers_cost_no_time),
        TEST(a_file_says_what_it_is),
        TEST(items_of_unknown_spaces_are_dropped),
        TEST(a_save_that_takes_too_long_ends),
        TEST(a_save_of_few_items_has_a_limit),
        TEST(others_serve_while_it_saves),
        TEST(a_bucket_may_have_many_items),
        TEST(a_file_of_many_blocks),
        TEST(threads_are_not_needed),
        TEST(a_save_on_a_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
