/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* One touch of restart.txt restarts once, whoever looks, and however. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/group.h"
#include "tests/unit/scene.h"

static char dir[64];

static const char *path(const char *name)
{
    static char buf[128];

    snprintf(buf, sizeof buf, "%s/%s", dir, name);
    return buf;
}

static void touch(const char *name, time_t mtime)
{
    struct timespec times[2] = {{mtime, 0}, {mtime, 0}};

    close(open(path(name), O_CREAT | O_WRONLY, 0644));
    assert_int_equal(utimensat(AT_FDCWD, path(name), times, 0), 0);
}

static int begin(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/apl-restart-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int finish(void **state)
{
    (void)state;
    unlink(path("restart.txt"));
    rmdir(path("restart.txt"));
    unlink(path("always_restart.txt"));
    rmdir(path("always_restart.txt"));
    return rmdir(dir);
}

/* A request that looks at the files; its process's id. */
static uint64_t serve(scene_t *s, const apl_app_t *a)
{
    apl_hold_t h;
    apl_look_t look;
    uint64_t id;
    uint32_t group = apl_group_index(&s->pool, a->key, a->name);
    int looked = apl_restart_look(&s->pool, group, dir, s->now, &look);
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

static void a_new_file_restarts_all_processes_once(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;
    uint64_t id;

    (void)state;
    serve(s, a);
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &h2, a), APR_SUCCESS);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_is(s, 2, 0);
    touch("restart.txt", 1000);
    id = serve(s, a);
    scene_is(s, 1, 0);
    assert_int_equal(access(path("restart.txt"), F_OK), 0);
    assert_true(serve(s, a) == id);
    /* To an older time, and by content alone. */
    touch("restart.txt", 500);
    assert_true(serve(s, a) != id);
    id = serve(s, a);
    assert_true(serve(s, a) == id);
    unlink(path("restart.txt"));
    assert_true(serve(s, a) == id);
    touch("restart.txt", 500);
    assert_true(serve(s, a) != id);
    assert_int_equal(s->pool.header->counters.restarts, 3);
    scene_end(s);
}

static void a_file_that_was_there_before_is_only_recorded(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    uint64_t id;

    (void)state;
    assert_int_equal(mkdir(path("restart.txt"), 0755), 0);
    id = serve(s, a);
    assert_true(serve(s, a) == id);
    touch("restart.txt", 77);
    assert_true(serve(s, a) != id);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

static void who_looked_before_another_restarts_nothing(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_look_t early;
    apl_hold_t h;
    uint64_t id;

    (void)state;
    serve(s, a);
    assert_int_equal(apl_restart_look(&s->pool, 1, dir, s->now, &early), 1);
    touch("restart.txt", 1000);
    id = serve(s, a);
    /* The slow one saw no file: neither a restart nor its old news count. */
    assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, &early, s->now),
                     APR_SUCCESS);
    assert_true(h.id == id);
    scene_close(s, &h);
    assert_true(serve(s, a) == id);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

static void always_restart_loads_the_code_for_each_request(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    uint64_t id = 0;
    int i;

    (void)state;
    serve(s, a);
    touch("always_restart.txt", 1000);
    for (i = 0; i < 4; i++) {
        uint64_t next = serve(s, a);

        assert_true(next != id);
        id = next;
        scene_is(s, 1, 0);
        if (i == 1)
            touch("restart.txt", 1000);
    }
    assert_int_equal(access(path("restart.txt"), F_OK), 0);
    assert_int_equal(access(path("always_restart.txt"), F_OK), 0);
    unlink(path("always_restart.txt"));
    assert_true(serve(s, a) == id);
    scene_end(s);
}

static void waiters_under_always_restart_get_a_process_each(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;
    uint64_t id;

    (void)state;
    touch("always_restart.txt", 1000);
    serve(s, a);
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    id = h1.id;
    assert_int_equal(apl_checkout(&s->pool, &h2, a, NULL, NULL, s->now),
                     APL_EWAIT);
    scene_close(s, &h1);
    scene_reap(s);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_true(h2.id != id);
    scene_close(s, &h2);
    scene_end(s);
}

static void a_booting_process_of_the_old_code_is_dropped(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_hold_t h1, h2;
    apl_look_t look;
    uint64_t old;

    (void)state;
    serve(s, a);
    assert_int_equal(scene_ask(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &h2, a), APL_EWAIT);
    old = scene_take(s);
    touch("restart.txt", 1000);
    assert_int_equal(apl_restart_look(&s->pool, 1, dir, s->now, &look), 1);
    scene_close(s, &h2);
    assert_int_equal(apl_checkout(&s->pool, &h2, a, NULL, &look, s->now),
                     APL_EWAIT);
    scene_ok(s);
    assert_int_equal(apl_supervise_ready(&s->pool, old, s->now), APL_ESTALE);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_true(h2.id != old && h2.id != h1.id);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void the_room_it_makes_goes_to_who_waits_longest(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_hold_t h, first, later;
    apl_look_t look;

    (void)state;
    serve(s, a);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &first, b), APL_EWAIT);
    touch("restart.txt", 1000);
    assert_int_equal(apl_restart_look(&s->pool, 1, dir, s->now, &look), 1);
    assert_int_equal(apl_checkout(&s->pool, &later, a, NULL, &look, s->now),
                     APL_EWAIT);
    scene_is(s, 0, 0);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &first), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &later), APL_EWAIT);
    scene_close(s, &h);
    scene_close(s, &first);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &later), APR_SUCCESS);
    scene_close(s, &later);
    scene_end(s);
}

static void the_interval_spares_the_disk(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_look_t look;

    (void)state;
    a->options.stat_interval = 5000000;
    serve(s, a);
    assert_int_equal(apl_restart_look(&s->pool, 1, dir, s->now, &look), 0);
    s->now += 5000000;
    assert_int_equal(apl_restart_look(&s->pool, 1, dir, s->now, &look), 1);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_file_restarts_all_processes_once,
                                        begin, finish),
        cmocka_unit_test_setup_teardown(
            a_file_that_was_there_before_is_only_recorded, begin, finish),
        cmocka_unit_test_setup_teardown(
            who_looked_before_another_restarts_nothing, begin, finish),
        cmocka_unit_test_setup_teardown(
            always_restart_loads_the_code_for_each_request, begin, finish),
        cmocka_unit_test_setup_teardown(
            waiters_under_always_restart_get_a_process_each, begin, finish),
        cmocka_unit_test_setup_teardown(
            a_booting_process_of_the_old_code_is_dropped, begin, finish),
        cmocka_unit_test_setup_teardown(
            the_room_it_makes_goes_to_who_waits_longest, begin, finish),
        cmocka_unit_test_setup_teardown(the_interval_spares_the_disk, begin,
                                        finish),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
