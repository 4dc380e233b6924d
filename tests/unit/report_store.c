/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the report tells of the store, also when its figures are nonsense. */

#include "shm/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* Its own order matters. */
#include <cmocka.h>

static store_figures_t *figures;

static int begin(void **state)
{
    (void)state;
    figures = calloc(1, STORE_FIGURES_SIZE);
    assert_non_null(figures);
    figures->magic = STORE_FIGURES_MAGIC;
    figures->version = STORE_FIGURES_VERSION;
    figures->threads = 2;
    figures->pid = 4711;
    figures->began = 86400;
    figures->recovery_us = 1500;
    figures->missing_listeners = 2;
    figures->cluster.missing_listeners = 1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(figures);
    return 0;
}

static store_space_figures_t *space(unsigned i, const char *name)
{
    strncpy(figures->space[i].name, name, STORE_NAME);
    return &figures->space[i];
}

static json_int_t number(const json_t *o, const char *key)
{
    const json_t *n = json_object_get(o, key);

    assert_true(json_is_integer(n));
    return json_integer_value(n);
}

static const char *name_of(const json_t *doc, size_t i)
{
    return json_string_value(json_object_get(
        json_array_get(json_object_get(doc, "spaces"), i), "name"));
}

/* ---- tests ---- */

static void there_may_be_no_store(void **state)
{
    json_t *doc;

    (void)state;
    assert_true(json_is_null(apl_report_store(NULL)));
    figures->version++;
    assert_true(json_is_null(apl_report_store(figures)));
    figures->version--;
    figures->magic = 0;
    assert_true(json_is_null(apl_report_store(figures)));
    figures->magic = STORE_FIGURES_MAGIC;
    doc = apl_report_store(figures);
    assert_int_equal(number(doc, "pid"), 4711);
    assert_int_equal(number(doc, "threads"), 2);
    assert_int_equal(number(doc, "missing_listeners"), 3);
    assert_string_equal(json_string_value(json_object_get(doc, "started")),
                        "1970-01-02T00:00:00.000Z");
    assert_true(json_real_value(json_object_get(doc, "recovery")) == 0.0015);
    assert_int_equal(json_array_size(json_object_get(doc, "spaces")), 0);
    json_decref(doc);
}

static void counters_of_all_workers_are_added(void **state)
{
    store_space_figures_t *shop = space(3, "shop");
    json_t *doc;
    const json_t *s;
    unsigned w;

    (void)state;
    shop->size = 64 << 20;
    shop->items = 12;
    for (w = 0; w < STORE_THREADS; w++) {
        store_counters_t *c = &figures->worker[w][3];

        store_count(c, STORE_GETS, 4);
        store_count(c, STORE_HITS, 3);
        store_count(c, STORE_SETS, w);
        store_count(c, STORE_DELETE_MISSES, 1);
        store_count(&figures->worker[w][4], STORE_GETS, 1000);
    }
    doc = apl_report_store(figures);
    s = json_array_get(json_object_get(doc, "spaces"), 0);
    assert_string_equal(name_of(doc, 0), "shop");
    assert_int_equal(number(s, "size"), 64 << 20);
    assert_int_equal(number(s, "items"), 12);
    assert_int_equal(number(s, "gets"), 4 * STORE_THREADS);
    assert_int_equal(number(s, "sets"), 120);
    assert_int_equal(number(s, "deletes"), STORE_THREADS);
    assert_int_equal(number(s, "operations"), 5 * STORE_THREADS + 120);
    assert_true(json_real_value(json_object_get(s, "hit_rate")) == 0.75);
    assert_true(json_is_null(json_object_get(s, "evicted_age")));
    json_decref(doc);
}

static void an_eviction_has_an_age(void **state)
{
    store_space_figures_t *shop = space(0, "shop");
    json_t *doc;
    const json_t *s;

    (void)state;
    shop->evictions = 1;
    shop->evicted_age = 90;
    doc = apl_report_store(figures);
    s = json_array_get(json_object_get(doc, "spaces"), 0);
    assert_int_equal(number(s, "evicted_age"), 90);
    assert_true(json_is_null(json_object_get(s, "hit_rate")));
    json_decref(doc);
}

static void a_wrong_name_is_left_out(void **state)
{
    json_t *doc;

    (void)state;
    memset(space(0, "")->name, 'a', STORE_NAME); /* it does not end */
    space(1, "a\nb");
    space(2, "a\x7f");
    space(3, "shop");
    space(4, "caf\xc3\xa9");
    space(5, "shop"); /* twice */
    space(STORE_SPACES - 1, "a\xff");
    doc = apl_report_store(figures);
    assert_int_equal(json_array_size(json_object_get(doc, "spaces")), 3);
    assert_string_equal(name_of(doc, 0), "shop");
    assert_string_equal(name_of(doc, 1), "caf\xc3\xa9");
    assert_string_equal(name_of(doc, 2), "a?");
    json_decref(doc);
}

static void numbers_may_be_nonsense(void **state)
{
    store_space_figures_t *shop;
    json_t *doc;
    const json_t *s;

    (void)state;
    memset(figures, 0xff, STORE_FIGURES_SIZE);
    figures->magic = STORE_FIGURES_MAGIC;
    figures->version = STORE_FIGURES_VERSION;
    shop = space(7, "shop");
    shop->name[5] = 0;
    doc = apl_report_store(figures);
    assert_true(json_is_null(json_object_get(doc, "started")));
    assert_int_equal(json_array_size(json_object_get(doc, "spaces")), 1);
    s = json_array_get(json_object_get(doc, "spaces"), 0);
    assert_true(number(s, "used") == INT64_MAX);
    assert_true(json_real_value(json_object_get(s, "hit_rate")) <= 1);
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_may_be_no_store, begin, end),
        cmocka_unit_test_setup_teardown(counters_of_all_workers_are_added,
                                        begin, end),
        cmocka_unit_test_setup_teardown(an_eviction_has_an_age, begin, end),
        cmocka_unit_test_setup_teardown(a_wrong_name_is_left_out, begin, end),
        cmocka_unit_test_setup_teardown(numbers_may_be_nonsense, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
