/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The problems in a report: the sentence of each kind, and their order. */

#include "shm/view/problems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Its own order matters. */
#include <cmocka.h>

#include "shm/view/view.h"
#include "tests/unit/support/memory.h"

/* Text as JSON, with ' in the place of ". */
static json_t *parse(const char *text)
{
    char *copy = strdup(text), *c;
    json_error_t error;
    json_t *o;

    for (c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    o = json_loads(copy, 0, &error);
    if (!o)
        fail_msg("%s: %s", error.text, copy);
    free(copy);
    return o;
}

#define NOTHING                                                                \
    "'version': 1, 'pool': {'max': 6, 'count': 2, 'active': 1, 'spawning': "   \
    "0, 'waiting': 0, 'out': false}, 'history': [], 'store': null"
#define POOL_FULL                                                              \
    "'pool': {'max': 2, 'count': 2, 'active': 2, 'spawning': 0, 'waiting': "   \
    "3, "                                                                      \
    "'out': false}"

/* The report of one app, with the keys that are given. */
static json_t *one_app(const char *keys)
{
    char text[4096];

    snprintf(text, sizeof text, "{" NOTHING ", 'groups': [{'name': 'a', %s}]}",
             keys);
    return parse(text);
}

/* The problems are "KIND APP: TEXT" each, in this order. @param report is
 * released */
static void expect_all(json_t *report, const char *const *wanted)
{
    json_t *all = apl_report_problems(report), *p;
    char text[4500];
    size_t i;

    json_array_foreach(all, i, p)
    {
        const char *app = json_string_value(json_object_get(p, "app"));

        snprintf(text, sizeof text, "%s %s: %s",
                 json_string_value(json_object_get(p, "kind")), app ? app : "-",
                 json_string_value(json_object_get(p, "text")));
        assert_non_null(wanted[i]);
        assert_string_equal(text, wanted[i]);
    }
    assert_null(wanted[i]);
    json_decref(all);
    json_decref(report);
}

#define EXPECT(report, ...)                                                    \
    do {                                                                       \
        const char *const wanted_[] = {__VA_ARGS__, NULL};                     \
        expect_all(report, wanted_);                                           \
    } while (0)

static void nothing_is_wrong(void **state)
{
    (void)state;
    EXPECT(one_app("'state': 'running', 'size': 2, 'queue': 0, 'max_queue': "
                   "40, 'states': {'idle': 1, 'busy': 1}"),
           NULL);
    EXPECT(parse("{}"), NULL);
    EXPECT(parse("[]"), NULL);
    EXPECT(parse("{'groups': [3, {}, null], 'pool': 4, 'history': {}}"), NULL);
}

static void starts_fail(void **state)
{
    (void)state;
    EXPECT(one_app("'state': 'failing', 'size': 0, 'last_error': 'no such "
                   "file'"),
           "failing a: it does not start: no such file");
    EXPECT(one_app("'state': 'failing', 'size': 0, 'spawning': 1, "
                   "'last_error': null"),
           "failing a: it does not start");
    EXPECT(one_app("'state': 'failing', 'size': 1, 'outdated': 1, "
                   "'last_error': 'x'"),
           "failing a: new processes do not start: x; 1 process of the old "
           "code serves requests");
}

static void processes_do_not_end(void **state)
{
    (void)state;
    EXPECT(one_app("'state': 'unkillable', 'states': {'unkillable': 2}"),
           "unkillable a: 2 processes survive SIGKILL, more than "
           "AppMaxUnkillable allows: nothing is started");
    EXPECT(one_app("'state': 'running', 'size': 1, 'states': {'unkillable': "
                   "1}"),
           "unkillable a: 1 process survives SIGKILL");
}

#define WAITS(n)                                                               \
    "'requests': [{'state': 'busy', 'age': 40.0}, {'state': 'waiting', "       \
    "'age': 0.1}, {'state': 'waiting', 'age': " #n "}]"

static void requests_wait(void **state)
{
    (void)state;
    EXPECT(one_app("'state': 'running', 'size': 2, 'max': 2, 'queue': 2, "
                   "'max_queue': 9, " WAITS(4.0)),
           "queueing a: 2 requests wait, the first one for 4 s: all 2 "
           "processes are busy (MaxInstances 2)");
    EXPECT(one_app("'state': 'running', 'size': 1, 'max': 1, 'queue': 2, "
                   "'max_queue': 2, " WAITS(0.2)),
           "full a: the queue is full (AppMaxQueue 2), and more requests get "
           "503: 2 requests wait, the first one for 0 s: its only process is "
           "busy (MaxInstances 1)");
    /* A queue of a moment, and one that a drain has emptied soon. */
    EXPECT(one_app("'state': 'running', 'size': 1, 'max': 1, 'queue': 2, "
                   "'max_queue': 0, " WAITS(0.9)),
           NULL);
    EXPECT(one_app("'state': 'drained', 'size': 1, 'queue': 2, " WAITS(4.0)),
           "drained a: it is drained: all requests get 503 until apppoolctl "
           "restart");
}

static void a_start_lasts_long(void **state)
{
    (void)state;
    EXPECT(
        one_app(
            "'state': 'starting', 'size': 0, 'spawning': 1, 'queue': 1, "
            "'slow_start': {'age': 3.0, 'text': 'it does not accept'}, " WAITS(
                3.0)),
        "queueing a: 1 request waits, for 3 s: a start lasts for 3 s: it "
        "does not accept");
    EXPECT(one_app("'state': 'starting', 'size': 0, 'spawning': 1, 'queue': 0, "
                   "'slow_start': {'age': 3.0, 'text': 'x'}"),
           NULL);
    EXPECT(one_app("'state': 'running', 'size': 1, 'spawning': 1, 'queue': 0, "
                   "'slow_start': {'age': 30.0, 'text': ''}"),
           "starting a: a start lasts for 30 s");
    EXPECT(one_app("'state': 'running', 'size': 1, 'spawning': 1, 'queue': 0, "
                   "'slow_start': {'age': 29.0, 'text': ''}"),
           NULL);
    EXPECT(one_app("'state': 'starting', 'size': 0, 'spawning': 1, 'queue': 0, "
                   "'slow_start': {'age': 5.0, 'text': ''}"),
           "starting a: a start lasts for 5 s");
}

static void processes_are_hung(void **state)
{
    (void)state;
    EXPECT(one_app("'state': 'running', 'size': 1, 'states': {'hung': 1}, "
                   "'requests': [{'state': 'hung', 'age': 31.2, 'method': "
                   "'GET', 'uri': '/x'}]"),
           "hung a: its only process is hung: the oldest request has had its "
           "process for 31 s: GET /x");
    EXPECT(one_app("'state': 'running', 'size': 3, 'states': {'hung': 1}"),
           "hung a: 1 process of 3 is hung");
    EXPECT(one_app("'state': 'running', 'size': 2, 'states': {'hung': 2}"),
           "hung a: all 2 processes are hung");
}

static void errors_of_a_minute(void **state)
{
    (void)state;
    EXPECT(one_app("'state': 'running', 'recent': {'1m': {'requests': 100, "
                   "'errors': 6}}"),
           "errors a: 6 of 100 requests of the last minute got an error (5xx)");
    EXPECT(one_app("'state': 'running', 'recent': {'1m': {'requests': 100, "
                   "'errors': 5}}"),
           NULL);
    EXPECT(one_app("'state': 'running', 'recent': {'1m': {'requests': 4, "
                   "'errors': 4}}"),
           NULL);
}

static void host(void **state)
{
    (void)state;
    EXPECT(parse("{" POOL_FULL ", 'groups': []}"),
           "full -: the pool is full (MaxPoolSize 2), all 2 processes are "
           "busy, and 3 requests wait");
    EXPECT(parse("{'pool': {'out': true}, 'groups': []}"),
           "out -: it is out of its load balancer (apppool-health says "
           "503) until apppoolctl in");
}

static void store(void **state)
{
    (void)state;
    EXPECT(parse("{'store': {'alive': false, 'missing_listeners': 1, "
                 "'cluster': {'ready': false, 'reason': 'other'}, 'spaces': "
                 "[{'name': 's', 'connections': 2, 'max_connections': 2}, "
                 "{'connections': 0, 'max_connections': 0}]}}"),
           "store -: the store does not run",
           "store -: the space s of the store has 2 connections, and more are "
           "refused",
           "store -: the store cannot listen at 1 address, which the error log "
           "names");
    EXPECT(parse("{'store': {'alive': true, 'cluster': {'ready': false, "
                 "'reason': 'stale'}}}"),
           "store -: the store is not ready to be the master: its copy is old");
}

static void spawner(void **state)
{
    (void)state;
    EXPECT(parse("{'pool': {'spawner_age': 6.1}}"), NULL);
    EXPECT(parse("{'pool': {'spawner_age': null}}"), NULL);
    EXPECT(parse("{'pool': {'spawner_age': 100.1}}"),
           "spawner -: the spawner has done nothing for 100 s: processes are "
           "neither started nor ended");
}

/* What refuses requests comes before what an administrator wants, and before
 * what requests still pass. */
static void the_worst_comes_first(void **state)
{
    (void)state;
    EXPECT(parse("{'pool': {'out': true}, 'groups': ["
                 "{'name': 'a', 'state': 'drained'},"
                 "{'name': 'b', 'state': 'failing', 'size': 1},"
                 "{'name': 'c', 'size': 1, 'states': {'hung': 1}},"
                 "{'name': 'd', 'state': 'failing', 'size': 0}]}"),
           "failing d: it does not start", "hung c: its only process is hung",
           "failing b: new processes do not start; 1 process serves requests",
           "drained a: it is drained: all requests get 503 until apppoolctl "
           "restart",
           "out -: it is out of its load balancer (apppool-health says "
           "503) until apppoolctl in");
}

/* The end of the sentence about a queue. */
static void why(const char *keys, const char *pool, const char *wanted)
{
    static const char begin[] = "1 request waits, for 2 s: ";
    const char *got = NULL;
    json_t *report, *all, *p;
    char text[2048];
    size_t i;

    snprintf(text, sizeof text,
             "{%s, 'groups': [{%s, 'queue': 1, 'requests': "
             "[{'state': 'waiting', 'age': 2}]}]}",
             pool, keys);
    report = parse(text);
    all = apl_report_problems(report);
    json_array_foreach(all, i, p)
    {
        if (strcmp(json_string_value(json_object_get(p, "kind")), "queueing") ==
            0)
            got = json_string_value(json_object_get(p, "text"));
    }
    assert_non_null(got);
    assert_memory_equal(got, begin, strlen(begin));
    assert_string_equal(got + strlen(begin), wanted);
    json_decref(all);
    json_decref(report);
}

static void why_requests_wait(void **state)
{
    (void)state;
    why("'size': 0, 'spawning': 1", POOL_FULL, "a process is being started");
    why("'size': 0", POOL_FULL,
        "it has no process, and the pool is full (MaxPoolSize 2)");
    why("'size': 0", "'pool': {'max': 3, 'count': 2}", "it has no process");
    why("'size': 2, 'spawning': 1, 'states': {'hung': 1}", POOL_FULL,
        "all 2 processes are busy, 1 of them hung, and a process is being "
        "started");
    why("'size': 2, 'states': {'hung': 2}", POOL_FULL,
        "all 2 processes are hung, and the pool is full (MaxPoolSize 2)");
    why("'size': 1", "'version': 1", "its only process is busy");
}

static void configured(void **state)
{
    static const apl_configured_t apps[] = {
        {"a", "a", "/srv/a", "shop", "staff"},
        {"b\xff", "b", "/srv/b", NULL, NULL}};
    json_t *report = parse("{'groups': [{'name': 'a'}, {}]}");
    json_t *used = apl_configured_begin(report);
    json_t *all = json_object_get(report, "configured");
    json_t *wanted = parse(
        "[{'name': 'a', 'label': 'a', 'app_root': '/srv/a', "
        "'user': 'shop', 'group': 'staff', 'used': true}, {'name': 'b?', "
        "'label': 'b', 'app_root': '/srv/b', 'user': null, 'group': null, "
        "'used': false}]");

    (void)state;
    assert_int_equal(json_array_size(all), 0);
    apl_configured_add(report, used, &apps[0]);
    apl_configured_add(report, used, &apps[1]);
    assert_true(json_equal(all, wanted));
    json_decref(wanted);
    json_decref(used);
    json_decref(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_wrong),
        cmocka_unit_test(starts_fail),
        cmocka_unit_test(processes_do_not_end),
        cmocka_unit_test(requests_wait),
        cmocka_unit_test(a_start_lasts_long),
        cmocka_unit_test(processes_are_hung),
        cmocka_unit_test(errors_of_a_minute),
        cmocka_unit_test(host),
        cmocka_unit_test(store),
        cmocka_unit_test(spawner),
        cmocka_unit_test(the_worst_comes_first),
        cmocka_unit_test(why_requests_wait),
        cmocka_unit_test(configured),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
