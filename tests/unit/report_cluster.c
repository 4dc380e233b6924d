/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the report tells of the other hosts that have the store, also when the
 * figures are nonsense. */

#include "shm/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
/* Its own order matters. */
#include <cmocka.h>

static store_cluster_figures_t figures;

static int begin(void **state)
{
    (void)state;
    memset(&figures, 0, sizeof figures);
    figures.since = 86400;
    strcpy(figures.vip, "10.0.0.9");
    return 0;
}

static json_int_t number(const json_t *o, const char *key)
{
    const json_t *n = json_object_get(o, key);

    assert_true(json_is_integer(n));
    return json_integer_value(n);
}

static const char *text(const json_t *o, const char *key)
{
    const char *value = json_string_value(json_object_get(o, key));

    assert_non_null(value);
    return value;
}

static int is(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);

    assert_true(json_is_boolean(value));
    return json_is_true(value);
}

/* ---- tests ---- */

static void a_store_may_be_alone(void **state)
{
    (void)state;
    assert_true(json_is_null(apl_report_cluster(&figures)));
    figures.role = 3;
    assert_true(json_is_null(apl_report_cluster(&figures)));
    figures.role = UINT64_MAX;
    assert_true(json_is_null(apl_report_cluster(&figures)));
}

static void a_slave_has_a_master(void **state)
{
    json_t *doc;

    (void)state;
    figures.role = STORE_SLAVE;
    figures.connected = figures.yrmcds = 1;
    figures.received = 12;
    figures.relayed = 3;
    figures.lag_ms = 250;
    doc = apl_report_cluster(&figures);
    assert_string_equal(text(doc, "role"), "slave");
    assert_string_equal(text(doc, "virtual_ip"), "10.0.0.9");
    assert_string_equal(text(doc, "since"), "1970-01-02T00:00:00.000Z");
    assert_true(is(doc, "connected") && is(doc, "yrmcds"));
    assert_false(is(doc, "complete") || is(doc, "ready"));
    assert_int_equal(number(doc, "changes_received"), 12);
    assert_int_equal(number(doc, "relayed"), 3);
    assert_true(json_real_value(json_object_get(doc, "lag_seconds")) == 0.25);
    assert_true(json_is_null(json_object_get(doc, "age_seconds")));
    assert_null(json_object_get(doc, "slaves"));
    json_decref(doc);
}

static uint64_t seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec;
}

/* Which data it has, and why it is not ready. */
static void data_has_an_epoch(void **state)
{
    static const struct {
        uint64_t why;
        const char *word;
    } reasons[] = {{STORE_READY_NOT, "other"},
                   {STORE_READY_YES, "other"}, /* it says so no more */
                   {STORE_READY_OLD, "stale"},
                   {STORE_READY_PART, "incomplete"},
                   {STORE_READY_BETTER, "better elsewhere"},
                   {UINT64_MAX, "other"}};
    unsigned i;
    json_t *doc;

    (void)state;
    figures.role = STORE_SLAVE;
    doc = apl_report_cluster(&figures);
    assert_true(json_is_null(json_object_get(doc, "epoch")));
    json_decref(doc);
    figures.epoch = 0xabc;
    figures.epoch_number = 3;
    figures.position = 99;
    for (i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        figures.why = reasons[i].why;
        doc = apl_report_cluster(&figures);
        assert_string_equal(text(doc, "reason"), reasons[i].word);
        assert_string_equal(text(doc, "epoch"), "0000000000000abc");
        assert_int_equal(number(doc, "epoch_number"), 3);
        assert_int_equal(number(doc, "position"), 99);
        json_decref(doc);
    }
    figures.ready = seconds();
    doc = apl_report_cluster(&figures);
    assert_true(json_is_null(json_object_get(doc, "reason")));
    json_decref(doc);
}

/* It has died, or it hangs. */
static void a_store_that_is_silent_is_not_ready(void **state)
{
    json_t *doc;

    (void)state;
    figures.role = STORE_MASTER;
    figures.ready = seconds() - 10;
    doc = apl_report_cluster(&figures);
    assert_false(is(doc, "ready"));
    json_decref(doc);
}

static void a_master_has_slaves(void **state)
{
    store_slave_figures_t *s = &figures.slave[3];
    json_t *doc, *one;

    (void)state;
    figures.role = STORE_MASTER;
    figures.complete = 1;
    figures.ready = seconds();
    figures.unsent = 7;
    figures.dropped = 2;
    strcpy(s->address, "[fe80::1%eth0]:40000");
    s->joined = 86401;
    s->complete = 1;
    s->lag = 5;
    s->lag_ms = 1500;
    s->sent = 4096;
    strcpy(figures.slave[0].address, "10.0.0.8"); /* it has left */
    doc = apl_report_cluster(&figures);
    assert_string_equal(text(doc, "role"), "master");
    assert_true(is(doc, "complete") && is(doc, "ready"));
    assert_false(is(doc, "handover"));
    assert_int_equal(number(doc, "unsent_changes"), 7);
    assert_int_equal(number(doc, "slaves_dropped"), 2);
    assert_null(json_object_get(doc, "relayed"));
    assert_int_equal(json_array_size(json_object_get(doc, "slaves")), 1);
    one = json_array_get(json_object_get(doc, "slaves"), 0);
    assert_string_equal(text(one, "address"), "[fe80::1%eth0]:40000");
    assert_string_equal(text(one, "joined"), "1970-01-02T00:00:01.000Z");
    assert_true(is(one, "complete") && !is(one, "yrmcds"));
    assert_int_equal(number(one, "lag"), 5);
    assert_true(json_real_value(json_object_get(one, "lag_seconds")) == 1.5);
    assert_int_equal(number(one, "bytes_sent"), 4096);
    json_decref(doc);
}

/* The address has to move away. */
static void a_master_in_a_handover_is_not_ready(void **state)
{
    json_t *doc;

    (void)state;
    figures.role = STORE_MASTER;
    figures.ready = seconds();
    figures.pausing = 1;
    doc = apl_report_cluster(&figures);
    assert_true(is(doc, "handover"));
    assert_false(is(doc, "ready"));
    json_decref(doc);
}

static void a_wrong_address_is_null(void **state)
{
    static const char *const wrong[] = {"", "10.0.0.9\n", "<b>", "a b",
                                        "caf\xc3\xa9"};
    json_t *doc;
    size_t i;

    (void)state;
    figures.role = STORE_SLAVE;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(figures.vip, 0, sizeof figures.vip);
        strcpy(figures.vip, wrong[i]);
        doc = apl_report_cluster(&figures);
        assert_true(json_is_null(json_object_get(doc, "virtual_ip")));
        json_decref(doc);
    }
    memset(figures.vip, '1', sizeof figures.vip); /* it does not end */
    doc = apl_report_cluster(&figures);
    assert_true(json_is_null(json_object_get(doc, "virtual_ip")));
    json_decref(doc);
}

static void numbers_may_be_nonsense(void **state)
{
    json_t *doc, *one;

    (void)state;
    memset(&figures, 0xff, sizeof figures);
    figures.role = STORE_MASTER;
    doc = apl_report_cluster(&figures);
    assert_true(json_is_null(json_object_get(doc, "since")));
    assert_true(number(doc, "unsent_changes") == INT64_MAX);
    assert_int_equal(json_array_size(json_object_get(doc, "slaves")),
                     STORE_FIGURES_SLAVES);
    one = json_array_get(json_object_get(doc, "slaves"), 4);
    assert_true(json_is_null(json_object_get(one, "address")));
    assert_true(json_is_null(json_object_get(one, "joined")));
    assert_true(number(one, "lag") == INT64_MAX);
    assert_true(json_real_value(json_object_get(one, "lag_seconds")) > 1e15);
    json_decref(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_store_may_be_alone, begin),
        cmocka_unit_test_setup(a_slave_has_a_master, begin),
        cmocka_unit_test_setup(a_master_has_slaves, begin),
        cmocka_unit_test_setup(a_store_that_is_silent_is_not_ready, begin),
        cmocka_unit_test_setup(a_master_in_a_handover_is_not_ready, begin),
        cmocka_unit_test_setup(a_wrong_address_is_null, begin),
        cmocka_unit_test_setup(data_has_an_epoch, begin),
        cmocka_unit_test_setup(numbers_may_be_nonsense, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
