/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The one place above MaxPoolSize. Processes that replace another one use it,
 * and tries of an app whose starts fail. Apps take turns for it. */

#include "shm/format/list.h"
#include "tests/unit/support/scene.h"

#define PAUSE (61 * SECOND) /* longer than any back-off */

/* A request for an app that does not start. */
static void fail_once(scene_t *s, const apl_app_t *app)
{
    apl_session_ref_t h;
    uint64_t id;

    assert_int_equal(scene_ask(s, &h, app), APL_EWAIT);
    id = scene_take(s);
    assert_int_not_equal(id, 0);
    scene_failed(s, id);
    assert_int_equal(scene_poll(s, &h), APL_ESTART);
    scene_reap(s);
}

/* An idle process of a healthy app in a pool of one; and a broken app, whose
 * defect is not known yet. */
static void begin(scene_t *s, apl_app_t **healthy, apl_app_t **broken)
{
    apl_session_ref_t h;

    *healthy = scene_app(s, "healthy");
    *broken = scene_app(s, "broken");
    assert_int_equal(scene_get(s, &h, *healthy), APR_SUCCESS);
    scene_close(s, &h);
    fail_once(s, *broken);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    assert_int_equal(scene_get(s, &h, *healthy), APR_SUCCESS);
    scene_close(s, &h);
    s->now += PAUSE;
}

static void the_tries_of_a_failing_app_end_no_process(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a, *b;
    int i;

    (void)state;
    begin(s, &a, &b);
    for (i = 0; i < 10; i++) {
        fail_once(s, b);
        assert_int_equal(scene_group(s, a)->size, 1);
        s->now += PAUSE;
    }
    assert_int_equal(s->pool.header->counters.evicted, 1);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void a_successful_try_ends_a_process(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a, *b;
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    begin(s, &a, &b);
    a->options.min_instances = 1; /* this locks no other app out */
    apl_configure_group(&s->pool, a, 0, s->now);
    assert_int_equal(scene_ask(s, &h, b), APL_EWAIT);
    id = scene_take(s);
    assert_int_equal(scene_condition(s, id).replaces, 0);
    assert_int_equal(scene_group(s, a)->size, 1);
    scene_ready(s, id);
    assert_int_equal(scene_poll(s, &h), APR_SUCCESS);
    assert_int_equal(scene_group(s, a)->size, 0);
    assert_int_equal(s->pool.header->counters.evicted, 2);
    scene_is(s, 1, 1);
    scene_end(s);
}

/* If no process is idle, the next one that becomes idle leaves. */
static void a_busy_process_leaves_after_its_request(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a, *b;
    apl_session_ref_t ha, hb;

    (void)state;
    begin(s, &a, &b);
    assert_int_equal(scene_ask(s, &ha, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &hb, b), APR_SUCCESS);
    scene_is(s, 2, 2);
    scene_close(s, &ha);
    assert_int_equal(scene_group(s, a)->size, 0);
    scene_is(s, 1, 1);
    scene_end(s);
}

/* A failing app that waits for its try blocks no healthy app. */
static void a_failing_app_delays_no_healthy_app(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a, *b, *c;
    apl_session_ref_t hb, hc;
    uint64_t id;

    (void)state;
    begin(s, &a, &b);
    c = scene_app(s, "new");
    assert_int_equal(scene_ask(s, &hb, b), APL_EWAIT);
    id = scene_take(s);
    assert_int_not_equal(id, 0);
    assert_int_equal(scene_get(s, &hc, c), APR_SUCCESS);
    assert_int_equal(scene_group(s, a)->size, 0);
    assert_int_equal(s->pool.header->counters.evicted, 2);
    scene_failed(s, id);
    assert_int_equal(scene_poll(s, &hb), APL_ESTART);
    scene_is(s, 1, 1);
    scene_end(s);
}

/* A request of a failing app is older than those of two healthy apps. It cannot
 * have the process that becomes idle: so the older one of the two has it. */
static void a_failing_app_lets_nobody_overtake(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a, *b, *c, *d;
    apl_session_ref_t ha, hb, hc, hd, older;

    (void)state;
    begin(s, &a, &b);
    c = scene_app(s, "also-broken");
    fail_once(s, c);
    assert_int_equal(scene_get(s, &ha, a), APR_SUCCESS);
    s->now += PAUSE;
    assert_int_equal(scene_ask(s, &hb, b), APL_EWAIT);
    assert_int_not_equal(scene_take(s), 0); /* the place above is taken */
    assert_int_equal(scene_ask(s, &hc, c), APL_EWAIT);
    assert_int_equal(scene_ask(s, &older, a), APL_EWAIT);
    d = scene_app(s, "new");
    assert_int_equal(scene_ask(s, &hd, d), APL_EWAIT);
    scene_close(s, &ha);
    assert_int_equal(scene_poll(s, &older), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &hc), APL_EWAIT);
    assert_int_equal(scene_poll(s, &hd), APL_EWAIT);
    scene_is(s, 1, 1);
    scene_end(s);
}

/* It keeps only its turn for the place above the limit, so the walk does not
 * pass it with each request. */
static void a_failing_app_is_passed_over_once(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a, *b, *c;
    const apl_group_t *failing;
    apl_session_ref_t ha, hb, hc;
    uint64_t id;

    (void)state;
    begin(s, &a, &b);
    c = scene_app(s, "also-broken");
    fail_once(s, c);
    failing = scene_group(s, c);
    assert_int_equal(scene_get(s, &ha, a), APR_SUCCESS);
    s->now += PAUSE;
    assert_int_equal(scene_ask(s, &hb, b), APL_EWAIT);
    id = scene_take(s); /* the place above is taken */
    assert_int_equal(scene_ask(s, &hc, c), APL_EWAIT);
    scene_close(s, &ha);
    scene_ok(s);
    assert_false(apl_list_linked(&failing->turn));
    assert_true(apl_list_linked(&failing->above));
    scene_failed(s, id);
    assert_int_equal(scene_poll(s, &hb), APL_ESTART);
    id = scene_take(s);
    assert_ptr_equal(&s->pool.groups[scene_process(s, id)->group], failing);
    scene_ready(s, id);
    assert_int_equal(scene_poll(s, &hc), APR_SUCCESS);
    scene_reap(s);
    scene_is(s, 1, 1);
    scene_end(s);
}

/* New code for two apps, a and b, which have that many busy processes. */
static void restart_busy(scene_t *s, apl_session_ref_t *ha, int na,
                         apl_session_ref_t *hb, int nb)
{
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");

    scene_busy(s, a, ha, na);
    scene_busy(s, b, hb, nb);
    apl_admin_restart(&s->pool, a->name, 1, s->now);
    apl_admin_restart(&s->pool, b->name, 1, s->now);
}

/* The next order is for this group. */
static uint64_t take_of(scene_t *s, uint32_t group)
{
    uint64_t id = scene_take(s);

    assert_int_not_equal(id, 0);
    assert_int_equal(scene_process(s, id)->group, group);
    return id;
}

/* Two apps with new code: neither waits until all processes of the other are
 * replaced. */
static void two_apps_are_replaced_in_turn(void **state)
{
    scene_t *s = scene_new(6);
    apl_session_ref_t ha[4], hb[2];
    uint64_t id;
    int i, first = 1, second = 2;

    (void)state;
    restart_busy(s, ha, 4, hb, 2);
    for (i = 0; i < 6; i++) {
        uint32_t turn = (uint32_t)(i < 4 && i % 2 != 0 ? second : first);

        id = take_of(s, turn);
        assert_int_equal(scene_take(s), 0);
        s->now += SECOND;
        scene_ready(s, id);
        scene_tick(s, 0);
    }
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(s->pool.groups[1].outdated, 0);
    assert_int_equal(s->pool.groups[2].outdated, 0);
    scene_end(s);
}

/* An app whose new code does not start does not block the other app. */
static void one_that_backs_off_is_passed_over(void **state)
{
    scene_t *s = scene_new(3);
    apl_session_ref_t ha[1], hb[2];
    int i;

    (void)state;
    restart_busy(s, ha, 1, hb, 2);
    scene_failed(s, scene_take(s));
    for (i = 0; i < 2; i++)
        scene_ready(s, take_of(s, 2));
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, 2 * SECOND);
    take_of(s, 1);
    scene_end(s);
}

/* The walk does not pass apps that cannot start now with each request. */
static void an_app_that_cannot_start_loses_its_turn(void **state)
{
    scene_t *s = scene_new(8);
    const apl_header_t *header = s->pool.header;
    apl_session_ref_t ha[2], hb[1];
    uint64_t id;

    (void)state;
    restart_busy(s, ha, 2, hb, 1);
    id = scene_take(s);
    scene_failed(s, scene_take(s)); /* B backs off, while A starts one */
    scene_tick(s, 0);
    assert_int_equal(apl_list_first(&s->pool, &header->above), 0);
    scene_ready(s, id);
    take_of(s, 1);
    scene_tick(s, 2 * SECOND);
    take_of(s, 2);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tries_of_a_failing_app_end_no_process),
        cmocka_unit_test(a_successful_try_ends_a_process),
        cmocka_unit_test(a_busy_process_leaves_after_its_request),
        cmocka_unit_test(a_failing_app_delays_no_healthy_app),
        cmocka_unit_test(a_failing_app_lets_nobody_overtake),
        cmocka_unit_test(a_failing_app_is_passed_over_once),
        cmocka_unit_test(two_apps_are_replaced_in_turn),
        cmocka_unit_test(one_that_backs_off_is_passed_over),
        cmocka_unit_test(an_app_that_cannot_start_loses_its_turn),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
