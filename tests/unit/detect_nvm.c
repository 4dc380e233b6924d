/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which version of node an app gets that nvm has installed. */

#include "detect/detect_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

#define VERSIONS ".nvm/versions/node/"

/* The app is in its user's home, so all of this is in one directory. */
static const char *const directories[] = {".nvm",
                                          ".nvm/alias",
                                          ".nvm/alias/lts",
                                          ".nvm/versions",
                                          ".nvm/versions/node",
                                          VERSIONS "v9.11.2",
                                          VERSIONS "v18.20.8",
                                          VERSIONS "v20.9.0",
                                          VERSIONS "v20.20.2",
                                          VERSIONS "v20.20", /* none of nvm's */
                                          VERSIONS "v22.1.0-rc1",
                                          VERSIONS "v23.1"};
#define N (sizeof directories / sizeof *directories)

static char home[TEMPORARY_MAX];

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int begin(void **state)
{
    size_t i;

    (void)state;
    if (!temporary_dir(home, "apl-unit-nvm") || chdir(home) != 0)
        return 1;
    for (i = 0; i < N; i++)
        if (mkdir(directories[i], 0700) != 0)
            return 1;
    put(".nvm/alias/default", "lts/iron\n");
    put(".nvm/alias/lts/iron", "v20.9.0\n");
    put(".nvm/alias/loop", "loop\n");
    put(".nvm/alias/empty", "\n");
    return 0;
}

static int finish(void **state)
{
    static const char *const files[] = {".nvm/alias/default",
                                        ".nvm/alias/lts/iron",
                                        ".nvm/alias/loop",
                                        ".nvm/alias/empty",
                                        ".nvmrc",
                                        ".node-version"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    for (i = N; i > 0; i--)
        rmdir(directories[i - 1]);
    return chdir("/") != 0 || rmdir(home) != 0;
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
    expect(home, NULL);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(".nvmrc", cases[i].text);
        expect(home, cases[i].version);
    }
}

static void nvmrc_goes_first(void **state)
{
    (void)state;
    put(".node-version", "18.20.8\n");
    expect(home, "v18.20.8");
    put(".nvmrc", "20");
    expect(home, "v20.20.2");
    expect("/nonexistent", NULL);
    put(".nvmrc", "");
    expect(home, "v18.20.8");
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_names_the_version),
        TEST(nvmrc_goes_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
