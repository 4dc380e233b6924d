/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* When a check of all invariants repairs the pool, and when it does not. */

#include "spawner/control/control.h"

#include <stdio.h>

#include "shm/recovery/recovery.h"
#include "shm/verbs/enter.h"
#include "shm/slots/process.h"
#include "shm/policy/capacity.h"
#include "shm/slots/session.h"
#include "shm/verbs/supervise.h"
#include "spawner/process/process.h"
#include "tests/unit/support/memory.h"
#include "tests/unit/support/scene.h"

static scene_t *scene;
static spawner_t s;

/* All scenes have the same size, because the pool of a spawner has one size. */
static int begin(void **state)
{
    (void)state;
    scene = scene_new(3);
    s.shm = scene->pool;
    s.pool = memory;
    if (s.now == 0)
        s.now = scene->now;
    return 0;
}

static int finish(void **state)
{
    (void)state;
    scene_drop(scene);
    return 0;
}

static uint64_t repairs(void)
{
    return s.shm.header->counters.repairs;
}

/* One check from begin to end, as the loop does it. @return how many turns
 * it took */
static int look(void)
{
    int turns = 0;

    s.now += 2 * SECOND; /* it is due */
    do {
        s.wake = INT64_MAX;
        audit_prove(&s);
        turns++;
    } while (s.wake <= s.now + SECOND / 1000);
    return turns;
}

static void a_good_pool_is_not_repaired(void **state)
{
    uint64_t before = repairs();

    (void)state;
    look();
    look();
    assert_int_equal(repairs(), before);
}

static void damage_that_two_checks_find_is_repaired(void **state)
{
    uint64_t before = repairs();

    (void)state;
    s.shm.header->count++;
    look();
    assert_int_equal(repairs(), before);
    look();
    assert_int_equal(repairs(), before + 1);
    assert_int_equal(s.shm.header->count, 0);
    look();
    look();
    assert_int_equal(repairs(), before + 1);
}

static void damage_whose_numbers_change_is_repaired(void **state)
{
    uint64_t before = repairs();

    (void)state;
    s.shm.header->count++;
    look();
    s.shm.header->count++;
    look();
    assert_int_equal(repairs(), before + 1);
}

static void two_findings_are_not_the_same_one(void **state)
{
    uint64_t before = repairs();

    (void)state;
    s.shm.header->count++;
    look(); /* I9 */
    s.shm.header->count--;
    s.shm.header->spawning++;
    look(); /* I16 */
    s.shm.header->spawning--;
    look();
    s.shm.header->spawning++;
    look();
    assert_int_equal(repairs(), before);
    look();
    assert_int_equal(repairs(), before + 1);
}

/* The process is free, and its waiter is not served yet. This is the state
 * between two rounds of apl_leave(). */
static void free_only(apl_session_t *session)
{
    apl_lock_token_t token;
    apl_process_t *p;

    assert_int_equal(apl_enter(&token, &s.shm, s.now, APL_FOREVER),
                     APR_SUCCESS);
    p = apl_session_process(&token, session);
    apl_session_free(&token, session);
    apl_process_close(&token, p);
    apl_leave(&token);
}

static void serve(void)
{
    apl_lock_token_t token;

    assert_int_equal(apl_enter(&token, &s.shm, s.now, APL_FOREVER),
                     APR_SUCCESS);
    apl_capacity_share_all(&token);
    apl_leave(&token);
}

static void a_waiter_about_to_be_served_is_no_damage(void **state)
{
    apl_app_t *a = scene_app(scene, "a");
    apl_session_ref_t h[2];
    apl_finding_t finding;
    uint64_t before = repairs();

    (void)state;
    a->options.max_instances = 1;
    assert_int_equal(scene_get(scene, &h[0], a), APR_SUCCESS);
    assert_int_equal(scene_ask(scene, &h[1], a), APL_EWAIT);
    free_only(&s.shm.sessions[h[0].session]);
    assert_false(apl_check(&s.shm, &finding));
    assert_int_equal(finding.number, 19);
    look();
    serve();
    look();
    assert_int_equal(repairs(), before);
    scene_close(scene, &h[1]);
}

/* Some process is inside at each look of the check. Then the check takes the
 * lock. */
static void a_pool_that_is_never_quiet_is_repaired(void **state)
{
    uint32_t *sequence = &s.shm.header->sequence;
    uint64_t before = repairs();

    (void)state;
    s.shm.header->count++;
    *sequence |= 1;
    assert_true(look() > 3);
    assert_int_equal(*sequence & 1, 0); /* every process has left */
    look();
    assert_int_equal(repairs(), before + 1);
}

/* The spawner's own record of a process is right. */
static process_t *record_of(const apl_process_t *slot, const apl_app_t *a)
{
    registry_record_t is = {.id = slot->id,
                            .pid = slot->identity.pid,
                            .start = slot->identity.start,
                            .wire = slot->wire,
                            .stamp = slot->stamp};
    process_t *p;

    snprintf(is.name, sizeof is.name, "%s", a->name);
    p = process_adopted(&s, 0, &is);
    assert_non_null(p);
    p->phase = PHASE_LIVE;
    p->slot.listed = 1;
    return p;
}

static void a_slot_that_says_something_else(void **state)
{
    apl_app_t *a = scene_app(scene, "a");
    apl_condition_t is;
    apl_process_t *slot;
    process_t *p;
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(scene, &h, a), APR_SUCCESS);
    slot = scene_process(scene, h.id);
    p = record_of(slot, a);
    audit_check(&s);
    assert_int_equal(apl_reconcile_condition(&s.shm, h.id, &is), APR_SUCCESS);
    slot->identity.pid++;
    audit_check(&s);
    assert_int_not_equal(apl_reconcile_condition(&s.shm, h.id, &is),
                         APR_SUCCESS);
    p->done = 1;
    process_collect(&s);
}

static void a_slot_that_no_record_names(void **state)
{
    apl_app_t *a = scene_app(scene, "a");
    apl_condition_t is;
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(scene, &h, a), APR_SUCCESS);
    audit_check(&s);
    assert_int_not_equal(apl_reconcile_condition(&s.shm, h.id, &is),
                         APR_SUCCESS);
}

#define test(what) cmocka_unit_test_setup_teardown(what, begin, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(a_good_pool_is_not_repaired),
        test(damage_that_two_checks_find_is_repaired),
        test(damage_whose_numbers_change_is_repaired),
        test(two_findings_are_not_the_same_one),
        test(a_waiter_about_to_be_served_is_no_damage),
        test(a_pool_that_is_never_quiet_is_repaired),
        test(a_slot_that_says_something_else),
        test(a_slot_that_no_record_names),
    };

    return cmocka_run_group_tests(tests, memory_begin, memory_end);
}
