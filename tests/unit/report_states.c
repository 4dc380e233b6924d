/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The states of processes and requests in the report. */

#include <jansson.h>

#include "shm/view/view.h"
#include "shm/view/snapshot.h"
#include "tests/unit/support/memory.h"
#include "tests/unit/support/slow.h"

static json_t *report(scene_t *s)
{
    apl_pool_t *copy;

    assert_int_equal(apl_snapshot_take(&copy, &s->pool, memory), APR_SUCCESS);
    return apl_report_json(copy, 1);
}

static json_int_t of(const json_t *owner, const char *state)
{
    const json_t *n = json_object_get(json_object_get(owner, "states"), state);

    assert_true(json_is_integer(n));
    return json_integer_value(n);
}

static json_int_t number(const json_t *owner, const char *key)
{
    return json_integer_value(json_object_get(owner, key));
}

static void is(scene_t *s, const json_t *requests, const apl_session_ref_t *h,
               const char *state)
{
    json_int_t ticket = (json_int_t)s->pool.sessions[h->session].ticket;
    const json_t *one;
    size_t i;

    json_array_foreach(requests, i, one)
    {
        if (number(one, "id") != ticket)
            continue;
        assert_string_equal(json_string_value(json_object_get(one, "state")),
                            state);
        return;
    }
    fail_msg("no request %ld", (long)ticket);
}

/* An idle one, a hung one, and so on: one each, but for two that are busy. */
static void p1_each_process_is_in_one_state(void **state)
{
    static const char *const words[] = {
        "starting", "idle", "busy", "hung", "dying", "unkillable", "leaving"};
    scene_t *s = scene_new(9);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h[9];
    json_t *r, *g, *p;
    json_int_t sum = 0;
    size_t i;

    (void)state;
    s->now = apl_now() - LIMIT; /* the report reads the clock itself */
    scene_busy(s, a, h, 1);
    scene_busy(s, a, h + 1, 1);
    apl_checkout_set_long_lived(&s->pool, &h[1], APL_LONG_LIVED_RESPONSE);
    s->now += LIMIT;
    scene_busy(s, a, h + 2, 5);
    slow_look(s, 0);
    assert_int_equal(slow_kill(s, &h[2]), APR_SUCCESS);
    assert_int_equal(slow_kill(s, &h[3]), APR_SUCCESS);
    assert_int_equal(apl_timeouts_mark_unkillable(&s->pool, h[3].id, s->now),
                     APR_SUCCESS);
    apl_supervise_detach(&s->pool, h[4].id, APL_EVENT_DETACHED, s->now);
    scene_close(s, &h[5]);
    scene_ok(s);
    /* h[6] is busy. One is idle, so another app's is what is started. */
    assert_int_equal(scene_ask(s, &h[7], slow_app(s, "b", 0, 0)), APL_EWAIT);
    r = report(s);
    g = json_array_get(json_object_get(r, "groups"), 0);
    p = json_object_get(r, "pool");
    for (i = 0; i < sizeof words / sizeof *words; i++) {
        assert_int_equal(of(p, words[i]), i == 2 ? 2 : 1);
        assert_int_equal(of(g, words[i]), i == 2 ? 2 : i != 0);
        sum += of(g, words[i]);
    }
    assert_int_equal(sum, json_array_size(json_object_get(g, "processes")));
    assert_int_equal(number(p, "count"),
                     of(p, "idle") + of(p, "busy") + of(p, "hung"));
    assert_int_equal(number(p, "spawning"), of(p, "starting"));
    assert_int_equal(number(p, "leaving"),
                     of(p, "dying") + of(p, "unkillable") + of(p, "leaving"));
    is(s, json_object_get(g, "requests"), &h[0], "hung");
    is(s, json_object_get(g, "requests"), &h[1], "long_lived");
    is(s, json_object_get(g, "requests"), &h[6], "busy");
    g = json_array_get(json_object_get(r, "groups"), 1);
    is(s, json_object_get(g, "requests"), &h[7], "waiting");
    json_decref(r);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(p1_each_process_is_in_one_state),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
