/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What an app's files put before PATH. */

#include "detect/detect_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"
#include "tests/unit/support/temporary.h"

static char directory[TEMPORARY_MAX];

static int begin(void **state)
{
    (void)state;
    return !temporary_dir(directory, "apl-unit-path") || chdir(directory) != 0;
}

static int finish(void **state)
{
    (void)state;
    unlink(".venv/bin/python");
    rmdir(".venv/bin");
    rmdir(".venv");
    rmdir("env");
    unlink(".ruby-version");
    unlink(".rbenv/shims/ruby");
    rmdir(".rbenv/shims");
    rmdir(".rbenv");
    return chdir("/") != 0 || rmdir(directory) != 0;
}

static void put(const char *name)
{
    FILE *f = fopen(name, "w");

    assert_non_null(f);
    fclose(f);
}

static void path_of_home(detect_path_t *path, const char *variable)
{
    detect_path("/home/ada", NULL, path);
    assert_string_equal(path->home, "/home/ada");
    assert_string_equal(path->root, directory);
    if (variable)
        assert_string_equal(path->variables[0], variable);
    assert_null(path->variables[variable ? 1 : 0]);
}

static void a_virtual_environment_stands_first_in_path(void **state)
{
    char expected[2 * TEMPORARY_MAX], variable[2 * TEMPORARY_MAX];
    detect_path_t path;

    (void)state;
    mkdir("env", 0700); /* of any use */
    mkdir(".venv", 0700);
    mkdir(".venv/bin", 0700);
    put(".venv/bin/python");
    path_of_home(&path, NULL);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    chmod(".venv/bin/python", 0700);
    snprintf(expected, sizeof expected, "%s/.venv/bin:" DETECT_PATH_STANDARD,
             directory);
    snprintf(variable, sizeof variable, "VIRTUAL_ENV=%s/.venv", directory);
    path_of_home(&path, variable);
    assert_string_equal(path.path, expected);
    detect_path_free(&path);
    assert_null(path.variables[0]);
}

/* Only together: an app may name a Ruby that another tool has installed. */
static void rbenv_needs_its_shims_and_a_version(void **state)
{
    char expected[2 * TEMPORARY_MAX];
    detect_path_t path;

    (void)state;
    mkdir(".rbenv", 0700);
    mkdir(".rbenv/shims", 0700);
    put(".rbenv/shims/ruby");
    chmod(".rbenv/shims/ruby", 0700);
    detect_path(directory, NULL, &path);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    put(".ruby-version");
    detect_path("/home/ada", NULL, &path);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    detect_path(directory, NULL, &path);
    snprintf(expected, sizeof expected, "%s/.rbenv/shims:" DETECT_PATH_STANDARD,
             directory);
    assert_string_equal(path.path, expected);
}

/* Where rbenv is for all users, RBENV_ROOT says so. */
static void rbenv_has_another_root(void **state)
{
    char expected[3 * TEMPORARY_MAX], root[2 * TEMPORARY_MAX];
    detect_path_t path;

    (void)state;
    mkdir(".rbenv", 0700);
    mkdir(".rbenv/shims", 0700);
    put(".rbenv/shims/ruby");
    chmod(".rbenv/shims/ruby", 0700);
    put(".ruby-version");
    snprintf(root, sizeof root, "%s/.rbenv", directory);
    detect_path("/home/ada", root, &path);
    snprintf(expected, sizeof expected, "%s/shims:" DETECT_PATH_STANDARD, root);
    assert_string_equal(path.path, expected);
    detect_path(directory, "/nonexistent", &path);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    detect_path(directory, ".rbenv", &path); /* rbenv would not find it */
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
}

/* A directory that does not fit, or that would become two, is left out. */
static void paths_and_variables_fit(void **state)
{
    char expected[PATH_MAX], full[PATH_MAX];
    detect_path_t path;
    int i;

    (void)state;
    path_of_home(&path, NULL);
    detect_path_before(&path, "/a/%s", "b:c");
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    detect_path_before(&path, "/%s", "a");
    detect_path_before(&path, "/%s", "b");
    assert_string_equal(path.path, "/a:/b:" DETECT_PATH_STANDARD);
    memset(full, 'x', sizeof full);
    full[PATH_MAX - sizeof "/a:/b::" DETECT_PATH_STANDARD + 1] = 0;
    snprintf(expected, sizeof expected, "%s", path.path);
    detect_path_before(&path, "%s", full);
    assert_string_equal(path.path, expected);
    full[strlen(full) - 1] = 0;
    detect_path_before(&path, "%s", full);
    assert_int_equal(strlen(path.path), PATH_MAX - 1);
    for (i = 0; i <= DETECT_PATH_VARIABLES; i++)
        detect_path_set(&path, "V%d=%s", i, "x");
    assert_string_equal(path.variables[DETECT_PATH_VARIABLES - 1], "V7=x");
    assert_null(path.variables[DETECT_PATH_VARIABLES]);
    detect_path_free(&path);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_virtual_environment_stands_first_in_path),
        TEST(rbenv_needs_its_shims_and_a_version),
        TEST(rbenv_has_another_root),
        TEST(paths_and_variables_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
