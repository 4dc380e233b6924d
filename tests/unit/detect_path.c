/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What an app's files put before PATH. */

#include "detect/detect_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/files.h"
#include "tests/unit/support/scene.h"

static void path_of_home(detect_path_t *path, const char *variable)
{
    detect_path("/home/ada", NULL, path);
    assert_string_equal(path->home, "/home/ada");
    assert_string_equal(path->root, files_dir);
    if (variable)
        assert_string_equal(path->variables[0], variable);
    assert_null(path->variables[variable ? 1 : 0]);
}

static void a_virtual_environment_stands_first_in_path(void **state)
{
    char expected[2 * TEMPORARY_MAX], variable[2 * TEMPORARY_MAX];
    detect_path_t path;

    (void)state;
    files_mkdir("env"); /* of any use */
    files_put(".venv/bin/python", "");
    path_of_home(&path, NULL);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    chmod(".venv/bin/python", 0700);
    snprintf(expected, sizeof expected, "%s/.venv/bin:" DETECT_PATH_STANDARD,
             files_dir);
    snprintf(variable, sizeof variable, "VIRTUAL_ENV=%s/.venv", files_dir);
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
    files_program(".rbenv/shims/ruby", "");
    detect_path(files_dir, NULL, &path);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    files_put(".ruby-version", "");
    detect_path("/home/ada", NULL, &path);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    detect_path(files_dir, NULL, &path);
    snprintf(expected, sizeof expected, "%s/.rbenv/shims:" DETECT_PATH_STANDARD,
             files_dir);
    assert_string_equal(path.path, expected);
}

/* Where rbenv is for all users, RBENV_ROOT says so. */
static void rbenv_has_another_root(void **state)
{
    char expected[3 * TEMPORARY_MAX], root[2 * TEMPORARY_MAX];
    detect_path_t path;

    (void)state;
    files_program(".rbenv/shims/ruby", "");
    files_put(".ruby-version", "");
    snprintf(root, sizeof root, "%s/.rbenv", files_dir);
    detect_path("/home/ada", root, &path);
    snprintf(expected, sizeof expected, "%s/shims:" DETECT_PATH_STANDARD, root);
    assert_string_equal(path.path, expected);
    detect_path(files_dir, "/nonexistent", &path);
    assert_string_equal(path.path, DETECT_PATH_STANDARD);
    detect_path(files_dir, ".rbenv", &path); /* rbenv would not find it */
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

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, files_begin, files_end)

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
