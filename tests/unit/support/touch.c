/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/touch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/support/scene.h"

char touch_dir[TEMPORARY_MAX];

const char *touch_path(const char *name)
{
    static char buf[128];

    snprintf(buf, sizeof buf, "%s/%s", touch_dir, name);
    return buf;
}

void touch(const char *name, time_t mtime)
{
    struct timespec times[2] = {{mtime, 0}, {mtime, 0}};

    close(open(touch_path(name), O_CREAT | O_WRONLY, 0644));
    assert_int_equal(utimensat(AT_FDCWD, touch_path(name), times, 0), 0);
}

int touch_begin(void **state)
{
    (void)state;
    return temporary_dir(touch_dir, "apl-restart") == NULL;
}

int touch_end(void **state)
{
    (void)state;
    remove(touch_path("restart.txt"));
    remove(touch_path("always_restart.txt"));
    return rmdir(touch_dir);
}
