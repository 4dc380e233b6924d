/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Above MaxPoolSize a hung process is credit of its own app's, and of nobody
 * else's. */

#include "shm/check.h"
#include "tests/unit/slow.h"

/* An app that may have `extra` processes above the limits, and starts them
 * while fewer than `under` are not hung. */
static apl_app_t *app(scene_t *s, const char *name, uint32_t under,
                      uint32_t extra)
{
    apl_app_t *a = slow_app(s, name, 0, under);

    a->options.hung_extra = extra;
    return a;
}

static uint32_t size(scene_t *s, const apl_app_t *a)
{
    return scene_group(s, a)->size;
}

static void nobody_takes_what_is_anothers(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = app(s, "a", 1, 2), *b = app(s, "b", 1, 2);
    apl_hold_t h[2], other, more;

    (void)state;
    scene_busy(s, a, h, 2);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(s->pool.header->credit, 2);
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, SECOND);
    assert_int_equal(scene_take(s), 0);
    /* It is there for the one whose processes hang. */
    assert_int_equal(scene_get(s, &more, a), APR_SUCCESS);
    scene_is(s, 3, 3);
    assert_int_equal(s->pool.header->stand_ins, 1);
    /* The place of one that ends is everybody's. */
    assert_int_equal(slow_kill(s, &h[0]), APR_SUCCESS);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &other), APR_SUCCESS);
    scene_end(s);
}

/* First whoever can give way does. */
static void an_idle_one_goes_before_credit_does(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = app(s, "a", 1, 1), *b = app(s, "b", 0, 0);
    apl_app_t *c = app(s, "c", 1, 2);
    apl_hold_t ha, hb, hc, waiting;

    (void)state;
    scene_busy(s, a, &ha, 1);
    scene_busy(s, b, &hb, 1);
    scene_close(s, &hb);
    slow_look(s, LIMIT);
    assert_int_equal(s->pool.header->credit, 1);
    assert_int_equal(scene_get(s, &hc, c), APR_SUCCESS);
    assert_int_equal(size(s, b), 0);
    scene_is(s, 2, 2);
    /* So it is there for the one who has it. */
    assert_int_equal(scene_get(s, &waiting, a), APR_SUCCESS);
    scene_is(s, 3, 3);
    scene_end(s);
}

/* That holds for an app that has others, too, which else waits for room. */
static void also_where_not_all_are_hung(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = app(s, "a", 3, 2), *b = app(s, "b", 0, 0);
    apl_hold_t h[4], hb;

    (void)state;
    scene_busy(s, a, h, 1);
    s->now += LIMIT;
    scene_busy(s, a, h + 1, 1);
    scene_busy(s, b, &hb, 1);
    scene_close(s, &hb);
    slow_look(s, 0);
    assert_int_equal(scene_get(s, &h[2], a), APR_SUCCESS);
    assert_int_equal(size(s, b), 0);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    assert_int_equal(s->pool.header->stand_ins, 0);
    scene_is(s, 3, 3);
    assert_int_equal(scene_get(s, &h[3], a), APR_SUCCESS);
    assert_int_equal(s->pool.header->stand_ins, 1);
    scene_is(s, 4, 4);
    scene_end(s);
}

/* Its requests are with a process that hangs, as that has room for them. */
static void no_request_need_wait_for_that(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = app(s, "a", 1, 1), *b = app(s, "b", 0, 0);
    apl_app_t *c = app(s, "c", 1, 1);
    apl_hold_t ha[2], hb, hc[2], more;

    (void)state;
    a->options.concurrency = 0;
    scene_busy(s, c, hc, 1);
    scene_busy(s, a, ha, 1);
    slow_look(s, LIMIT);
    /* It stands in for c's, and is idle. */
    assert_int_equal(scene_get(s, &hc[1], c), APR_SUCCESS);
    scene_close(s, &hc[1]);
    assert_int_equal(s->pool.header->stand_ins, 1);
    assert_int_equal(scene_ask(s, &ha[1], a), APR_SUCCESS);
    assert_true(ha[1].id == ha[0].id);
    assert_int_equal(size(s, c), 1);
    assert_int_equal(scene_group(s, a)->spawning, 1);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    /* By that, c's credit is its own again. */
    assert_int_equal(scene_group(s, c)->stand_ins, 0);
    assert_int_equal(scene_get(s, &more, c), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &hb, b), APL_EWAIT);
    scene_ok(s);
    scene_end(s);
}

/* What is lent comes back to the one who waits for it. */
static void nor_does_whoever_lent_it(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = app(s, "a", 1, 1), *b = app(s, "b", 0, 0);
    apl_app_t *c = app(s, "c", 3, 1);
    apl_hold_t ha[2], hb, hc[3];

    (void)state;
    a->options.concurrency = 0;
    scene_busy(s, c, hc, 1);
    scene_busy(s, a, ha, 1);
    s->now += LIMIT;
    scene_busy(s, c, hc + 1, 1);
    slow_look(s, 0);
    assert_int_equal(scene_get(s, &hc[2], c), APR_SUCCESS);
    scene_close(s, &hc[2]);
    assert_int_equal(scene_get(s, &hb, b), APR_SUCCESS);
    scene_close(s, &hb);
    assert_int_equal(scene_group(s, c)->stand_ins, 1);
    assert_int_equal(scene_ask(s, &hc[2], c), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_ask(s, &ha[1], a), APR_SUCCESS);
    assert_int_equal(size(s, b), 0);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    assert_int_equal(scene_spawn(s), 2);
    assert_int_equal(scene_poll(s, &hc[2]), APR_SUCCESS);
    scene_end(s);
}

/* Who has no credit is in nobody's way that has. */
static void credit_does_not_wait_its_turn(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = app(s, "a", 2, 1), *b = app(s, "b", 2, 2);
    apl_app_t *c = app(s, "c", 2, 2);
    apl_hold_t ha[3], hb[2], hc;

    (void)state;
    scene_busy(s, a, ha, 1);
    s->now += LIMIT;
    scene_busy(s, a, ha + 1, 1);
    scene_busy(s, b, hb, 1);
    /* They all came before, with and without a process. */
    assert_int_equal(scene_ask(s, &hc, c), APL_EWAIT);
    assert_int_equal(scene_ask(s, &hb[1], b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &ha[2], a), APL_EWAIT);
    slow_look(s, 0);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &ha[2]), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &hb[1]), APL_EWAIT);
    assert_int_equal(scene_poll(s, &hc), APL_EWAIT);
    scene_is(s, 4, 4);
    scene_end(s);
}

/* A stand-in that is idle gives way to an app that may have none above the
 * limits: the pool does not grow by that, but the credit is spent on it. */
static void a_stand_in_gives_way(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 1, 2), *b = scene_app(s, "b");
    apl_hold_t h, more, other;

    (void)state;
    a->options.hung_extra = 1;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    slow_look(s, LIMIT);
    assert_int_equal(scene_spawn(s), 1);
    scene_close(s, &more);
    scene_is(s, 2, 1);
    assert_int_equal(scene_get(s, &other, b), APR_SUCCESS);
    scene_is(s, 2, 2);
    assert_int_equal(s->pool.header->counters.evicted, 1);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    /* And back. */
    scene_close(s, &other);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &more), APR_SUCCESS);
    assert_int_equal(size(s, b), 0);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* Nor does that cost a third one what is its own. */
static void what_is_lent_is_the_lenders(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = app(s, "a", 1, 1), *b = scene_app(s, "b");
    apl_app_t *c = app(s, "c", 1, 1);
    apl_hold_t ha[3], hc[2], other;

    (void)state;
    scene_busy(s, a, ha, 1);
    scene_busy(s, c, hc, 1);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &ha[1], a), APR_SUCCESS);
    scene_close(s, &ha[1]);
    assert_int_equal(scene_get(s, &other, b), APR_SUCCESS);
    scene_is(s, 3, 3);
    assert_int_equal(scene_ask(s, &ha[2], a), APL_EWAIT);
    assert_int_equal(scene_take(s), 0);
    assert_int_equal(scene_get(s, &hc[1], c), APR_SUCCESS);
    scene_is(s, 4, 4);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    assert_int_equal(scene_group(s, c)->stand_ins, 1);
    scene_end(s);
}

/* Who could not start spent nothing; and whoever came before gets nothing. */
static void a_start_that_fails_gives_it_back(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 1, 1), *b = scene_app(s, "b");
    apl_hold_t h, more, other;

    (void)state;
    scene_busy(s, a, &h, 1);
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &more, a), APL_EWAIT);
    slow_look(s, LIMIT);
    scene_failed(s, scene_take(s));
    assert_int_equal(scene_group(s, a)->stand_ins, 0);
    assert_int_equal(scene_take(s), 0);
    scene_tick(s, 2 * SECOND);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &more), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &other), APL_EWAIT);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* The hung one is killed: its stand-in is none any more, but has its place. */
static void who_outlives_the_hung_one_has_its_place(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 1, 1), *b = scene_app(s, "b");
    apl_hold_t h, more, other;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &more, a), APR_SUCCESS);
    id = more.id;
    assert_int_equal(scene_ask(s, &other, b), APL_EWAIT);
    assert_int_equal(slow_kill(s, &h), APR_SUCCESS);
    assert_int_equal(s->pool.header->stand_ins, 0);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 1, 1);
    /* It hangs in its turn: that is credit anew. */
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_true(h.id != id);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    assert_int_equal(scene_poll(s, &other), APL_EWAIT);
    scene_is(s, 2, 2);
    scene_end(s);
}

/* A hung one, and its stand-in, which is idle. */
static apl_app_t *with_a_stand_in(scene_t *s, apl_hold_t *h, uint32_t requests)
{
    apl_app_t *a = app(s, "a", 1, 1);

    a->options.max_requests = requests;
    scene_busy(s, a, &h[0], 1);
    slow_look(s, LIMIT);
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    scene_close(s, &h[1]);
    return a;
}

static void who_replaces_a_stand_in_is_one(void **state)
{
    scene_t *s = scene_new(1);
    apl_hold_t h[2], more;
    apl_app_t *a = with_a_stand_in(s, h, 0);

    (void)state;
    apl_supervise_outdate(&s->pool, h[1].id, s->now);
    assert_int_equal(scene_spawn(s), 1);
    scene_reap(s);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    scene_is(s, 2, 1);
    assert_int_equal(scene_get(s, &more, a), APR_SUCCESS);
    assert_true(more.id != h[1].id);
    scene_close(s, &more);
    scene_tick(s, SECOND);
    scene_is(s, 2, 1); /* it is no surplus */
    scene_end(s);
}

static void also_who_replaces_it_too_late(void **state)
{
    scene_t *s = scene_new(1);
    apl_hold_t h[2], more;
    apl_app_t *a = with_a_stand_in(s, h, 10);
    uint64_t id;
    int i;

    (void)state;
    for (i = 0; i < 9; i++) {
        assert_int_equal(scene_ask(s, &more, a), APR_SUCCESS);
        scene_close(s, &more);
    }
    id = scene_take(s);
    assert_int_not_equal(id, 0);
    assert_int_equal(s->pool.header->counters.retired, 1);
    assert_int_equal(scene_group(s, a)->stand_ins, 1);
    scene_ready(s, id);
    scene_tick(s, 0);
    scene_is(s, 2, 1);
    scene_end(s);
}

static void i20_who_waits_has_no_credit(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = app(s, "a", 0, 1);
    apl_finding_t finding;
    apl_hold_t h[2];

    (void)state;
    scene_busy(s, a, h, 1);
    assert_int_equal(scene_ask(s, &h[1], a), APL_EWAIT);
    slow_look(s, LIMIT);
    s->pool.groups[1].options.spawn_if_under = 1;
    assert_false(apl_check(&s->pool, &finding));
    assert_int_equal(finding.number, 20);
    scene_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_takes_what_is_anothers),
        cmocka_unit_test(an_idle_one_goes_before_credit_does),
        cmocka_unit_test(also_where_not_all_are_hung),
        cmocka_unit_test(no_request_need_wait_for_that),
        cmocka_unit_test(nor_does_whoever_lent_it),
        cmocka_unit_test(credit_does_not_wait_its_turn),
        cmocka_unit_test(a_stand_in_gives_way),
        cmocka_unit_test(what_is_lent_is_the_lenders),
        cmocka_unit_test(a_start_that_fails_gives_it_back),
        cmocka_unit_test(who_outlives_the_hung_one_has_its_place),
        cmocka_unit_test(who_replaces_a_stand_in_is_one),
        cmocka_unit_test(also_who_replaces_it_too_late),
        cmocka_unit_test(i20_who_waits_has_no_credit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
