/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The last output of an app: how much of it is kept, and which user may see
 * it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/verbs/app_stderr.h"
#include "system/log.h"
#include "spawner/output/output.h"
#include "base/userdb.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/scratch.h"

#define KEPT 16384 /* bytes of an app */

static app_table_t table;
static app_entry_t shop = {.app = {.name = "shop"}},
                   blog = {.app = {.name = "blog"}};

static void be_in_the_table(app_entry_t *app, int there)
{
    apr_hash_set(table.by_name, app->app.name, APR_HASH_KEY_STRING,
                 there ? app : NULL);
}

static int setup(void **state)
{
    spawner_t *s = scratch_begin();

    (void)state;
    table.by_name = apr_hash_make(s->pool);
    s->table = &table;
    s->by_id = apr_hash_make(s->pool);
    be_in_the_table(&shop, 1);
    be_in_the_table(&blog, 1);
    return 0;
}

/* Remove what earlier tests have left. */
static int forget(void **state)
{
    (void)state;
    apr_hash_clear(table.by_name);
    recent_output_sweep(state_spawner());
    be_in_the_table(&shop, 1);
    be_in_the_table(&blog, 1);
    return 0;
}

static void print(const char *app, uid_t uid, const char *line)
{
    static process_t p;

    memset(&p, 0, sizeof p);
    snprintf(p.is.name, sizeof p.is.name, "%s", app);
    p.is.uid = uid;
    recent_output_add(&p, line, strlen(line));
}

/* The lines, each with a newline; to be freed. */
static char *read_lines(const char *app, uint64_t from, uid_t only,
                        uint64_t *first, uint64_t *next)
{
    json_t *o = recent_output_lines(app, from, only);
    const json_t *lines = json_object_get(o, "lines");
    char *text = calloc(1, 2 * KEPT);
    size_t i, n = 0;

    assert_non_null(text);
    for (i = 0; i < json_array_size(lines); i++)
        n += (size_t)snprintf(text + n, 2 * KEPT - n, "%s\n",
                              json_string_value(json_array_get(lines, i)));
    *first = (uint64_t)json_integer_value(json_object_get(o, "first"));
    *next = (uint64_t)json_integer_value(json_object_get(o, "next"));
    json_decref(o);
    return text;
}

static void expect(const char *app, uint64_t from, uid_t only,
                   const char *wanted, uint64_t n_first, uint64_t n_next)
{
    uint64_t first, next;
    char *text = read_lines(app, from, only, &first, &next);

    assert_string_equal(text, wanted);
    assert_int_equal(first, n_first);
    assert_int_equal(next, n_next);
    free(text);
}

static void in_order_and_each_once(void **state)
{
    (void)state;
    expect("shop", 0, USERDB_NOBODY, "", 0, 0);
    print("shop", 1000, "one");
    print("shop", 1000, "");
    print("blog", 1000, "another's");
    print("shop", 1000, "three");
    expect("shop", 0, USERDB_NOBODY, "one\n\nthree\n", 0, 3);
    expect("shop", 2, USERDB_NOBODY, "three\n", 2, 3);
    expect("shop", 3, USERDB_NOBODY, "", 3, 3);
    expect("blog", 0, USERDB_NOBODY, "another's\n", 0, 1);
    /* A number of the future comes from an earlier spawner: all lines are
     * printed. */
    expect("shop", 4, USERDB_NOBODY, "one\n\nthree\n", 0, 3);
}

/* The oldest lines are removed, only whole lines, and the others keep their
 * numbers. */
static void as_many_as_there_is_room_for(void **state)
{
    uint64_t first, next;
    char line[64], *text;
    int i;

    (void)state;
    for (i = 0; i < 2000; i++) {
        snprintf(line, sizeof line, "line %d, which is some bytes long", i);
        print("shop", 1000, line);
    }
    text = read_lines("shop", 0, USERDB_NOBODY, &first, &next);
    assert_int_equal(next, 2000);
    assert_in_range(strlen(text), KEPT / 2, KEPT);
    snprintf(line, sizeof line, "line %d, ", (int)first);
    assert_memory_equal(text, line, strlen(line));
    assert_non_null(strstr(text, "line 1999, which is some bytes long\n"));
    free(text);
    /* A caller that asks for lines that are gone gets those that are left. */
    text = read_lines("shop", first - 1, USERDB_NOBODY, &next, &next);
    assert_memory_equal(text, line, strlen(line));
    free(text);
}

/* A long line does not displace all others. */
static void a_long_line_is_cut(void **state)
{
    uint64_t first, next;
    char *text, *line = calloc(1, 4 * KEPT + 1);

    (void)state;
    assert_non_null(line);
    print("shop", 1000, "short");
    memset(line, 'x', 4 * KEPT);
    print("shop", 1000, line);
    text = read_lines("shop", 0, USERDB_NOBODY, &first, &next);
    assert_int_equal(next - first, 2);
    assert_memory_equal(text, "short\nx", 7);
    assert_int_equal(strlen(text), strlen("short\n") + KEPT / 4);
    free(text);
    free(line);
}

/* No user sees what another user's process has printed, even if the app has
 * another user now. */
static void lines_belong_to_a_user(void **state)
{
    (void)state;
    print("shop", 1000, "a thousand's");
    expect("shop", 0, 1000, "a thousand's\n", 0, 1);
    expect("shop", 0, 1001, "", 0, 0);
    expect("shop", 0, 0, "", 0, 0);
    print("shop", 1001, "the next one's");
    expect("shop", 0, 1000, "", 0, 0);
    expect("shop", 0, 1001, "the next one's\n", 1, 2);
    expect("shop", 0, USERDB_NOBODY, "the next one's\n", 1, 2);
}

/* A process that has no user yet: our own program says why it did not start.
 * Each user of the app may see that, an earlier or a later one. */
static void lines_of_a_process_without_a_user(void **state)
{
    (void)state;
    print("shop", USERDB_NOBODY, "no directory");
    expect("shop", 0, 1000, "", 0, 0);
    expect("shop", 0, USERDB_NOBODY, "no directory\n", 0, 1);
    print("shop", 1000, "begins");
    print("shop", USERDB_NOBODY, "no directory again");
    expect("shop", 0, 1000, "no directory\nbegins\nno directory again\n", 0, 3);
}

static void an_app_that_is_gone_is_forgotten(void **state)
{
    (void)state;
    print("shop", 1000, "one");
    print("blog", 1000, "two");
    be_in_the_table(&shop, 0);
    recent_output_sweep(state_spawner());
    expect("shop", 0, USERDB_NOBODY, "", 0, 0);
    expect("blog", 0, USERDB_NOBODY, "two\n", 0, 1);
    /* A later app of that name begins again. */
    be_in_the_table(&shop, 1);
    print("shop", 1001, "new");
    expect("shop", 0, 1001, "new\n", 0, 1);
}

/* A child of httpd may give lines without end. Those that are in a log cost as
 * much as others, and the log does not call them dropped. */
static void lines_of_a_log_cost_tokens(void **state)
{
    static process_t p;
    char flood[2000];
    uint64_t first, next;
    int i;

    (void)state;
    snprintf(p.is.name, sizeof p.is.name, "shop");
    p.is.uid = 1000;
    memset(flood, '\n', sizeof flood);
    for (i = 0; i < 100; i++)
        output_add(&p, flood, sizeof flood, 1);
    free(read_lines("shop", 0, USERDB_NOBODY, &first, &next));
    assert_in_range(next, 1000, 10000);
    assert_int_equal(p.output.dropped, 0);
    /* Others are counted. */
    output_add(&p, flood, sizeof flood, 0);
    assert_int_equal(p.output.dropped, sizeof flood);
}

static void give(scene_t *scene, int logged, const char *text)
{
    spawner_t *s = state_spawner();

    assert_int_equal(apl_app_stderr_put(&scene->pool, 77, logged, text,
                                        strlen(text), scene->now),
                     APR_SUCCESS);
    s->shm = scene->pool;
    app_stderr_take(s);
}

/* They often say why the process has died. */
static void lines_of_a_process_that_is_gone(void **state)
{
    scene_t *scene = scene_new(1);
    char flood[APL_STDERR_TEXT + 1];

    (void)state;
    give(scene, 0, "it broke\nhere \x1b[0m\n");
    give(scene, 1, "it is in a log\n");
    assert_int_equal(scratch_lines("process that is gone (77)> it broke"), 1);
    assert_int_equal(scratch_lines("(77)> here \\x1b[0m"), 1);
    assert_int_equal(scratch_lines("it is in a log"), 0);
    memset(flood, '\n', APL_STDERR_TEXT);
    flood[APL_STDERR_TEXT] = 0;
    give(scene, 0, flood);
    assert_in_range(scratch_lines("(77)> "), 2, LOG_BURST + 20);
    assert_int_equal(scratch_lines("more lines of processes that are gone"), 1);
    scene_end(scene);
}

#define TEST(f) cmocka_unit_test_teardown(f, forget)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_order_and_each_once),
        TEST(as_many_as_there_is_room_for),
        TEST(a_long_line_is_cut),
        TEST(lines_belong_to_a_user),
        TEST(lines_of_a_process_without_a_user),
        TEST(an_app_that_is_gone_is_forgotten),
        TEST(lines_of_a_log_cost_tokens),
        TEST(lines_of_a_process_that_is_gone),
    };

    return cmocka_run_group_tests(tests, setup, scratch_end);
}
