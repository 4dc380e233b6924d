/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Whether restart.txt is another file than at the start of a process. No time of
 * a file is compared with a clock. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/touch.h"

static void a11_due_when_it_appears_or_is_another(void **state)
{
    apl_group_t g = {.stamp_seq = 3, .stamp.file = 77};
    apl_restart_seen_t look = {.seq = 3, .stamp.file = 77};

    (void)state;
    assert_false(apl_restart_due(NULL, &g, &look));
    look.stamp.file = 76; /* an older one may have any number */
    assert_true(apl_restart_due(NULL, &g, &look));
    look.stamp.file = APL_STAMP_NO_FILE; /* deleted */
    assert_false(apl_restart_due(NULL, &g, &look));
    g.stamp.file = APL_STAMP_NO_FILE;
    look.stamp.file = 77;
    assert_true(apl_restart_due(NULL, &g, &look));
    look.seq = 2;
    assert_false(apl_restart_due(NULL, &g, &look));
}

/* Started ahead of all requests, so the first one finds it and the file. */
static uint64_t start_ahead(scene_t *s, apl_app_t *a)
{
    int64_t next;

    a->options.min_instances = 1;
    assert_int_equal(apl_configure_group(&s->pool, a, 1, s->now), APR_SUCCESS);
    assert_int_equal(apl_housekeeping_tick(&s->pool, s->now, &next),
                     APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    return s->pool.processes[1].id;
}

/* ---- what a change is ---- */

static void touched(void)
{
    touch("restart.txt", 1001);
}

static void restored_from_a_backup(void)
{
    touch("restart.txt", 1);
}

/* By a host whose clock is ahead, or before the clock here was set back. */
static void of_the_year_2100(void)
{
    touch("restart.txt", 4102444800);
}

static void written_to(void)
{
    FILE *f = fopen(touch_path("restart.txt"), "w");

    assert_non_null(f);
    fputs("release 2", f);
    assert_int_equal(fclose(f), 0);
    touch("restart.txt", 1000);
}

/* By another file with its times and its size. */
static void replaced(void)
{
    touch_replace("restart.txt", 1000);
}

static void removed(void)
{
    assert_int_equal(unlink(touch_path("restart.txt")), 0);
}

static void removed_and_made_again(void)
{
    removed();
    touch("restart.txt", 1002);
}

static void a_directory(void)
{
    removed();
    assert_int_equal(mkdir(touch_path("restart.txt"), 0755), 0);
}

static void nothing(void)
{
}

/* The clock of the pool stands still meanwhile, as that of a machine that
 * sleeps. No time of a file is compared with it. */
static void a11_another_file_than_at_the_start_restarts_once(void **state)
{
    static const struct {
        void (*change)(void);
        uint64_t restarts;
    } rows[] = {{touched, 1},          {restored_from_a_backup, 1},
                {of_the_year_2100, 1}, {written_to, 1},
                {replaced, 1},         {removed_and_made_again, 1},
                {a_directory, 1},      {removed, 0},
                {nothing, 0}};
    size_t i;

    (void)state;
    for (i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        scene_t *s = scene_new(2);
        apl_app_t *a = scene_app(s, "a");
        uint64_t old, id;

        touch("restart.txt", 1000);
        s->dir = touch_dir;
        old = start_ahead(s, a);
        if (i % 2) /* a request has looked before */
            assert_true(touch_serve(s, a) == old);
        rows[i / 2].change();
        id = touch_serve(s, a);
        assert_int_equal(id != old, rows[i / 2].restarts);
        assert_true(touch_serve(s, a) == id);
        assert_int_equal(s->pool.header->counters.restarts,
                         rows[i / 2].restarts);
        scene_end(s);
        remove(touch_path("restart.txt"));
    }
}

static void a11_a_file_that_was_not_there_at_the_start(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint64_t old;

    (void)state;
    s->dir = touch_dir;
    old = start_ahead(s, a);
    touch("restart.txt", 1000);
    assert_true(touch_serve(s, a) != old);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

static void a11_always_whatever_time_it_has(void **state)
{
    static const time_t times[] = {1, 1000, 4102444800};
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint64_t before = 0;
    size_t i;

    (void)state;
    for (i = 0; i < 2 * sizeof times / sizeof *times; i++) {
        uint64_t id;

        touch("always_restart.txt", times[i / 2]);
        id = touch_serve(s, a);
        assert_true(id != before);
        before = id;
    }
    assert_int_equal(s->pool.header->counters.restarts, 0);
    scene_end(s);
}

/* ---- before the first look ---- */

/* A process that was forked, and whose stamp is not known yet. */
static uint64_t begin_start(scene_t *s, apl_app_t *a)
{
    const apl_start_t start = {.identity = {4711, 0, 1}, .wire = scene_wire};
    apl_order_t order;
    int64_t next;

    a->options.min_instances = 1;
    assert_int_equal(apl_configure_group(&s->pool, a, 1, s->now), APR_SUCCESS);
    assert_int_equal(apl_housekeeping_tick(&s->pool, s->now, &next),
                     APR_SUCCESS);
    assert_int_equal(
        apl_supervise_next_order(&s->pool, 1 << 20, s->now, &order),
        APR_SUCCESS);
    assert_int_equal(apl_supervise_forked(&s->pool, order.id, &start, s->now),
                     APR_SUCCESS);
    return order.id;
}

/* Its report comes late: it has this stamp. */
static void report(scene_t *s, uint64_t id, uint64_t stamp)
{
    apl_start_t start = scene_start(4711);

    start.stamp = stamp;
    assert_int_equal(apl_supervise_forked(&s->pool, id, &start, s->now),
                     APR_SUCCESS);
}

/* A request that looks, and does not wait. */
static void look(scene_t *s, const apl_app_t *a)
{
    apl_session_ref_t h;
    apl_restart_seen_t seen;

    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &seen),
                     1);
    assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, &seen, s->now),
                     APL_EWAIT);
    scene_close(s, &h);
}

static void a11_a_start_that_was_not_heard_yet(void **state)
{
    const uint64_t *file;
    int of_this_file;

    (void)state;
    for (of_this_file = 0; of_this_file < 2; of_this_file++) {
        scene_t *s = scene_new(2);
        apl_app_t *a = scene_app(s, "a");
        uint64_t id = begin_start(s, a);

        file = &s->pool.groups[1].stamp.file;
        touch("restart.txt", 1000);
        look(s, a);
        look(s, a);
        assert_int_equal(*file, APL_STAMP_UNKNOWN);
        report(s, id, of_this_file ? apl_restart_stamp(touch_dir) : 77);
        look(s, a);
        assert_true(*file == apl_restart_stamp(touch_dir));
        assert_int_equal(s->pool.header->counters.restarts, !of_this_file);
        scene_end(s);
    }
}

/* It was to become ready first. Nobody knows its code. */
static void a11_a_process_of_which_nothing_is_known(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint64_t old = begin_start(s, a), id;

    (void)state;
    scene_ready(s, old);
    touch("restart.txt", 1000);
    s->dir = touch_dir;
    id = touch_serve(s, a);
    assert_true(id != old);
    assert_true(touch_serve(s, a) == id);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

static void a11_a_template_of_the_code_before(void **state)
{
    static const struct {
        uint32_t state;
        uint64_t stamp, restarts;
        int decided;
    } rows[] = {{APL_TEMPLATE_READY, 77, 1, 1},
                {APL_TEMPLATE_LOADING, 77, 1, 1},
                {APL_TEMPLATE_LOADING, APL_STAMP_NO_FILE, 1, 1},
                {APL_TEMPLATE_LOADING, APL_STAMP_UNKNOWN, 0, 0},
                {APL_TEMPLATE_READY, 0, 0, 1}}; /* that of the file */
    size_t i;

    (void)state;
    touch("restart.txt", 1000);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        scene_t *s = scene_new(2);
        apl_app_t *a = scene_app(s, "a");
        apl_group_t *g = &s->pool.groups[1];

        assert_int_equal(apl_configure_group(&s->pool, a, 1, s->now),
                         APR_SUCCESS);
        g->template.state = rows[i].state;
        g->template.stamp = rows[i].decided && rows[i].stamp == 0
                                ? apl_restart_stamp(touch_dir)
                                : rows[i].stamp;
        look(s, a);
        assert_int_equal(s->pool.header->counters.restarts, rows[i].restarts);
        assert_int_equal(g->stamp.file != APL_STAMP_UNKNOWN, rows[i].decided);
        scene_end(s);
    }
}

/* The start before the first request failed. Nobody knows whether it had the
 * code of today, so the first request does not wait for the pause to end. */
static void a11_a_failed_start_before_the_first_look(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    uint64_t old;

    (void)state;
    old = begin_start(s, a);
    report(s, old, APL_STAMP_NO_FILE);
    scene_failed(s, old);
    assert_true(s->pool.groups[1].retry_at > s->now);
    touch("restart.txt", 1000);
    touch_serve(s, a);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

/* After damage, and after the spawner has died. */
static void a11_a_process_that_is_put_back_has_its_stamp(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_start_t start = scene_start(4711);
    uint64_t id;

    (void)state;
    id = start_ahead(s, a);
    s->pool.groups[1].options.min_instances = 0;
    apl_supervise_gone(&s->pool, id, s->now);
    start.stamp = 77;
    assert_int_equal(apl_reconcile_adopt(&s->pool, id, &start, "a", 0, s->now),
                     APR_SUCCESS);
    assert_int_equal(s->pool.processes[1].stamp, 77);
    touch("restart.txt", 1000);
    look(s, a);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

/* A disk may fail for a while. Here the file is a link to itself. */
static void b13_a_file_that_cannot_be_looked_at_changes_nothing(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const uint64_t *file = &s->pool.groups[1].stamp.file;
    uint64_t seen;

    (void)state;
    touch("restart.txt", 1000);
    touch_serve(s, a);
    seen = *file;
    assert_true(seen > APL_STAMP_NO_FILE);
    assert_int_equal(unlink(touch_path("restart.txt")), 0);
    assert_int_equal(symlink("restart.txt", touch_path("restart.txt")), 0);
    touch_serve(s, a);
    assert_true(*file == seen);
    assert_int_equal(unlink(touch_path("restart.txt")), 0);
    touch_serve(s, a);
    assert_int_equal(*file, APL_STAMP_NO_FILE);
    scene_end(s);
}

/* ---- two files with the same times ---- */

/* @return its directory, with a new file; a static buffer */
static const char *make(const char *name)
{
    static char dirs[2][160];
    char *dir = dirs[name[0] == 'b'], file[200];
    const struct timespec times[2] = {{1000, 0}, {1000, 0}};
    FILE *f;

    snprintf(dir, sizeof dirs[0], "%s", touch_path(name));
    assert_true(mkdir(dir, 0700) == 0 || errno == EEXIST);
    snprintf(file, sizeof file, "%s/restart.txt", dir);
    unlink(file);
    f = fopen(file, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
    return dir;
}

static void stat_file(const char *dir, struct stat *st)
{
    char file[200];

    snprintf(file, sizeof file, "%s/restart.txt", dir);
    assert_int_equal(stat(file, st), 0);
}

static void unmake(const char *dir)
{
    char file[200];

    snprintf(file, sizeof file, "%s/restart.txt", dir);
    unlink(file);
    assert_int_equal(rmdir(dir), 0);
}

/* The kernel gives both files one time of change if no tick comes between, so
 * this is tried until it has done so. */
static void another_file_with_all_times(void **state)
{
    const char *a, *b;
    struct stat sa, sb;
    int i = 0;

    (void)state;
    do {
        a = make("a");
        b = make("b");
        stat_file(a, &sa);
        stat_file(b, &sb);
    } while (memcmp(&sa.st_ctim, &sb.st_ctim, sizeof sa.st_ctim) != 0 &&
             ++i < 10000);
    assert_memory_equal(&sa.st_ctim, &sb.st_ctim, sizeof sa.st_ctim);
    assert_int_not_equal(apl_restart_stamp(a), apl_restart_stamp(b));
    unmake(a);
    unmake(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(another_file_with_all_times,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(
            b13_a_file_that_cannot_be_looked_at_changes_nothing, touch_begin,
            touch_end),
        cmocka_unit_test(a11_due_when_it_appears_or_is_another),
        cmocka_unit_test_setup_teardown(
            a11_another_file_than_at_the_start_restarts_once, touch_begin,
            touch_end),
        cmocka_unit_test_setup_teardown(
            a11_a_file_that_was_not_there_at_the_start, touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(a11_always_whatever_time_it_has,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(a11_a_start_that_was_not_heard_yet,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(a11_a_process_of_which_nothing_is_known,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(a11_a_template_of_the_code_before,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(
            a11_a_failed_start_before_the_first_look, touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(
            a11_a_process_that_is_put_back_has_its_stamp, touch_begin,
            touch_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
