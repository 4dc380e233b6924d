/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Values in unlinked files: what they hold, their limit, disks that fail, and
 * what a crash leaves. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "store/memory/large_value.h"
#include "store/memory/sweeper.h"
#include "tests/unit/support/shelf.h"
#include "store/clock.h"

#define OVER  1000 /* bytes: longer values are in files */
#define BLOCK 4096
#define DISK  16 /* blocks */

static char directory[] = "/var/tmp/store-large-XXXXXX";
static shelf_t shelf;

static void begin(int evict)
{
    shelf_open(&shelf, 16, evict);
    shelf.options.disk = (uint64_t)DISK * BLOCK;
    store_space_configure(shelf.space, &shelf.options);
    store_large_over = OVER;
    store_large_directory = directory;
    assert_int_equal(store_large_error(), 0);
}

static void pass(void)
{
    while (store_sweeper_run(shelf.space, STORE_SWEEPER_CHUNKS))
        continue;
}

/* All files that are not those of living items are unmapped. */
static void check(unsigned files, uint64_t blocks)
{
    pass();
    shelf_check(&shelf);
    assert_int_equal(shelf.space->figures->files, files);
    assert_int_equal(shelf.space->figures->file_bytes, blocks * BLOCK);
}

/* @return how many of the keys 0 .. n - 1 are there; each has its own value */
static unsigned count(unsigned n, uint32_t length)
{
    unsigned i, found = 0;
    char key[16];

    for (i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%u", i);
        found += (unsigned)shelf_get(&shelf, key, i, length);
    }
    return found;
}

static int set(unsigned i, uint32_t length)
{
    char key[16];

    snprintf(key, sizeof key, "%u", i);
    return shelf_set(&shelf, key, i, length, 0) != 0;
}

static void y45_long_values_are_in_files(void **state)
{
    uint64_t used;

    (void)state;
    begin(1);
    assert_true(shelf_set(&shelf, "short", 1, OVER, 0));
    check(0, 0);
    used = shelf.space->figures->used;
    assert_true(shelf_set(&shelf, "long", 2, OVER + 1, 0));
    assert_true(shelf_set(&shelf, "longer", 3, 10 * BLOCK, 0));
    assert_true(shelf_get(&shelf, "short", 1, OVER));
    assert_true(shelf_get(&shelf, "long", 2, OVER + 1));
    assert_true(shelf_get(&shelf, "longer", 3, 10 * BLOCK));
    check(2, 11);
    /* A page for their heads. */
    assert_true(shelf.space->figures->used <= used + STORE_PAGE);
    assert_true(shelf_delete(&shelf, "longer"));
    check(1, 1);
    shelf_close(&shelf);
}

static void y45_a_crash_drops_them(void **state)
{
    (void)state;
    begin(1);
    shelf_set(&shelf, "short", 1, OVER, 0);
    shelf_set(&shelf, "long", 2, OVER + 1, 0);
    shelf_recover(&shelf);
    assert_true(shelf_get(&shelf, "short", 1, OVER));
    assert_false(shelf_get(&shelf, "long", 2, OVER + 1));
    assert_int_equal(shelf.space->figures->recovered, 1);
    assert_int_equal(shelf.space->figures->dropped, 1);
    check(0, 0);
    assert_true(shelf_set(&shelf, "long", 3, OVER + 1, 0));
    assert_true(shelf_get(&shelf, "long", 3, OVER + 1));
    check(1, 1);
    shelf_close(&shelf);
}

static void y45_the_oldest_is_evicted(void **state)
{
    unsigned i;

    (void)state;
    begin(1);
    for (i = 0; i < DISK; i++) {
        assert_true(set(i, BLOCK));
        shelf_later(&shelf, 1);
    }
    assert_true(shelf_get(&shelf, "0", 0, BLOCK));
    shelf_later(&shelf, 1);
    for (; i < DISK + 3; i++)
        assert_true(set(i, BLOCK));
    assert_int_equal(shelf.space->figures->file_evictions, 3);
    assert_int_equal(count(1, BLOCK), 1);
    assert_int_equal(count(4, BLOCK), 1);
    assert_int_equal(count(DISK + 3, BLOCK), DISK);
    /* A value as large as all of them takes the place of all. */
    assert_true(shelf_set(&shelf, "all", 7, DISK * BLOCK, 0));
    assert_int_equal(count(DISK + 3, BLOCK), 0);
    assert_true(shelf_get(&shelf, "all", 7, DISK * BLOCK));
    assert_false(shelf_set(&shelf, "more", 8, DISK * BLOCK + 1, 0));
    assert_true(shelf_get(&shelf, "all", 7, DISK * BLOCK));
    check(1, DISK);
    assert_int_equal(store_large_error(), 0);
    shelf_close(&shelf);
}

static void y45_or_the_new_one_is_refused(void **state)
{
    unsigned i;

    (void)state;
    begin(0);
    for (i = 0; i < DISK; i++)
        assert_true(set(i, BLOCK));
    assert_false(set(DISK, BLOCK));
    assert_int_equal(shelf.space->figures->file_refused, 1);
    assert_int_equal(count(DISK, BLOCK), DISK);
    /* What is dead has no right to its place. */
    assert_true(shelf_delete(&shelf, "3"));
    assert_true(set(DISK, BLOCK));
    assert_true(shelf_set(&shelf, "short", 1, OVER, 0));
    check(DISK, DISK);
    assert_int_equal(store_large_error(), 0);
    shelf_close(&shelf);
}

static void y45_a_value_in_use_keeps_its_file(void **state)
{
    store_item_t *item;
    unsigned i;

    (void)state;
    begin(1);
    shelf_set(&shelf, "kept", 1, 2 * BLOCK, 0);
    item = shelf_take(&shelf, "kept");
    shelf_set(&shelf, "kept", 2, 2 * BLOCK, 0);
    for (i = 0; i < 3 * DISK; i++)
        assert_true(set(i, BLOCK));
    assert_true(shelf_is(&shelf, item, 1, 2 * BLOCK));
    assert_false(shelf_set(&shelf, "all", 3, DISK * BLOCK, 0));
    store_item_release(shelf.space, item);
    assert_true(shelf_set(&shelf, "all", 3, DISK * BLOCK, 0));
    check(1, DISK);
    shelf_close(&shelf);
}

static void what_expires_loses_its_file(void **state)
{
    (void)state;
    begin(1);
    shelf_set(&shelf, "a", 1, BLOCK, store_clock() + 5);
    shelf_set(&shelf, "b", 2, BLOCK, 0);
    shelf_later(&shelf, 6);
    check(1, 1);
    store_space_flush(shelf.space, 0);
    check(0, 0);
    shelf_close(&shelf);
}

/* ---- disks that fail ---- */

/* @return the error */
static int refusal(uint32_t length)
{
    assert_true(shelf_set(&shelf, "old", 1, length, 0));
    store_large_directory = "/nonexistent/directory";
    assert_false(shelf_set(&shelf, "old", 2, length, 0));
    store_large_directory = directory;
    return store_large_error();
}

static void y45_a_directory_that_is_away_is_an_error(void **state)
{
    (void)state;
    begin(1);
    assert_int_equal(refusal(BLOCK), ENOENT);
    assert_int_equal(store_large_error(), 0);
    assert_true(shelf_get(&shelf, "old", 1, BLOCK));
    assert_true(shelf_set(&shelf, "old", 2, BLOCK, 0));
    check(1, 1);
    shelf_close(&shelf);
}

/* As a full disk: the blocks of a file are reserved before it is written. */
static void y45_a_full_disk_is_an_error(void **state)
{
    struct rlimit before, limit;

    (void)state;
    begin(1);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 2 * BLOCK;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_true(shelf_set(&shelf, "small", 1, 2 * BLOCK, 0));
    assert_false(shelf_set(&shelf, "large", 2, 2 * BLOCK + 1, 0));
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(store_large_error(), EFBIG);
    assert_true(shelf_get(&shelf, "small", 1, 2 * BLOCK));
    check(1, 2);
    shelf_close(&shelf);
}

/* ---- page cache ---- */

/* How many pages of the value are in memory? */
static unsigned resident(const char *key, uint32_t length)
{
    unsigned char in[DISK];
    store_item_t *item = shelf_take(&shelf, key);
    unsigned i, n = 0;
    uint32_t run;
    char *bytes = store_item_bytes(shelf.space, item, 0, &run);

    assert_int_equal(run, length);
    assert_int_equal(msync(bytes, length, MS_SYNC), 0);
    assert_int_equal(mincore(bytes, length, in), 0);
    for (i = 0; i < length / BLOCK; i++)
        n += in[i] & 1;
    store_item_release(shelf.space, item);
    return n;
}

static void y45_page_cache_is_given_back(void **state)
{
    struct statfs fs;

    (void)state;
    assert_int_equal(statfs(directory, &fs), 0);
    if (fs.f_type == TMPFS_MAGIC)
        skip(); /* its files are in memory */
    begin(1);
    shelf_set(&shelf, "a", 1, 8 * BLOCK, 0);
    pass();
    assert_int_equal(resident("a", 8 * BLOCK), 8);
    shelf_later(&shelf, STORE_LARGE_COLD + 1);
    pass();
    assert_int_equal(resident("a", 8 * BLOCK), 0);
    assert_true(shelf_get(&shelf, "a", 1, 8 * BLOCK));
    shelf_close(&shelf);
}

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

/* It is empty: the files have no names. */
static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(y45_long_values_are_in_files),
        cmocka_unit_test(y45_a_crash_drops_them),
        cmocka_unit_test(y45_the_oldest_is_evicted),
        cmocka_unit_test(y45_or_the_new_one_is_refused),
        cmocka_unit_test(y45_a_value_in_use_keeps_its_file),
        cmocka_unit_test(what_expires_loses_its_file),
        cmocka_unit_test(y45_a_directory_that_is_away_is_an_error),
        cmocka_unit_test(y45_a_full_disk_is_an_error),
        cmocka_unit_test(y45_page_cache_is_given_back),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
