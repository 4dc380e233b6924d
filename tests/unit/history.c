/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The last ten minutes: the samples, and what the report makes of them. Also
 * how much of a query the report shows. */

#include <apr_general.h>
#include <apr_strings.h>
#include <string.h>

#include "shm/verbs/history.h"
#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "tests/unit/support/scene.h"

static void sample(scene_t *s, int64_t after)
{
    s->now += after;
    assert_int_equal(apl_history_sample(&s->pool, s->now), APR_SUCCESS);
    scene_ok(s);
}

static void a_sample_is_taken_when_it_is_due(void **state)
{
    scene_t *s = scene_new(1);
    const apl_header_t *h = s->pool.header;
    int i;

    (void)state;
    sample(s, 0);
    assert_int_equal(h->n_samples, 1);
    sample(s, 4 * SECOND);
    assert_int_equal(h->n_samples, 1);
    sample(s, SECOND);
    assert_int_equal(h->n_samples, 2);
    /* A sample with an impossible time is no reason to wait. */
    s->pool.header->samples[1].time = s->now + 1000 * SECOND;
    sample(s, SECOND);
    assert_int_equal(h->n_samples, 3);
    s->pool.header->samples[2].time = INT64_MIN;
    sample(s, SECOND);
    assert_int_equal(h->n_samples, 4);
    for (i = 0; i < 2 * APL_SAMPLE_MAX; i++)
        sample(s, 5 * SECOND);
    assert_int_equal(h->n_samples, 4 + 2 * APL_SAMPLE_MAX);
    scene_end(s);
}

static double real(const json_t *array, size_t at, const char *key)
{
    return json_number_value(json_object_get(json_array_get(array, at), key));
}

static void the_report_tells_what_was_between(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t holds[3];
    json_t *history;
    int i;

    (void)state;
    assert_int_equal(scene_get(s, &holds[0], a), APR_SUCCESS);
    sample(s, 0);
    for (i = 1; i < 3; i++)
        assert_int_equal(scene_ask(s, &holds[i], a), APL_EWAIT);
    s->now += 2 * SECOND;
    for (i = 0; i < 3; i++)
        scene_close(s, &holds[i]);
    sample(s, 8 * SECOND);
    sample(s, 5 * SECOND);
    history = apl_report_history(s->pool.header);
    assert_int_equal(json_array_size(history), 2);
    assert_true(real(history, 0, "seconds") == 10.0);
    assert_true(real(history, 0, "rate") == 0.2); /* two of the three */
    assert_true(real(history, 0, "latency") == 2.0 / 3);
    assert_true(real(history, 0, "queue") == 2); /* at most */
    assert_true(real(history, 1, "rate") == 0);
    assert_true(real(history, 1, "queue") == 0);
    assert_true(
        json_is_null(json_object_get(json_array_get(history, 1), "latency")));
    json_decref(history);
    /* Counters that went back are left out. */
    s->pool.header->samples[1].served = 0;
    s->pool.header->samples[1].requests = 0;
    history = apl_report_history(s->pool.header);
    assert_int_equal(json_array_size(history), 1);
    json_decref(history);
    scene_end(s);
}

/* The only request in the report on a snapshot. */
static json_t *request(scene_t *s, apr_pool_t *p, int full)
{
    apl_pool_t *copy;
    json_t *doc, *group, *one;

    assert_int_equal(apl_snapshot_take(&copy, &s->pool, p), APR_SUCCESS);
    doc = apl_report_json(copy, full);
    group = json_array_get(json_object_get(doc, "groups"), 0);
    one = json_deep_copy(json_array_get(json_object_get(group, "requests"), 0));
    json_decref(doc);
    return one;
}

static void expect(scene_t *s, const char *uri, const char *query)
{
    apr_pool_t *p;
    json_t *one;
    const char *shown;

    apr_pool_create(&p, NULL);
    one = request(s, p, 0);
    assert_string_equal(json_string_value(json_object_get(one, "uri")), uri);
    assert_null(json_object_get(one, "query"));
    json_decref(one);
    one = request(s, p, 1);
    shown = json_string_value(json_object_get(one, "query"));
    assert_string_equal(shown ? shown : "", query);
    json_decref(one);
    apr_pool_destroy(p);
}

static void a_query_is_shown_only_in_the_full_report(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_request_t request = {"GET", "/pay", "::1", "card=4711", 0};
    char path[200];
    apl_session_ref_t hold;
    size_t n;

    (void)state;
    apr_initialize();
    assert_int_equal(scene_get(s, &hold, a), APR_SUCCESS);
    scene_close(s, &hold);
    assert_int_equal(apl_checkout(&s->pool, &hold, a, &request, NULL, s->now),
                     APR_SUCCESS);
    expect(s, "/pay", "card=4711");
    scene_close(s, &hold);
    /* The next request in its slot has nothing from it. */
    assert_int_equal(apl_checkout(&s->pool, &hold, a, NULL, NULL, s->now),
                     APR_SUCCESS);
    expect(s, "", "");
    scene_close(s, &hold);
    request.query = NULL;
    assert_int_equal(apl_checkout(&s->pool, &hold, a, &request, NULL, s->now),
                     APR_SUCCESS);
    expect(s, "/pay", "");
    scene_close(s, &hold);
    /* A path that leaves little or no room for a query. */
    memset(path, 'a', sizeof path);
    request.query = "card=4711";
    request.uri = path;
    for (n = 100; n < 130; n++) {
        const size_t room = sizeof s->pool.sessions->uri - 1;
        char shown[200], query[20];

        path[n] = 0;
        assert_int_equal(
            apl_checkout(&s->pool, &hold, a, &request, NULL, s->now),
            APR_SUCCESS);
        apr_cpystrn(shown, path, room + 1);
        apr_cpystrn(query, request.query, n + 1 < room ? room - n : 1);
        expect(s, shown, query);
        scene_close(s, &hold);
        path[n] = 'a';
    }
    apr_terminate();
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_taken_when_it_is_due),
        cmocka_unit_test(the_report_tells_what_was_between),
        cmocka_unit_test(a_query_is_shown_only_in_the_full_report),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
