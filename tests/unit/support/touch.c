/* Licensed under the Apache License, Version 2.0; see LICENSE. */

#include "tests/unit/support/touch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"

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

void touch_replace(const char *name, time_t mtime)
{
    char other[128];

    touch("other", mtime);
    snprintf(other, sizeof other, "%s", touch_path("other"));
    assert_int_equal(rename(other, touch_path(name)), 0);
}

uint64_t touch_serve(scene_t *s, const apl_app_t *a)
{
    apl_session_ref_t h;
    apl_restart_seen_t look;
    uint64_t id;
    uint32_t group = apl_group_index(&s->pool, a->key, a->name);
    int looked = apl_restart_poll(&s->pool, group, touch_dir, s->now, &look);
    apr_status_t rv =
        apl_checkout(&s->pool, &h, a, NULL, looked ? &look : NULL, s->now);

    scene_ok(s);
    while (rv == APL_EWAIT && scene_reap(s) + scene_spawn(s) > 0)
        rv = scene_poll(s, &h);
    assert_int_equal(rv, APR_SUCCESS);
    id = h.id;
    scene_close(s, &h);
    scene_reap(s);
    return id;
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
