/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which version of a language an app gets that asdf, mise, chruby or pyenv has
 * installed for its user. */

#include "detect/detect_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

#define MISE ".local/share/mise/installs/"
#define ASDF ".asdf/installs/"

/* The app is in its user's home, so all of this is in one directory. */
static const char *const directories[] = {
    MISE "node/20/bin",           ASDF "ruby/3.3.0/bin",
    ASDF "nodejs/18.1.0/bin",     ".rubies/ruby-3.2.2/bin",
    ".pyenv/versions/3.11.8/bin", ".pyenv/versions/3.11.9/bin",
    ".pyenv/versions/3.11.10/bin"};

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
    {".python-version", "3.11\n", {".pyenv/versions/3.11.10/bin"}},
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

static int begin(void **state)
{
    size_t i;

    if (files_begin(state) != 0)
        return 1;
    for (i = 0; i < sizeof directories / sizeof *directories; i++)
        files_mkdir(directories[i]);
    return 0;
}

static void files_name_versions(void **state)
{
    static detect_path_t path;
    char expected[4096];
    size_t i, k, n;

    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        files_put(rows[i].file, rows[i].text);
        n = 0;
        for (k = 0; k < 3 && rows[i].path[k]; k++)
            n += (size_t)snprintf(expected + n, sizeof expected - n,
                                  "%s/%s:", files_dir, rows[i].path[k]);
        snprintf(expected + n, sizeof expected - n, DETECT_PATH_STANDARD);
        detect_path(files_dir, NULL, &path);
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

    return cmocka_run_group_tests(tests, begin, files_end);
}
