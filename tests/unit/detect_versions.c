/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which version of a language an app gets that asdf, mise, chruby or pyenv has
 * installed for its user. */

#include "detect/detect_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

#define MISE ".local/share/mise/installs/"
#define ASDF ".asdf/installs/"

/* The app is in its user's home, so all of this is in one directory. Each comes
 * after the directory that it is in. */
static const char *const directories[] = {".local",
                                          ".local/share",
                                          ".local/share/mise",
                                          MISE,
                                          MISE "node",
                                          MISE "node/20",
                                          MISE "node/20/bin",
                                          ".asdf",
                                          ASDF,
                                          ASDF "ruby",
                                          ASDF "ruby/3.3.0",
                                          ASDF "ruby/3.3.0/bin",
                                          ASDF "nodejs",
                                          ASDF "nodejs/18.1.0",
                                          ASDF "nodejs/18.1.0/bin",
                                          ".rubies",
                                          ".rubies/ruby-3.2.2",
                                          ".rubies/ruby-3.2.2/bin",
                                          ".pyenv",
                                          ".pyenv/versions",
                                          ".pyenv/versions/3.11.8",
                                          ".pyenv/versions/3.11.8/bin",
                                          ".pyenv/versions/3.11.9",
                                          ".pyenv/versions/3.11.9/bin"};
#define N (sizeof directories / sizeof *directories)

/* A file, its text, and what stands in PATH before the standard one. */
static const struct {
    const char *file, *text, *path[3];
} rows[] = {
    {".ruby-version", "ruby-3.2.2\n", {".rubies/ruby-3.2.2/bin"}},
    {".ruby-version", "3.2.2\n", {".rubies/ruby-3.2.2/bin"}},
    {".ruby-version", "3.3.0", {ASDF "ruby/3.3.0/bin"}},
    {".ruby-version", "2.7.0\n", {NULL}},
    {".ruby-version", "", {NULL}},
    {".ruby-version", "../../../x\n", {NULL}},
    {".ruby-version", "*\n", {NULL}},
    {".python-version", "3.11\n", {".pyenv/versions/3.11.9/bin"}},
    {".python-version", "3.11.8\n", {".pyenv/versions/3.11.8/bin"}},
    {".python-version", "3.1\n", {NULL}},
    {".tool-versions",
     "# tools\nruby 3.3.0\r\nnode 18.1.0\nterraform 1.0\n",
     {ASDF "ruby/3.3.0/bin", ASDF "nodejs/18.1.0/bin"}},
    {".tool-versions", "nodejs 20\n", {MISE "node/20/bin"}},
    {"mise.toml",
     "[env]\nruby = \"3.2.2\"\n[tools]\nnode = \"20\"\nruby = \"3.3.0\"\n",
     {MISE "node/20/bin", ASDF "ruby/3.3.0/bin"}},
};

static char home[TEMPORARY_MAX];

static int begin(void **state)
{
    size_t i;

    (void)state;
    if (!temporary_dir(home, "apl-unit-versions") || chdir(home) != 0)
        return 1;
    for (i = 0; i < N; i++)
        if (mkdir(directories[i], 0700) != 0)
            return 1;
    return 0;
}

static int end(void **state)
{
    size_t i;

    (void)state;
    for (i = N; i-- > 0;)
        rmdir(directories[i]);
    return chdir("/") | rmdir(home);
}

static void files_name_versions(void **state)
{
    static detect_path_t path;
    char expected[4096];
    size_t i, k, n;
    FILE *f;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        f = fopen(rows[i].file, "w");
        assert_non_null(f);
        fputs(rows[i].text, f);
        fclose(f);
        n = 0;
        for (k = 0; k < 3 && rows[i].path[k]; k++)
            n += (size_t)snprintf(expected + n, sizeof expected - n,
                                  "%s/%s:", home, rows[i].path[k]);
        snprintf(expected + n, sizeof expected - n, DETECT_PATH_STANDARD);
        detect_path(home, NULL, &path);
        assert_string_equal(path.path, expected);
        detect_path("relative", NULL, &path);
        assert_string_equal(path.path, DETECT_PATH_STANDARD);
        unlink(rows[i].file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_name_versions),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
