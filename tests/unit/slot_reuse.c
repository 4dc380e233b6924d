/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A slot that is used again contains nothing of its last use. */

#include <stdio.h>

#include "shm/slots/group.h"
#include "tests/unit/support/scene.h"

/* More sessions than one lock covers. */
static void dies_with_sessions(scene_t *s, apl_app_t *a, uint32_t child)
{
    apl_child_watch_t watch;
    apl_session_ref_t h;
    int i;

    for (i = 0; i < 300; i++)
        assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(apl_child_watch_at(&s->pool, child, &watch), APR_SUCCESS);
    assert_int_equal(apl_child_watch_gone(&s->pool, &watch, s->now),
                     APR_SUCCESS);
    scene_hang_up(s);
    scene_is(s, 1, 0);
}

static void each_death_of_a_child_is_counted_once(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    uint32_t first = s->pool.self;

    (void)state;
    a->options.concurrency = 0;
    dies_with_sessions(s, a, first);
    assert_int_equal(s->pool.header->counters.child_deaths, 1);
    assert_int_equal(scene_child(s), first);
    dies_with_sessions(s, a, first);
    assert_int_equal(s->pool.header->counters.child_deaths, 2);
    scene_end(s);
}

/* Damage has set back the generation of a session. So the session of another
 * child has the generation of the one before it. */
static void a_hold_is_its_owners(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    uint32_t first = s->pool.self, second = scene_child(s);
    apl_session_ref_t old, hold;

    (void)state;
    scene_be(s, first);
    assert_int_equal(scene_get(s, &old, a), APR_SUCCESS);
    hold = old;
    scene_close(s, &hold);
    s->pool.sessions[old.session].generation--;
    scene_be(s, second);
    assert_int_equal(scene_get(s, &hold, a), APR_SUCCESS);
    assert_true(hold.session == old.session &&
                hold.generation == old.generation);
    scene_be(s, first);
    scene_close(s, &old);
    scene_is(s, 1, 1);
    scene_be(s, second);
    scene_close(s, &hold);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* The waiter of the group gave up behind another one, so the turn never
 * came. */
static void a_group_that_is_gone_has_no_turn(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b"), *c, *d;
    apl_session_ref_t h, first, w;
    uint32_t index;

    (void)state;
    c = scene_app(s, "c");
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &first, b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &w, c), APL_EWAIT);
    index = s->pool.sessions[w.session].group;
    scene_close(s, &w);
    assert_int_equal(apl_configure_remove(&s->pool, "c", s->now), APR_SUCCESS);
    scene_tick(s, 1000000);
    assert_int_equal(s->pool.groups[index].state, APL_GROUP_FREE);
    d = scene_app(s, "d");
    assert_int_equal(scene_ask(s, &w, d), APL_EWAIT);
    assert_int_equal(s->pool.sessions[w.session].group, index);
    scene_ok(s);
    scene_end(s);
}

/* FNV-1a gives these names the same hash. */
static void names_of_one_hash_are_two_groups(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, ""), *b = scene_app(s, "");
    apl_session_ref_t ha, hb;

    (void)state;
    a->name = "8yn0iYCKYHlIj4-BwPqk";
    b->name = "GReLUrM4wMqfg9yzV3KQ";
    a->key = apl_group_key(a->name);
    b->key = apl_group_key(b->name);
    assert_true(a->key == b->key);
    assert_int_equal(scene_get(s, &ha, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &hb, b), APR_SUCCESS);
    assert_int_not_equal(s->pool.sessions[ha.session].group,
                         s->pool.sessions[hb.session].group);
    scene_close(s, &ha);
    scene_close(s, &hb);
    scene_end(s);
}

/* This many apps whose names have the same bucket. */
static void crowd(scene_t *s, apl_app_t **apps, int n)
{
    const apl_link_t *bucket = NULL;
    unsigned i;

    for (i = 0; n > 0; i++) {
        char name[16];
        const apl_link_t *of;

        snprintf(name, sizeof name, "app%u", i);
        of = apl_group_bucket(&s->pool, apl_group_key(name));
        if (bucket && of != bucket)
            continue;
        bucket = of;
        *apps++ = scene_app(s, name);
        n--;
    }
}

/* Only damage puts more groups into a bucket, and each walk would pass all
 * of them. */
static void a_bucket_has_an_end(void **state)
{
    enum { NAMES = 60 };
    scene_t *s = scene_new(1);
    apl_pool_t *pool = &s->pool;
    apl_app_t *apps[NAMES];
    uint32_t i, most = 0, used = 0;

    (void)state;
    crowd(s, apps, NAMES);
    while (apl_configure_group(pool, apps[most], 1, s->now) == APR_SUCCESS)
        assert_true(++most < NAMES);
    assert_int_equal(apl_configure_group(pool, apps[most], 1, s->now),
                     APL_EFULL);
    scene_ok(s);
    for (i = most; i < NAMES; i++) {
        apl_group_t *g = &pool->groups[++pool->header->top_group];

        *g = pool->groups[1];
        g->key = apps[i]->key;
        snprintf(g->name, sizeof g->name, "%s", apps[i]->name);
        apl_group_link(pool, g);
    }
    scene_repair(s);
    scene_ok(s);
    for (i = 1; i <= NAMES; i++)
        used += pool->groups[i].state == APL_GROUP_USED;
    assert_int_equal(used, most);
    for (i = 0; i < most; i++)
        assert_int_equal(apl_group_index(pool, apps[i]->key, apps[i]->name),
                         i + 1);
    scene_end(s);
}

/* After the busiest hour the last slots are free, and are not looked at any
 * more. A request from that time has the last slot, and new requests get the
 * first ones. */
static void marks_of_use_fall(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_header_t *h = s->pool.header;
    apl_session_ref_t holds[40], next[10];
    uint32_t last = 0, generation;
    int i;

    (void)state;
    a->options.concurrency = 0;
    scene_busy(s, a, holds, 40);
    assert_int_equal(h->top_session, 40);
    for (i = 0; i < 40; i++)
        if (holds[i].session != 40)
            scene_close(s, &holds[i]);
        else
            last = (uint32_t)i;
    scene_tick(s, SECOND);
    assert_int_equal(h->top_session, 40);
    scene_busy(s, a, next, 10);
    for (i = 0; i < 10; i++)
        assert_true(next[i].session <= 20);
    generation = s->pool.sessions[40].generation;
    scene_close(s, &holds[last]);
    scene_tick(s, SECOND);
    assert_true(h->top_session <= 20);
    for (i = 0; i < 10; i++)
        scene_close(s, &next[i]);
    scene_tick(s, SECOND);
    assert_int_equal(h->top_session, 0);
    /* A slot that is used again is a new one for old references. */
    scene_busy(s, a, holds, 40);
    assert_int_equal(s->pool.sessions[40].generation, generation + 1);
    for (i = 0; i < 40; i++)
        scene_close(s, &holds[i]);
    apl_supervise_detach(&s->pool, holds[0].id, APL_EVENT_DETACHED, s->now);
    assert_int_equal(h->top_process, 1);
    scene_reap(s);
    scene_tick(s, SECOND);
    assert_int_equal(h->top_process, 0);
    assert_int_equal(scene_get(s, &holds[0], a), APR_SUCCESS);
    assert_int_equal(s->pool.processes[1].generation, 2);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_death_of_a_child_is_counted_once),
        cmocka_unit_test(a_hold_is_its_owners),
        cmocka_unit_test(a_group_that_is_gone_has_no_turn),
        cmocka_unit_test(names_of_one_hash_are_two_groups),
        cmocka_unit_test(a_bucket_has_an_end),
        cmocka_unit_test(marks_of_use_fall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
