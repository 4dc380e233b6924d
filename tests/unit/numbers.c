/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The numbers of an application: what is counted, over which time, and what
 * memory that takes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shm/format/segment.h"
#include "shm/format/timing.h"
#include "shm/slots/numbers.h"
#include "shm/verbs/enter.h"
#include "shm/verbs/response.h"
#include "shm/verbs/step.h"
#include "shm/view/snapshot.h"
#include "shm/view/view.h"
#include "tests/unit/support/memory.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/test_clock.h"

#define MS     ((int64_t)1000)
#define MINUTE (60 * SECOND)

static void respond(scene_t *s, const apl_app_t *app, uint32_t status,
                    int64_t took)
{
    const apl_response_t response = {status, 0, 100, took};

    assert_int_equal(apl_response_count(&s->pool, app, &response, s->now, 1),
                     APR_SUCCESS);
}

static apl_numbers_t *numbers(scene_t *s, int i)
{
    return &s->pool.numbers[i];
}

static void step(apl_pool_t *pool, uint64_t bytes, int64_t now)
{
    apl_step_use_t *use = calloc(pool->n.groups, sizeof *use);

    use[1].memory = bytes;
    use[1].measured = bytes > 0;
    apl_step_sample(pool, use, now);
    free(use);
}

/* Time passes, and the spawner looks each second. */
static void pass(scene_t *s, int64_t us)
{
    int64_t end = s->now + us;

    for (; s->now < end; s->now += SECOND)
        step(&s->pool, 0, s->now);
}

static apl_window_t window(scene_t *s, int which)
{
    apl_window_t is;

    apl_numbers_window(numbers(s, 1), which, s->now, &is);
    return is;
}

static uint32_t requests(scene_t *s, int which)
{
    apl_window_t is = window(s, which);
    uint32_t n = 0;
    int i;

    for (i = 0; i < APL_CLASSES; i++)
        n += is.responses[i];
    return n;
}

static void each_response_is_counted_once(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    const apl_response_t killed = {504, APL_FAULT_KILLED, 300, -1};
    const apl_response_t odd = {999, APL_FAULTS, 0, INT64_MAX};

    (void)state;
    respond(s, a, 101, -1);
    respond(s, a, 200, 3 * MS);
    respond(s, a, 404, 3 * MS);
    respond(s, b, 302, 1);
    apl_response_count(&s->pool, a, &killed, s->now, 1);
    apl_response_count(&s->pool, a, &odd, s->now, 1);
    assert_int_equal(numbers(s, 1)->responses[0], 1);
    assert_int_equal(numbers(s, 1)->responses[1], 1);
    assert_int_equal(numbers(s, 1)->responses[2], 0);
    assert_int_equal(numbers(s, 1)->responses[3], 1);
    assert_int_equal(numbers(s, 1)->responses[4], 2);
    assert_int_equal(numbers(s, 1)->bytes, 600);
    assert_int_equal(numbers(s, 1)->faults[APL_FAULT_KILLED - 1], 1);
    assert_int_equal(numbers(s, 1)->padding1, 0);
    assert_int_equal(numbers(s, 1)->times[apl_timing_class(3 * MS)], 2);
    assert_int_equal(numbers(s, 1)->times[APL_TIMES - 1], 1);
    assert_int_equal(numbers(s, 2)->responses[2], 1);
    scene_end(s);
}

static void a_window_has_what_was_in_it(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");
    int64_t begin;
    int i;

    (void)state;
    respond(s, a, 200, MS);
    begin = s->now;
    pass(s, 10 * SECOND);
    /* It is younger than the window. */
    assert_int_equal(window(s, 0).span, 10 * SECOND);
    assert_int_equal(requests(s, 0), 1);
    /* One request in each second, for two hours. */
    for (i = 0; i < 7200; i++) {
        respond(s, a, 200, MS);
        pass(s, SECOND);
    }
    for (i = 0; i < APL_WINDOWS; i++) {
        int64_t length = apl_window_lengths[i], span = window(s, i).span;

        assert_true(span >= length && span <= length / 3 * 4 + SECOND);
        assert_in_range(requests(s, i), span / SECOND - 1, span / SECOND + 1);
    }
    /* Nothing happens: the windows become empty, one after the other. */
    pass(s, 2 * MINUTE);
    assert_int_equal(requests(s, 0), 0);
    assert_true(requests(s, 1) > 0);
    pass(s, 6 * MINUTE);
    assert_int_equal(requests(s, 1), 0);
    pass(s, 80 * MINUTE);
    assert_int_equal(requests(s, 2), 0);
    assert_int_equal(numbers(s, 1)->responses[1], 7201);
    assert_int_equal(numbers(s, 1)->began, begin);
    scene_end(s);
}

/* It was between two instructions for an hour. */
static void a_slow_writer_counts_in_the_present(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");

    (void)state;
    respond(s, a, 200, MS);
    pass(s, 100 * MINUTE);
    assert_int_equal(requests(s, 2), 0);
    respond(s, a, 200, 60 * MINUTE);
    assert_int_equal(requests(s, 0), 1);
    assert_int_equal(requests(s, 2), 1);
    scene_end(s);
}

/* Counters of 32 bits pass their end. */
static void a_window_outlives_an_overflow(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");
    uint32_t class = apl_timing_class(MS);

    (void)state;
    respond(s, a, 200, MS);
    numbers(s, 1)->responses[1] = UINT64_C(0x1ffffffff);
    numbers(s, 1)->times[class] = UINT32_MAX;
    pass(s, 2 * MINUTE);
    respond(s, a, 200, MS);
    respond(s, a, 200, MS);
    assert_int_equal(requests(s, 0), 2);
    assert_int_equal(window(s, 0).times[class], 2);
    scene_end(s);
}

/* The spawner was killed while it wrote the moment that a reader would take. */
static void a_moment_without_a_time_is_passed_over(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");
    apl_moment_t *m;
    int i;

    (void)state;
    respond(s, a, 200, MS);
    pass(s, 5 * MINUTE);
    respond(s, a, 200, MS);
    for (i = 0; i < APL_MOMENTS; i++) {
        m = &numbers(s, 1)->moments[0][i];
        if (s->now - m->time >= MINUTE) {
            m->time = 0;
            memset(m->responses, 0xee, sizeof m->responses);
        }
    }
    assert_int_equal(requests(s, 0), 1); /* of a shorter time */
    assert_true(window(s, 0).span < MINUTE);
    memset(numbers(s, 1)->moments, 0, sizeof numbers(s, 1)->moments);
    assert_int_equal(requests(s, 0), 2); /* since the first one */
    pass(s, 2 * MINUTE);
    assert_int_equal(requests(s, 0), 0);
    scene_end(s);
}

/* A slot that another application gets begins at 0. */
static void another_application_begins_at_zero(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_lock_token_t token;

    (void)state;
    respond(s, a, 200, MS);
    pass(s, 2 * MINUTE);
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    apl_group_free(&token, &s->pool.groups[1]);
    apl_leave(&token);
    assert_int_equal(numbers(s, 1)->responses[1], 1);
    respond(s, b, 404, MS);
    assert_string_equal(s->pool.groups[1].name, "b");
    assert_int_equal(s->pool.groups[1].generation, 2);
    assert_int_equal(numbers(s, 1)->responses[1], 0);
    assert_int_equal(numbers(s, 1)->responses[3], 1);
    assert_int_equal(numbers(s, 1)->began, s->now);
    assert_int_equal(requests(s, 2), 1);
    scene_end(s);
}

/* An application that is not there is added, but not by a child with an older
 * configuration, and not where the lock must not be taken. */
static void only_the_newest_configuration_adds(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    const apl_response_t one = {502, 0, 0, -1};

    (void)state;
    assert_int_equal(apl_response_count(&s->pool, a, &one, s->now, 0),
                     APL_ESTALE);
    apl_configure_limits(&s->pool, 1, 2, s->now);
    assert_int_equal(apl_response_count(&s->pool, a, &one, s->now, 1),
                     APL_ESTALE);
    a->options.config = 2;
    assert_int_equal(apl_response_count(&s->pool, a, &one, s->now, 1),
                     APR_SUCCESS);
    assert_int_equal(apl_response_count(&s->pool, a, &one, s->now, 0),
                     APR_SUCCESS);
    assert_int_equal(numbers(s, 1)->responses[4], 2);
    scene_end(s);
}

static json_t *number_of(const json_t *o, const char *key)
{
    return json_object_get(o, key);
}

/* One object of the last ten minutes. */
static double in_step(const json_t *history, size_t at, const char *key)
{
    return json_number_value(number_of(json_array_get(history, at), key));
}

/* One request in each step; each second one is an error. */
static void look_at_spark(json_t *doc, const apl_pool_t *copy)
{
    const json_t *spark;
    const char *all, *errors;
    int i;

    apl_report_sparks(doc, copy);
    spark = number_of(json_array_get(number_of(doc, "groups"), 0), "spark");
    assert_true(json_number_value(number_of(spark, "peak")) == 1 / 20.0);
    all = json_string_value(number_of(spark, "all"));
    errors = json_string_value(number_of(spark, "errors"));
    assert_int_equal(strlen(all), APL_STEPS);
    assert_int_equal(strlen(errors), APL_STEPS);
    for (i = 1; i < APL_STEPS - 1; i++) {
        assert_int_equal(all[i], 'z');
        assert_true(errors[i] == (errors[i - 1] == 'z' ? '0' : 'z'));
    }
}

static void the_last_ten_minutes_are_kept(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t busy, other, waits;
    apl_pool_t *copy;
    json_t *history, *doc, *group;
    int i;

    (void)state;
    test_clock_later(60 * MINUTE / MS); /* the host may have started just now */
    s->now = apl_now() / APL_STEP_PERIOD * APL_STEP_PERIOD - 20 * MINUTE;
    a->options.max_instances = 2;
    assert_int_equal(scene_get(s, &busy, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &other, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &waits, a), APL_EWAIT);
    scene_close(s, &other); /* the waiter has it */
    scene_close(s, &waits);
    for (i = 0; i < 60; i++) {
        respond(s, a, i % 2 ? 200 : 503, 3 * MS);
        s->now += APL_STEP_PERIOD;
        assert_int_equal(
            apl_step_add_cpu(&s->pool, busy.id, 5 * SECOND, s->now), 1);
        step(&s->pool, 3 << 20, s->now);
    }
    assert_int_equal(apl_step_add_cpu(&s->pool, busy.id + 1, 1, s->now), 0);
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    history = apl_report_app_history(copy, "a");
    assert_in_range(json_array_size(history), APL_STEPS - 1, APL_STEPS);
    for (i = 1; i < (int)json_array_size(history); i++) {
        size_t at = (size_t)i;

        assert_true(in_step(history, at, "seconds") == 20);
        assert_true(in_step(history, at, "requests") == 1);
        assert_true(in_step(history, at, "2xx") + in_step(history, at, "5xx") ==
                    1);
        assert_true(in_step(history, at, "p99") > 0.0027 &&
                    in_step(history, at, "p99") < 0.0033);
        assert_true(in_step(history, at, "busy") == 1);
        assert_true(in_step(history, at, "idle") == 1);
        assert_true(in_step(history, at, "queue") == 0);
        assert_true(in_step(history, at, "cpu") == 0.25);
        assert_true(in_step(history, at, "memory") == 3 << 20);
    }
    json_decref(history);
    doc = apl_report_json(copy, 0);
    group = json_array_get(json_object_get(doc, "groups"), 0);
    assert_true(json_number_value(number_of(group, "cpu_seconds")) == 300);
    assert_true(json_number_value(number_of(group, "cpu")) == 0.25);
    assert_null(number_of(group, "spark"));
    look_at_spark(doc, copy);
    json_decref(doc);
    /* A step that is being written, and one with an impossible time. */
    s->pool.numbers[1].steps[3].time = 0;
    s->pool.numbers[1].steps[4].time = INT64_MAX;
    s->pool.numbers[1].steps[5].time = INT64_MIN;
    history = apl_report_app_history(copy, "a");
    assert_in_range(json_array_size(history), APL_STEPS - 4, APL_STEPS - 3);
    json_decref(history);
    history = apl_report_app_history(copy, "b");
    assert_int_equal(json_array_size(history), 0);
    json_decref(history);
    scene_end(s);
}

/* The spawner is some time late for each step. */
static void each_step_has_its_place_in_the_spark(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");
    int64_t edge, late = 2 * SECOND;
    apl_pool_t *copy;
    const char *all;
    json_t *doc;
    int i;

    (void)state;
    test_clock_later(20 * MINUTE / MS);
    test_clock_later((APL_STEP_PERIOD + SECOND - apl_now() % APL_STEP_PERIOD) /
                     MS);
    edge = apl_now() / APL_STEP_PERIOD * APL_STEP_PERIOD - 20 * MINUTE;
    for (i = 0; i < 60; i++, edge += APL_STEP_PERIOD) {
        s->now = edge + late;
        respond(s, a, 200, 3 * MS);
        step(&s->pool, 0, s->now);
        late = 2 * SECOND - late;
    }
    /* One second of the next step is over. */
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    doc = apl_report_json(copy, 0);
    apl_report_sparks(doc, copy);
    all = json_string_value(number_of(
        number_of(json_array_get(number_of(doc, "groups"), 0), "spark"),
        "all"));
    for (i = 1; i < APL_STEPS; i++)
        assert_true(all[i] > 'p');
    json_decref(doc);
    scene_end(s);
}

/* The longest queue of a step, also if it is empty at the end of it. */
static void a_step_has_the_longest_queue(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t holds[4];
    int i;

    (void)state;
    assert_int_equal(scene_get(s, &holds[0], a), APR_SUCCESS);
    for (i = 1; i < 4; i++)
        assert_int_equal(scene_ask(s, &holds[i], a), APL_EWAIT);
    step(&s->pool, 0, s->now);
    for (i = 0; i < 4; i++)
        scene_close(s, &holds[i]);
    s->now += APL_STEP_PERIOD;
    step(&s->pool, 0, s->now);
    s->now += APL_STEP_PERIOD;
    step(&s->pool, 0, s->now);
    for (i = 0; i < 3; i++) {
        int64_t at = s->now / APL_STEP_PERIOD + i - 2;

        assert_int_equal(numbers(s, 1)->steps[at % APL_STEPS].queue,
                         i < 2 ? 3 : 0);
    }
    scene_end(s);
}

static void die(scene_t *s, const char *reason)
{
    apl_lock_token_t token;

    s->now += SECOND;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, APL_FOREVER),
                     APR_SUCCESS);
    apl_numbers_note_death(&token, &s->pool.groups[1], reason);
    apl_leave(&token);
}

static const char *word_of(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static void deaths_are_counted_by_reason(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t hold;
    char reason[60];
    apl_pool_t *copy;
    json_t *doc, *all, *one;
    int i;

    (void)state;
    assert_int_equal(scene_get(s, &hold, a), APR_SUCCESS);
    assert_int_equal(
        apl_supervise_died(&s->pool, hold.id, "exit code 1", s->now),
        APR_SUCCESS);
    die(s, "exit code 1");
    assert_int_equal(numbers(s, 1)->deaths[0].count, 2);
    die(s, "");
    for (i = 0; i < APL_DEATHS - 1; i++) {
        snprintf(reason, sizeof reason, "signal %d%50s", i, ", core dumped");
        die(s, reason);
        die(s, reason);
    }
    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    doc = apl_report_json(copy, 0);
    all = json_object_get(json_array_get(json_object_get(doc, "groups"), 0),
                          "deaths");
    assert_int_equal(json_array_size(all), APL_DEATHS);
    one = json_array_get(all, 0);
    assert_int_equal(strlen(word_of(one, "reason")), 35);
    assert_int_equal(json_integer_value(json_object_get(one, "count")), 2);
    one = json_array_get(all, APL_DEATHS - 1);
    assert_string_equal(word_of(one, "reason"), "died");
    json_decref(doc);
    scene_end(s);
}

#define CHILDREN 4
#define EACH     5000

/* Nothing is lost and nothing is counted twice while the spawner looks. */
static void several_children_count_at_once(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");
    uint64_t times = 0;
    pid_t pids[CHILDREN];
    int i, k, status;

    (void)state;
    respond(s, a, 404, -1);
    for (i = 0; i < CHILDREN; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            for (k = 0; k < EACH; k++)
                respond(s, a, 200, k * MS);
            _exit(0);
        }
    }
    for (k = 0; k < 200; k++) {
        s->now += APL_STEP_PERIOD;
        step(&s->pool, 0, s->now);
    }
    for (i = 0; i < CHILDREN; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    for (i = 0; i < APL_TIMES; i++)
        times += numbers(s, 1)->times[i];
    assert_int_equal(times, CHILDREN * EACH);
    assert_int_equal(numbers(s, 1)->responses[1], CHILDREN * EACH);
    assert_int_equal(numbers(s, 1)->bytes, 100 * (CHILDREN * EACH + 1));
    scene_end(s);
}

/* A child of httpd may write anything there. */
static void any_bytes_are_shown(void **state)
{
    scene_t *s = scene_new(1);
    const apl_app_t *a = scene_app(s, "a");
    unsigned char *bytes = (unsigned char *)numbers(s, 1);
    unsigned seed = 1, turn;
    apl_pool_t *copy;
    char *text;
    json_t *doc;
    size_t i;

    (void)state;
    respond(s, a, 200, MS);
    for (turn = 0; turn < 100; turn++) {
        for (i = 0; i < sizeof(apl_numbers_t); i++)
            bytes[i] = turn < 50 ? (unsigned char)rand_r(&seed)
                                 : (unsigned char)(turn - 50) * 5;
        numbers(s, 1)->generation = s->pool.groups[1].generation;
        assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory),
                         APR_SUCCESS);
        doc = apl_report_json(copy, 0);
        apl_report_only(doc, copy, "a");
        text = json_dumps(doc, APL_REPORT_REALS);
        assert_non_null(text);
        free(text);
        json_decref(doc);
        respond(s, a, 200, MS);
        step(&s->pool, 1, s->now);
        s->now += APL_STEP_PERIOD;
    }
    scene_end(s);
}

/* Each page of a sealed memfd takes memory from its first use on. */
static long resident(const apl_pool_t *pool)
{
    struct stat st;

    assert_int_equal(fstat(pool->file, &st), 0);
    return st.st_blocks * 512l;
}

static void look_at_all(apl_pool_t *pool, int64_t now)
{
    apl_pool_t *copy;

    assert_int_equal(apl_snapshot_take(&copy, pool, memory), APR_SUCCESS);
    json_decref(apl_report_json(copy, 0));
    step(pool, 0, now);
}

static void memory_is_taken_when_it_is_used(void **state)
{
    const apl_capacity_t n = {1000, 10, 10, 2};
    const apl_response_t one = {200, 0, 100, MS};
    apl_app_t a = {.name = "a", .root = "/srv", .key = apl_group_key("a")};
    apl_pool_t pool;
    apl_lock_token_t token;
    apl_group_t *g;
    long before;

    (void)state;
    assert_int_equal(apl_segment_create(&pool, &n), APR_SUCCESS);
    assert_int_equal(((char *)pool.numbers - pool.base) % 4096, 0);
    assert_int_equal(apl_enter_app(&token, &pool, &a, 1, &g), APR_SUCCESS);
    apl_leave(&token);
    look_at_all(&pool, MINUTE); /* it reads other pages that nobody has used */
    before = resident(&pool);
    look_at_all(&pool, 2 * MINUTE);
    assert_int_equal(resident(&pool), before);
    assert_int_equal(apl_response_count(&pool, &a, &one, MINUTE, 0),
                     APR_SUCCESS);
    look_at_all(&pool, 100 * MINUTE);
    look_at_all(&pool, 200 * MINUTE);
    assert_int_equal(resident(&pool), before + 8192);
    apl_segment_close(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_response_is_counted_once),
        cmocka_unit_test(a_window_has_what_was_in_it),
        cmocka_unit_test(a_slow_writer_counts_in_the_present),
        cmocka_unit_test(a_window_outlives_an_overflow),
        cmocka_unit_test(a_moment_without_a_time_is_passed_over),
        cmocka_unit_test(another_application_begins_at_zero),
        cmocka_unit_test(only_the_newest_configuration_adds),
        cmocka_unit_test(the_last_ten_minutes_are_kept),
        cmocka_unit_test(each_step_has_its_place_in_the_spark),
        cmocka_unit_test(a_step_has_the_longest_queue),
        cmocka_unit_test(several_children_count_at_once),
        cmocka_unit_test(any_bytes_are_shown),
        cmocka_unit_test(deaths_are_counted_by_reason),
        cmocka_unit_test(memory_is_taken_when_it_is_used),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
