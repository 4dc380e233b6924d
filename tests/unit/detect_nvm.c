/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which version of node an app gets that nvm has installed. */

#include "detect/detect_path.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

#define VERSIONS ".nvm/versions/node/"

/* The app is in its user's home, so all of this is in one directory. */
static const char *const versions[] = {
    "v9.11.2",     "v18.20.8", "v20.9.0",
    "v20.20.2",    "v20.20", /* none of nvm's */
    "v22.1.0-rc1", "v23.1"};

static int begin(void **state)
{
    char path[64];
    size_t i;

    if (files_begin(state) != 0)
        return 1;
    for (i = 0; i < sizeof versions / sizeof *versions; i++) {
        snprintf(path, sizeof path, VERSIONS "%s", versions[i]);
        files_mkdir(path);
    }
    files_put(".nvm/alias/default", "lts/iron\n");
    files_put(".nvm/alias/lts/iron", "v20.9.0\n");
    files_put(".nvm/alias/loop", "loop\n");
    files_put(".nvm/alias/empty", "\n");
    return 0;
}

/* @param version of node that stands first in PATH; NULL: none of nvm's does */
static void expect(const char *at, const char *version)
{
    static detect_path_t path;
    char expected[PATH_MAX];

    detect_path(at, NULL, &path);
    if (version)
        snprintf(expected, sizeof expected,
                 "%s/" VERSIONS "%s/bin:" DETECT_PATH_STANDARD, at, version);
    else
        snprintf(expected, sizeof expected, DETECT_PATH_STANDARD);
    assert_string_equal(path.path, expected);
    detect_path_free(&path);
}

static void a_file_names_the_version(void **state)
{
    static const struct {
        const char *text, *version;
    } cases[] = {
        {"v20.9.0\n", "v20.9.0"},
        {"20.9.0", "v20.9.0"},
        {"20", "v20.20.2"}, /* the newest, by its numbers */
        {"v20.20\n", "v20.20.2"},
        {"  18\t\n# ours\n", "v18.20.8"},
        {"9", "v9.11.2"},
        {"node", "v20.20.2"},
        {"stable", "v20.20.2"},
        {"lts/iron", "v20.9.0"},
        {"default", "v20.9.0"},
        {"22", NULL},
        {"23", NULL},
        {"2", NULL},
        {"20.9.1", NULL},
        {"20.x", NULL},
        {"20.9.0.1", NULL},
        {"99999999999999999999", NULL},
        {"v", NULL},
        {"loop", NULL},
        {"empty", NULL},
        {"lts/*", NULL},
        {"../versions", NULL},
        {"\n", NULL},
    };
    size_t i;

    (void)state;
    expect(files_dir, NULL);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        files_put(".nvmrc", cases[i].text);
        expect(files_dir, cases[i].version);
    }
}

static void nvmrc_goes_first(void **state)
{
    (void)state;
    files_put(".node-version", "18.20.8\n");
    expect(files_dir, "v18.20.8");
    files_put(".nvmrc", "20");
    expect(files_dir, "v20.20.2");
    expect("/nonexistent", NULL);
    files_put(".nvmrc", "");
    expect(files_dir, "v18.20.8");
}

/* A FIFO or a device is not opened. */
static void only_a_file_is_read(void **state)
{
    int fifo, opened = inotify_init1(IN_NONBLOCK);
    struct inotify_event event;

    (void)state;
    assert_int_equal(mkfifo(".nvmrc", 0600), 0);
    fifo = open(".nvmrc", O_RDWR);
    assert_int_equal(write(fifo, "20\n", 3), 3);
    assert_true(inotify_add_watch(opened, ".nvmrc", IN_OPEN) >= 0);
    expect(files_dir, NULL);
    assert_int_equal(read(opened, &event, sizeof event), -1);
    close(opened);
    close(fifo);
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, begin, files_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_names_the_version),
        TEST(nvmrc_goes_first),
        TEST(only_a_file_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
