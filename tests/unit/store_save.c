/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a store hands over, loads and saves when there is little time. Each item
 * takes 100 ms here: the clock goes on with each heartbeat. */

#include "store/server/save.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/memory/region.h"
#include "store/server/mailbox.h"
#include "store/server/spaces.h"
#include "store/server/takeover.h"
#include "tests/unit/support/keeper.h"
#include "tests/unit/support/notes.h"

static void take(void *ctx, const char *name, int fd)
{
    (void)ctx;
    if (strcmp(name, "=large values") != 0 || !store_takeover_take(fd))
        close(fd);
}

/* As a store of an older build, which leaves a file as that of a stop. */
static void leave(void)
{
    int left = memfd_create("left", MFD_CLOEXEC);
    store_save_files_t one = {{left, -1}};

    store_save_save(&one);
    notes_clear();
    assert_int_equal(store_mailbox_put("=large values", left), 0);
    close(left);
    late = 0;
}

/* As the next store. @return how many values it has */
static unsigned load_left(void)
{
    forget();
    assert_true(store_mailbox_peek(take, NULL) > 0);
    store_save_load_large();
    return count();
}

static void what_an_older_build_had_in_files_is_loaded(void **state)
{
    (void)state;
    leave();
    assert_int_equal(load_left(), VALUES);
    assert_int_equal(notes_count("loaded 60 items"), 1);
}

static void who_loads_them_hurries_when_httpd_stops(void **state)
{
    unsigned n;

    (void)state;
    leave();
    told_at = clock_ms();
    n = load_left();
    assert_in_range(n, 1, VALUES - 1);
    assert_in_range(late, HURRY, HURRY + 2 * STEP);
    assert_int_equal(notes_count("has to stop, so the rest is not loaded"), 1);
    assert_true(store_region_directory()->lacks);
}

static void a_load_that_is_given_up_leaves_the_file(void **state)
{
    struct stat before, after;

    (void)state;
    store_save_save(&files);
    assert_int_equal(fstat(file, &before), 0);
    forget();
    told_at = clock_ms();
    store_region_directory()->lacks = 1;
    assert_false(store_save_load(&files));
    assert_true(store_region_directory()->lacks);
    store_region_directory()->lacks = 0;
    assert_int_equal(fstat(file, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    told_at = 0;
    assert_true(store_save_load(&files));
    assert_int_equal(count(), VALUES);
    assert_false(store_region_directory()->lacks);
    assert_int_equal(fstat(file, &after), 0);
    assert_int_equal(after.st_size, 0);
}

/* The start has taken the rest of the time. */
static void a_save_has_what_is_left_since_sigterm(void **state)
{
    (void)state;
    told_at = clock_ms();
    late = LAST - HURRY;
    store_save_save(&files);
    assert_in_range(late, LAST, LAST + 2 * STEP);
    assert_int_equal(notes_count("no time was left"), 1);
    notes_clear();
    told_at = clock_ms();
    store_save_save(&files);
    assert_int_equal(notes_count("saved 60 items"), 1);
    assert_int_equal(notes_count("no time was left"), 0);
}

/* A store that was not told to stop has the whole time, too. */
static void the_time_of_a_save_is_configured(void **state)
{
    (void)state;
    store_save_configure(2, 0);
    store_save_save(&files);
    assert_in_range(late, 2000, 2000 + 2 * STEP);
    assert_int_equal(notes_count("no time was left for 4"), 1);
    assert_int_equal(notes_count("AppStoreSaveTime"), 1);
}

static void a_save_that_fails_is_no_part_of_a_copy(void **state)
{
    store_save_files_t one = {{-1, -1}};
    int pipes[2];

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    one.fd[0] = pipes[1];
    store_save_save(&one);
    assert_int_equal(notes_count("cannot be saved"), 1);
    assert_int_equal(notes_count("the file is not complete: up to 60 other "
                                 "items are missing"),
                     1);
    close(pipes[0]);
    close(pipes[1]);
    notes_clear();
    store_region_directory()->lacks = 1;
    store_save_save(&files);
    assert_int_equal(notes_count("they are a part of a copy"), 1);
}

/* The next master has to know it. */
static void the_history_comes_back(void **state)
{
    store_history_t *h = &store_region_directory()->history;
    store_history_t saved = {.number = 3, .n = 1, .epoch = {{4, 5}}};

    (void)state;
    *h = saved;
    store_save_save(&files);
    memset(h, 0, sizeof *h);
    forget();
    assert_true(store_save_load(&files));
    assert_memory_equal(h, &saved, sizeof saved);
    store_region_directory()->loaded = 0;
    h->number = 9;
    store_save_save(&files);
    h->epoch[0].id = 6;
    assert_true(store_save_load(&files));
    assert_int_equal(h->epoch[0].id, 6);
    store_region_directory()->loaded = 0;
    store_region_directory()->lacks = STORE_LACKS_ITEMS; /* it has none */
    store_save_save(&files);
    memset(h, 0, sizeof *h);
    assert_true(store_save_load(&files));
    assert_int_equal(h->n, 0);
}

/* No cas may be given twice, in no space. */
static void a_part_of_a_file_has_the_headers_of_all_spaces(void **state)
{
    store_space_t *blog;

    (void)state;
    serve("shop", "blog");
    blog = store_spaces_find("blog")->space;
    blog->entry->cas = 4711;
    store_region_directory()->history =
        (store_history_t){.number = 3, .n = 1, .epoch = {{4, 5}}};
    told_at = clock_ms();
    late = LAST - HURRY;
    store_save_save(&files);
    assert_int_equal(notes_count("no time was left"), 1);
    blog->entry->cas = 0;
    memset(&store_region_directory()->history, 0, sizeof(store_history_t));
    forget();
    told_at = 0;
    assert_true(store_save_load(&files));
    assert_int_equal(store_region_directory()->history.flags,
                     STORE_HISTORY_INCOMPLETE);
    assert_in_range(count(), 1, VALUES - 1);
    assert_int_equal(blog->entry->cas, 4711);
}

static void a_flush_that_came_due_meanwhile(void **state)
{
    (void)state;
    own.space->entry->flush_at = 1;
    store_save_save(&files);
    own.space->entry->flush_at = 0;
    forget();
    assert_true(store_save_load(&files));
    assert_int_equal(count(), 0);
}

/* Something is better than nothing: the watchdog may wait longer. */
static void a_save_that_begins_too_late_saves_something(void **state)
{
    int64_t began;

    (void)state;
    told_at = clock_ms();
    began = late = LAST + HURRY;
    store_save_save(&files);
    assert_in_range(late, began + LEAST, began + LEAST + 2 * STEP);
    forget();
    told_at = 0;
    assert_true(store_save_load(&files));
    assert_in_range(count(), 1, VALUES - 1);
}

/* So the time of SIGTERM is known, also if the start takes long. */
static void the_start_looks_for_sigterm(void **state)
{
    (void)state;
    asked = 0;
    serve("blog", NULL);
    assert_true(asked > 0);
}

int main(void)
{
#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, keeper_setup, keeper_teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_an_older_build_had_in_files_is_loaded),
        TEST(who_loads_them_hurries_when_httpd_stops),
        TEST(a_load_that_is_given_up_leaves_the_file),
        TEST(a_save_has_what_is_left_since_sigterm),
        TEST(the_time_of_a_save_is_configured),
        TEST(a_save_that_fails_is_no_part_of_a_copy),
        TEST(the_history_comes_back),
        TEST(a_part_of_a_file_has_the_headers_of_all_spaces),
        TEST(a_flush_that_came_due_meanwhile),
        TEST(a_save_that_begins_too_late_saves_something),
        TEST(the_start_looks_for_sigterm),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
