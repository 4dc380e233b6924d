/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Files that the user of an app has left are removed, and nothing else. */

#include "system/beneath.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/heartbeat.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

#define LEVELS 5000

static char place[TEMPORARY_MAX];
static int top = -1;

static int setup(void **state)
{
    (void)state;
    if (!temporary_dir(place, "remove"))
        return -1;
    top = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return mkdirat(top, "tree", 0700);
}

static int teardown(void **state)
{
    (void)state;
    close(top);
    return rmdir(place);
}

static void make_file(const char *name)
{
    int fd = openat(top, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
}

static int exists(const char *name)
{
    struct stat st;

    return fstatat(top, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void a_file_and_a_tree(void **state)
{
    (void)state;
    make_file("file");
    beneath_remove(top, "file");
    assert_false(exists("file"));
    assert_int_equal(mkdirat(top, "tree/a", 0700), 0);
    assert_int_equal(mkdirat(top, "tree/a/b", 0), 0);
    make_file("tree/a/file");
    beneath_remove(top, "tree");
    assert_false(exists("tree"));
    beneath_remove(top, "tree");
}

/* A tree that is deeper than a path can be and than the number of descriptors.
 * Also entries that have the name of a directory that is moved. */
static void a_deep_tree(void **state)
{
    int at = openat(top, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC), i, next;

    (void)state;
    make_file("tree/.lifted-0");
    assert_int_equal(mkdirat(top, "tree/.lifted-1", 0700), 0);
    make_file("tree/.lifted-1/file");
    for (i = 0; i < LEVELS; i++) {
        assert_int_equal(mkdirat(at, "deep", 0700), 0);
        assert_int_equal(mkdirat(at, "beside", 0700), 0);
        next = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        close(at);
        at = next;
    }
    close(at);
    beneath_remove(top, "tree");
    assert_false(exists("tree"));
}

static void a_link_leads_nowhere(void **state)
{
    (void)state;
    make_file("mine");
    assert_int_equal(symlinkat("..", top, "tree/up"), 0);
    assert_int_equal(symlinkat(place, top, "link"), 0);
    beneath_remove(top, "tree");
    assert_false(exists("tree"));
    beneath_remove(top, "link");
    assert_false(exists("link"));
    assert_true(exists("mine"));
    beneath_remove(top, "mine");
}

/* Another user has to remove that. */
static void a_mount_is_not_entered(void **state)
{
    char path[sizeof place + 20];

    (void)state;
    assert_int_equal(mkdirat(top, "tree/mount", 0700), 0);
    snprintf(path, sizeof path, "%s/tree/mount", place);
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", path, "tmpfs", 0, NULL) != 0) {
        beneath_remove(top, "tree");
        skip(); /* that is for root */
    }
    close(top); /* it knows the mounts of the namespace before */
    top = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    make_file("tree/mount/file");
    make_file("tree/file");
    beneath_remove(top, "tree/mount");
    beneath_remove(top, "tree");
    assert_true(exists("tree/mount/file"));
    assert_false(exists("tree/file"));
    assert_int_equal(umount(path), 0);
    beneath_remove(top, "tree");
    assert_false(exists("tree"));
}

/* The clock: each look at it takes a second. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    static time_t now = 1000;

    (void)clock;
    *t = (struct timespec){now++, 0};
    return 0;
}

/* It may take long, so the program sends heartbeats meanwhile. */
static void the_program_beats(void **state)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    heartbeat_t pulse = {0};

    (void)state;
    heartbeat_begin(top, "beat");
    assert_int_equal(utimensat(top, "beat", times, 0), 0);
    heartbeat_check(&pulse, top, "beat");
    make_file("tree/file");
    beneath_remove(top, "tree");
    assert_int_equal(heartbeat_check(&pulse, top, "beat"), 0);
    heartbeat_forget();
    beneath_remove(top, "beat");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_and_a_tree), TEST(a_deep_tree), TEST(a_link_leads_nowhere),
        TEST(a_mount_is_not_entered), TEST(the_program_beats)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
