/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Verbs of the spawner in damaged pools, before a repair. They end and stay in
 * bounds, and afterwards the pool is repaired. */

#include <stdlib.h>
#include <unistd.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/format/list.h"
#include "shm/lock/lock.h"
#include "tests/unit/support/repeats.h"
#include "tests/unit/support/scene.h"

#define DAMAGED repeats(3000) /* pools */

static uint32_t wild_value(const scene_t *s)
{
    static const uint32_t plain[] = {0, 1, 2, 3, 5, 64, 0x7fffffff, 0xffffffff};
    const apl_pool_t *p = &s->pool;
    uint32_t i = 1 + (uint32_t)rand() % 8;

    switch (rand() % 8) {
    case 0:
        return APL_OFFSET(p, &p->processes[i].pool);
    case 1:
        return APL_OFFSET(p, &p->processes[i].idle);
    case 2:
        return APL_OFFSET(p, &p->processes[i].member);
    case 3:
        return APL_OFFSET(p, &p->sessions[i].link);
    case 4:
        return APL_OFFSET(p, &p->groups[1 + i % 3].turn);
    default:
        return plain[rand() % 8];
    }
}

/* Words of the header behind the lock, of groups, processes or sessions. */
static void damage(scene_t *s)
{
    apl_pool_t *p = &s->pool;
    int n = 1 << rand() % 6;

    while (n-- > 0) {
        char *at = p->base;

        switch (rand() % 4) {
        case 0:
            at += offsetof(apl_header_t, sequence) + (unsigned)rand() % 250;
            break;
        case 1:
            at = (char *)&p->groups[1] +
                 (unsigned)rand() % (3 * sizeof *p->groups);
            break;
        case 2:
            at = (char *)&p->processes[1] + (unsigned)rand() % (8 * 256);
            break;
        default:
            at = (char *)&p->sessions[1] + (unsigned)rand() % (22 * 256);
        }
        at -= (uintptr_t)at % sizeof(uint32_t);
        *(uint32_t *)(void *)at = wild_value(s);
    }
}

static void some_verb(scene_t *s, uint64_t id)
{
    const apl_app_t *app = &s->apps[rand() % 3];
    const apl_start_t start = scene_start(5);
    apl_order_t order;
    apl_child_watch_t watch;
    int64_t next;

    s->now += rand() % 2000000;
    switch (rand() % 14) {
    case 0:
        apl_supervise_next_order(&s->pool, (uint64_t)rand() << 20, s->now,
                                 &order);
        break;
    case 1:
        apl_supervise_ready(&s->pool, id, s->now);
        break;
    case 2:
        apl_supervise_failed(&s->pool, id, 1, 1, "no", s->now);
        break;
    case 3:
        apl_supervise_gone(&s->pool, id, s->now);
        break;
    case 4:
        apl_supervise_detach(&s->pool, id, APL_EVENT_DETACHED, s->now);
        break;
    case 5:
        apl_reconcile_adopt(&s->pool, id, &start, app->name, rand() % 2,
                            s->now);
        break;
    case 6:
        if (apl_child_watch_at(&s->pool, 1 + (uint32_t)rand() % 2, &watch) ==
            APR_SUCCESS)
            apl_child_watch_gone(&s->pool, &watch, s->now);
        break;
    case 7:
        apl_configure_limits(&s->pool, (uint32_t)rand() % 8, (uint32_t)rand(),
                             s->now);
        break;
    case 8:
        apl_configure_group(&s->pool, app, rand() % 2, s->now);
        break;
    case 9:
        apl_configure_remove(&s->pool, app->name, s->now);
        break;
    case 10:
        apl_admin_restart(&s->pool, app->name, rand() % 2, s->now);
        break;
    case 11:
        apl_supervise_outdate(&s->pool, id, s->now);
        break;
    default:
        apl_housekeeping_tick(&s->pool, s->now, &next);
        break;
    }
}

/* A damaged link may have led to the lock. The word may now have the id of a
 * thread of this machine. spawner/control/lock_rescue.c sees that this thread
 * does not hold the lock. */
static void free_lock(uint32_t *lock)
{
    uint32_t owner = apl_lock_holder(lock);

    if (owner != 0)
        apl_lock_break(lock, owner);
}

static void meet_damage(unsigned seed)
{
    scene_t *s = scene_new(6);
    apl_session_ref_t holds[20];
    uint64_t ids[70] = {1};
    uint32_t n;
    apl_lock_token_t token;
    apl_finding_t finding;
    int i;

    srand(seed);
    for (i = 0; i < 3; i++) {
        apl_app_t *a = scene_app(s, i == 0 ? "a" : i == 1 ? "b" : "c");

        a->options.concurrency = i == 1 ? 4 : 1;
        a->options.min_instances = i == 2;
        a->options.idle_time = 1000000;
        a->options.rolling = 1;
    }
    scene_child(s);
    for (i = 0; i < 20; i++) {
        scene_be(s, 1 + (uint32_t)i % 2);
        scene_ask(s, &holds[i], &s->apps[rand() % 3]);
        if (i % 3 == 0)
            scene_spawn(s);
    }
    n = apl_reconcile_ids(&s->pool, ids, 70);
    damage(s);
    for (i = 0; i < 12; i++)
        some_verb(s, n > 0 ? ids[(uint32_t)rand() % n] : 1);
    free_lock(&s->pool.header->lock);
    s->pool.damaged = 1;
    assert_int_equal(apl_enter(&token, &s->pool, s->now, 0), APR_SUCCESS);
    apl_leave(&token);
    if (!apl_check(&s->pool, &finding))
        fail_msg("seed %u: I%d: %s", seed, finding.number, finding.text);
    scene_drop(s);
}

static void damage_before_any_repair(void **state)
{
    unsigned seed;

    (void)state;
    for (seed = 1; seed <= DAMAGED; seed++) {
        alarm(300); /* one that hangs ends the test */
        meet_damage(seed);
    }
    alarm(0);
}

/* The values are plausible, so no repair happens. But a wait must not last for
 * ever. */
static void times_to_come_are_not_believed(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_group_t *g = &s->pool.groups[1];
    apl_session_ref_t h;
    apl_restart_seen_t look;

    (void)state;
    a->options.check_interval = a->options.idle_time = 1000000;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    scene_close(s, &h);
    g->failures = 3;
    g->retry_at = s->now + ((int64_t)1 << 60);
    g->stamp_seq = 1;
    g->stamp_at = s->now + ((int64_t)1 << 60);
    s->pool.processes[1].last_used = s->now + ((int64_t)1 << 60);
    assert_int_equal(apl_configure_group(&s->pool, a, 0, s->now), APR_SUCCESS);
    assert_true(g->retry_at <= s->now);
    assert_int_equal(
        apl_restart_poll(&s->pool, 1, "/nonexistent", s->now, &look), 1);
    scene_repair(s);
    scene_tick(s, 1000000);
    assert_int_equal(s->pool.header->count, 0);
    scene_reap(s);
    scene_end(s);
}

static void damage_that_no_verb_reads(void **state)
{
    scene_t *s = scene_new(2);
    apl_header_t *is = s->pool.header;
    apl_finding_t finding;

    (void)state;
    is->leaving = 0x7fffffff; /* no verb looks at it */
    assert_false(apl_check(&s->pool, &finding));
    scene_repair(s);
    scene_ok(s);
    assert_int_equal(is->leaving, 0);
    scene_end(s);
}

/* Each word that identifies a process. */
static void words_that_identify_a_process(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a"), *b = scene_app(s, "b");
    apl_process_t *p, was;
    apl_session_ref_t h, other;
    apl_start_t start;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_get(s, &other, b), APR_SUCCESS);
    p = scene_process(s, h.id);
    was = *p;
    start = (apl_start_t){p->identity, p->wire, p->stamp};
#define AGREES(live)                                                           \
    apl_reconcile_matches(&s->pool, h.id, &start, a->name, live)
    assert_true(AGREES(1));
    assert_false(AGREES(0));
#define DIFFERS(field, value)                                                  \
    p->field = value;                                                          \
    assert_false(AGREES(1));                                                   \
    *p = was
    DIFFERS(group, 2);
    DIFFERS(group, 77777);
    DIFFERS(identity.pid, was.identity.pid + 1);
    DIFFERS(identity.start, was.identity.start + 1);
    DIFFERS(stamp, was.stamp + 1);
    DIFFERS(wire.listen, 7);
    DIFFERS(wire.protocol, 7);
    DIFFERS(wire.port, 7);
    DIFFERS(wire.concurrency, 7);
    DIFFERS(state, APL_PROCESS_STARTING);
    DIFFERS(id, h.id + 0x10000);
    p->state = APL_PROCESS_LEAVING;
    assert_true(AGREES(1));
    assert_true(AGREES(0));
    *p = was;
    scene_close(s, &h);
    scene_close(s, &other);
    scene_end(s);
}

/* Repair looks only up to the marks of use. A slot that a damaged mark hides
 * does not exist, even for a child that knows its index. */
static void slots_above_a_mark_do_not_exist(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3];
    uint64_t ids[2];
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        scene_get(s, &h[i], a);
    scene_close(s, &h[0]);
    ids[0] = h[0].id;
    ids[1] = h[1].id;
    assert_int_equal(scene_poll(s, &h[2]), APR_SUCCESS);
    s->pool.header->top_session = 1;
    scene_repair(s);
    scene_close(s, &h[1]);
    assert_int_equal(scene_poll(s, &h[2]), APL_EDAMAGED);
    scene_is(s, 2, 0);
    assert_int_equal(scene_get(s, &h[1], a), APR_SUCCESS);
    s->pool.header->top_process = 1;
    scene_repair(s);
    for (i = 0; i < 2; i++) {
        apl_supervise_detach(&s->pool, ids[i], APL_EVENT_DETACHED, s->now);
        scene_ok(s);
        apl_supervise_gone(&s->pool, ids[i], s->now);
        scene_ok(s);
    }
    scene_close(s, &h[1]);
    scene_is(s, 0, 0);
    scene_end(s);
}

/* Its end would be reported to the wrong group, and the waiters of the right
 * one would still wait. */
static void a_session_has_a_process_of_its_own_group(void **state)
{
    const apl_start_t start = scene_start(4711);
    scene_t *s = scene_new(1);
    apl_app_t *b = scene_app(s, "b");
    apl_session_ref_t of_a, of_b, waits;

    (void)state;
    assert_int_equal(scene_get(s, &of_b, b), APR_SUCCESS);
    scene_close(s, &of_b);
    assert_int_equal(scene_get(s, &of_a, scene_app(s, "a")), APR_SUCCESS);
    s->now += 2000000;
    apl_supervise_gone(&s->pool, of_a.id, s->now);
    /* The registry says that the process of a's session belongs to b. */
    assert_int_equal(
        apl_reconcile_adopt(&s->pool, of_a.id, &start, "b", 1, s->now),
        APR_SUCCESS);
    scene_ask(s, &waits, b);
    scene_close(s, &of_a);
    assert_int_equal(scene_poll(s, &waits), APR_SUCCESS);
    /* The slot says that the session of b's process belongs to a. */
    s->pool.sessions[waits.session].group = 2;
    scene_repair(s);
    scene_ask(s, &of_b, b);
    scene_close(s, &waits);
    assert_int_equal(scene_poll(s, &of_b), APR_SUCCESS);
    scene_close(s, &of_b);
    scene_is(s, 1, 0);
    scene_end(s);
}

/* It would count as outdated, although it is not. */
static void no_process_is_of_a_revision_to_come(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    s->pool.processes[1].revision = s->pool.groups[1].revision + 1;
    scene_repair(s);
    assert_int_equal(apl_admin_restart(&s->pool, "a", 1, s->now), APR_SUCCESS);
    scene_ok(s);
    assert_int_equal(s->pool.groups[1].outdated, 1);
    scene_spawn(s);
    assert_int_equal(s->pool.groups[1].outdated, 0);
    scene_close(s, &h);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_above_a_mark_do_not_exist),
        cmocka_unit_test(a_session_has_a_process_of_its_own_group),
        cmocka_unit_test(no_process_is_of_a_revision_to_come),
        cmocka_unit_test(damage_before_any_repair),
        cmocka_unit_test(times_to_come_are_not_believed),
        cmocka_unit_test(damage_that_no_verb_reads),
        cmocka_unit_test(words_that_identify_a_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
