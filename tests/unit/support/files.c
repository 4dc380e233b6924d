/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

char files_dir[TEMPORARY_MAX];

int files_begin(void **state)
{
    (void)state;
    return !temporary_dir(files_dir, "apl-unit-app") || chdir(files_dir) != 0;
}

int files_end(void **state)
{
    (void)state;
    return chdir("/") != 0 || temporary_remove(files_dir) != 0;
}

/* The directories above a path. */
static void make_above(const char *path)
{
    char dir[256];
    const char *slash = path;

    while ((slash = strchr(slash + 1, '/')) != NULL) {
        snprintf(dir, sizeof dir, "%.*s", (int)(slash - path), path);
        mkdir(dir, 0755);
    }
}

void files_mkdir(const char *path)
{
    make_above(path);
    if (mkdir(path, 0755) != 0)
        assert_int_equal(errno, EEXIST);
}

static void put(const char *path, const char *text, mode_t mode)
{
    FILE *f;

    make_above(path);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

void files_put(const char *path, const char *text)
{
    put(path, text, 0644);
}

void files_program(const char *path, const char *text)
{
    put(path, text, 0755);
}
