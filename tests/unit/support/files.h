/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/**
 * @file files.h
 * @brief The files of an app, in a directory of their own, which is the current
 *        one while a test runs.
 *
 * Errors: the test fails.
 */
#ifndef APPPOOL_TESTS_UNIT_SUPPORT_FILES_H
#define APPPOOL_TESTS_UNIT_SUPPORT_FILES_H

#include "tests/unit/support/temporary.h"

/** The directory of the test that runs. */
extern char files_dir[TEMPORARY_MAX];

/** A setup of cmocka: make the directory, and change into it. */
int files_begin(void **state);

/** A teardown of cmocka: remove it with all that is in it. */
int files_end(void **state);

/** Make a directory, and those above it, where they are missing. */
void files_mkdir(const char *path);

/** Write a file, in place of another one. Its directory is made. */
void files_put(const char *path, const char *text);

/** The same, and it may be executed. */
void files_program(const char *path, const char *text);

#endif
