/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which of the two files of AppStoreSave is written, and which is loaded. */

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/memory/region.h"
#include "tests/unit/support/keeper.h"
#include "tests/unit/support/notes.h"

static off_t size_of(int fd)
{
    struct stat st;

    assert_int_equal(fstat(fd, &st), 0);
    return st.st_size;
}

static unsigned load_again(void)
{
    store_region_directory()->loaded = 0;
    store_region_directory()->lacks = 0;
    forget();
    assert_true(store_save_load(&files));
    return count();
}

/* With a periodic save a file is there until the next one is whole. */
static void the_newest_whole_file_is_loaded(void **state)
{
    off_t first;

    (void)state;
    store_save_configure(TIME, 60);
    store_save_save(&files);
    first = size_of(file);
    assert_true(first > 0);
    assert_int_equal(size_of(files.fd[1]), 0);
    assert_true(shelf_delete(&own, key_of(0)));
    store_save_save(&files);
    assert_int_equal(size_of(file), first);
    assert_in_range(size_of(files.fd[1]), 1, first - 1);
    assert_int_equal(load_again(), VALUES - 1);
    /* The next one is a part only. */
    late = 0;
    told_at = clock_ms();
    late = LAST - HURRY;
    store_save_save(&files);
    told_at = 0;
    assert_in_range(size_of(file), 1, first * 2 / 3);
    assert_int_equal(load_again(), VALUES - 1);
    assert_false(store_region_directory()->lacks);
    assert_true(size_of(files.fd[1]) > 0);
    store_save_configure(TIME, 0);
    assert_int_equal(load_again(), VALUES - 1);
    assert_int_equal(size_of(file) + size_of(files.fd[1]), 0);
    assert_int_equal(load_again(), 0);
}

static void one_file_is_written_again(void **state)
{
    uint32_t number;

    (void)state;
    close(files.fd[1]);
    files.fd[1] = -1;
    assert_int_equal(store_save_files_next(&files, 1, &number), file);
    store_save_save(&files);
    assert_int_equal(store_save_files_next(&files, 1, &number), -1);
    assert_int_equal(store_save_files_next(&files, 0, &number), file);
    assert_int_equal(number, 2);
    assert_true(shelf_delete(&own, key_of(0)));
    store_save_save(&files);
    assert_int_equal(load_again(), VALUES - 1);
}

static void set_number(int fd, uint32_t number, time_t changed)
{
    const struct timespec times[] = {{changed, 0}, {changed, 0}};

    assert_int_equal(pwrite(fd, &number, sizeof number,
                            offsetof(store_record_file_t, number)),
                     sizeof number);
    assert_int_equal(futimens(fd, times), 0);
}

/* An older build was there for a while, and has written the first file only. It
 * knows no number. */
static void a_file_without_a_number_has_its_time(void **state)
{
    uint32_t number;

    (void)state;
    store_save_configure(TIME, 60);
    store_save_save(&files);
    assert_true(shelf_delete(&own, key_of(0)));
    store_save_save(&files);
    set_number(files.fd[1], 7, 1000);
    set_number(file, 0, 1001);
    assert_int_equal(load_again(), VALUES);
    set_number(file, 0, 999);
    assert_int_equal(load_again(), VALUES - 1);
    assert_int_equal(store_save_files_next(&files, 1, &number), file);
    assert_int_equal(number, 8);
}

static void no_file_has_the_number_of_an_older_build(void **state)
{
    uint32_t number;

    (void)state;
    store_save_save(&files);
    set_number(file, UINT32_MAX, 1000);
    assert_int_equal(store_save_files_next(&files, 1, &number), files.fd[1]);
    assert_int_equal(number, 1);
    store_save_save(&files);
    set_number(files.fd[1], 1, 1000);
    assert_int_equal(store_save_files_next(&files, 1, &number), file);
    assert_int_equal(number, 2);
}

static void what_is_no_file_of_the_store_is_not_whole(void **state)
{
    (void)state;
    store_save_save(&files);
    assert_int_equal(pwrite(files.fd[1], "a text", 6, 0), 6);
    assert_int_equal(load_again(), VALUES);
    assert_int_equal(pwrite(files.fd[1], "a text", 6, 0), 6);
    assert_int_equal(load_again(), 0);
    assert_int_equal(notes_count("the file is not complete"), 1);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, keeper_setup, keeper_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_newest_whole_file_is_loaded),
        TEST(one_file_is_written_again),
        TEST(a_file_without_a_number_has_its_time),
        TEST(no_file_has_the_number_of_an_older_build),
        TEST(what_is_no_file_of_the_store_is_not_whole),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
