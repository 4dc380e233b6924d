/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* When AppNotify is notified that an app does not start, and that it starts
 * again, also when no file can be written. The linker wraps
 * notify_command_begin(). */

#include <apr_general.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawner/report/reports.h"
#include "spawner/process/process.h"
#include "spawner/end/end.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define PERIOD (60 * SECOND)

static scene_t *scene;
static app_entry_t app;
static app_table_t table = {.apps = &app};
static char notified[2048]; /* the events of all objects, oldest first */
static int n_objects;       /* objects */

int __wrap_notify_command_begin(spawner_t *s, notify_command_t *t,
                                const app_entry_t *a, const char *text,
                                size_t length);

static void add(const json_t *event)
{
    const char *what = json_string_value(json_object_get(event, "event"));

    assert_non_null(what);
    snprintf(notified + strlen(notified), sizeof notified - strlen(notified),
             "%s%s", notified[0] ? " " : "", what);
}

int __wrap_notify_command_begin(spawner_t *s, notify_command_t *t,
                                const app_entry_t *a, const char *text,
                                size_t length)
{
    json_t *object = json_loadb(text, length, 0, NULL), *earlier;
    size_t i;

    (void)s;
    (void)t;
    assert_ptr_equal(a, &app);
    assert_non_null(object);
    earlier = json_object_get(object, "earlier");
    assert_int_equal(json_integer_value(json_object_get(object, "count")),
                     json_array_size(earlier) + 1);
    for (i = 0; i < json_array_size(earlier); i++)
        add(json_array_get(earlier, i));
    add(object);
    json_decref(object);
    n_objects++;
    return 0;
}

static spawner_t *spawner(void)
{
    return state_spawner();
}

/* ---- the scene ---- */

/* Does the table know the app? */
static void configure(int known)
{
    static apr_pool_t *p;

    if (!p) {
        apr_initialize();
        apr_pool_create(&p, NULL);
        table.by_name = apr_hash_make(p);
    }
    table.n = (uint32_t)known;
    apr_hash_set(table.by_name, "shop", APR_HASH_KEY_STRING,
                 known ? &app : NULL);
}

static int setup(void **state)
{
    spawner_t *s = scratch_begin();

    (void)state;
    scene = scene_new(1);
    app.app = *scene_app(scene, "shop");
    app.label = "shop";
    app.notify = "true";
    s->shm = scene->pool;
    s->table = &table;
    configure(1);
    mkdirat(s->rt.fd, CONTRACT_FAILURES, 0700);
    s->now = 1000 * SECOND;
    notified[0] = 0;
    n_objects = 0;
    return 0;
}

/* All that was open is closed, and forgotten. */
static int teardown(void **state)
{
    configure(0);
    spawner()->now += 2 * PERIOD;
    alert_tick(spawner());
    alert_tick(spawner());
    scene_drop(scene);
    return scratch_end(state);
}

static void pass(int64_t us)
{
    spawner()->now += us;
    alert_tick(spawner());
}

static process_t *begin(void)
{
    static uint64_t id = 100;
    process_t *p = process_new(spawner(), id++, app.app.name);

    assert_non_null(p);
    return p;
}

static void forget(process_t *p)
{
    p->done = 1;
    process_collect(spawner());
}

static process_t *begin_ready(void)
{
    process_t *p = begin();

    p->phase = PHASE_LIVE;
    p->live_since = spawner()->now;
    phase_check_start(spawner(), p);
    return p;
}

static void start_badly(void)
{
    process_t *p = begin();

    start_failure_keep(spawner(), p, START_STEP_BOOT, p->is.id, "it ended");
    forget(p);
}

/* It is ready, and dies before its start is a success. */
static void die_young(void)
{
    process_t *p = begin_ready();

    pass(SECOND / 5);
    phase_check_start(spawner(), p);
    start_failure_keep(spawner(), p, START_STEP_STAY, p->is.id, "it ended");
    forget(p);
}

static void stay(void)
{
    process_t *p = begin_ready();

    pass(SECOND);
    phase_check_start(spawner(), p);
    forget(p);
}

static int n_files(void)
{
    char name[32];

    snprintf(name, sizeof name, CONTRACT_FAILURES "/" CONTRACT_ID_FMT,
             app.app.key);
    return faccessat(spawner()->rt.fd, name, F_OK, 0) == 0;
}

/* For our files, the disk has no more room. */
static void no_files(void)
{
    unlinkat(spawner()->rt.fd, CONTRACT_FAILURES, AT_REMOVEDIR);
}

/* ---- tests ---- */

static void a_failure_and_its_end(void **state)
{
    (void)state;
    start_badly();
    pass(0);
    assert_string_equal(notified, "start_failed backoff_opened");
    assert_int_equal(n_files(), 1);
    start_badly();
    stay();
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened "
                                  "start_failed backoff_closed");
    assert_int_equal(n_files(), 0);
    assert_int_equal(n_objects, 2);
}

/* It is ready each time. That is not a good start. */
static void dies_young_again_and_again(void **state)
{
    (void)state;
    die_young();
    pass(0);
    die_young();
    die_young();
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened "
                                  "start_failed start_failed");
    stay();
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened "
                                  "start_failed start_failed backoff_closed");
}

static void where_no_file_can_be_written(void **state)
{
    (void)state;
    no_files();
    start_badly();
    pass(0);
    start_badly();
    start_badly();
    stay();
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened "
                                  "start_failed start_failed backoff_closed");
}

/* A process that was ready before says nothing about the code that does not
 * start. */
static void an_old_one_serves_on(void **state)
{
    process_t *old = begin_ready();

    (void)state;
    pass(SECOND / 2);
    start_badly();
    pass(SECOND);
    phase_check_start(spawner(), old);
    start_badly();
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened start_failed");
    forget(old);
}

/* A finished request is enough. No second has to pass. */
static void one_that_serves(void **state)
{
    apl_app_t *a = &scene->apps[0];
    apl_session_ref_t hold;
    process_t *p;

    (void)state;
    start_badly();
    pass(0);
    assert_int_equal(scene_get(scene, &hold, a), APR_SUCCESS);
    p = begin();
    p->is.id = hold.id;
    p->phase = PHASE_LIVE;
    p->live_since = spawner()->now;
    phase_check_start(spawner(), p);
    assert_int_equal(n_files(), 1);
    scene_close(scene, &hold);
    phase_check_start(spawner(), p);
    assert_int_equal(n_files(), 0);
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened backoff_closed");
    forget(p);
}

/* A file has what the last spawner knew. */
static void a_new_spawner(void **state)
{
    process_t *adopted = begin();

    (void)state;
    start_badly();
    pass(0);
    configure(0); /* all is forgotten */
    pass(2 * PERIOD);
    configure(1);
    start_failure_recall(spawner());
    adopted->phase = PHASE_LIVE; /* live: 0 */
    phase_check_start(spawner(), adopted);
    start_badly();
    stay();
    pass(PERIOD);
    assert_string_equal(notified, "start_failed backoff_opened "
                                  "start_failed backoff_closed");
    forget(adopted);
}

/* A notification that comes later leaves out what has ended meanwhile. */
static void without_a_command(void **state)
{
    (void)state;
    app.notify = NULL;
    start_badly();
    stay();
    app.notify = "true";
    start_badly();
    pass(0);
    assert_string_equal(notified, "start_failed backoff_opened");
}

static void die(process_t *p, int64_t after)
{
    pass(after);
    alert_death(spawner(), p, "SIGSEGV");
}

static void three_deaths_in_a_minute(void **state)
{
    process_t *p = begin();
    int i;

    (void)state;
    for (i = 0; i < 5; i++)
        die(p, PERIOD / 2 + 1);
    pass(0);
    assert_string_equal(notified, "");
    die(p, SECOND);
    pass(0);
    assert_string_equal(notified, "deaths");
    /* Those are reported; others come after them. */
    die(p, SECOND);
    die(p, SECOND);
    pass(PERIOD);
    assert_string_equal(notified, "deaths");
    forget(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failure_and_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(dies_young_again_and_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(where_no_file_can_be_written, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_old_one_serves_on, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_serves, setup, teardown),
        cmocka_unit_test_setup_teardown(a_new_spawner, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_command, setup, teardown),
        cmocka_unit_test_setup_teardown(three_deaths_in_a_minute, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
