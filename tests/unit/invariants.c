/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The invariants of shm/format/format.h by their numbers: apl_check() finds
 * each one that is broken. All other tests check that the invariants hold after
 * each verb. Invariants that apl_check() cannot see are in
 * invariants_over_time.c, lists in invariant_lists.c. */

#include "shm/verbs/timeouts.h"
#include "shm/verbs/enter.h"
#include "shm/format/list.h"
#include "shm/slots/process.h"
#include "shm/slots/session.h"
#include "tests/unit/support/breaks.h"

static void i1_a_group_is_found_and_its_processes_in_it(void **state)
{
    busy_t p = busy_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    breaks(p.s, 1, apl_list_remove(pool, &p.a->bucket));
    breaks(p.s, 1, p.a->name[0] = 'z');
    breaks(p.s, 1, p.a->key++);
    breaks(p.s, 1, p.idle->group = 2);
    breaks(p.s, 1, p.busy->group = 0); /* the last in the list, too */
    breaks(p.s, 1, p.idle->state = APL_PROCESS_LEAVING);
    scene_end(p.s);
}

static void i3_idle_before_busy(void **state)
{
    busy_t p = busy_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    breaks(p.s, 3, apl_list_remove(pool, &p.idle->idle));
    breaks(p.s, 3, p.b->order = 0);
    breaks(p.s, 3, p.shared->node.left = APL_PROCESS_INDEX(pool, p.idle));
    breaks(p.s, 1, apl_list_append(pool, &p.a->idle, &p.busy->idle));
    scene_end(p.s);
}

static void i4_the_size_of_a_group(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    breaks(p.s, 4, p.a->size++);
    breaks(p.s, 4, apl_list_remove(&p.s->pool, &p.busy->member));
    scene_end(p.s);
}

static void i5_a_leaving_process_is_in_one_list_only(void **state)
{
    busy_t p = busy_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    apl_supervise_detach(pool, p.busy->id, APL_EVENT_DETACHED, p.s->now);
    breaks(p.s, 5, p.busy->member.next = 64);
    breaks(p.s, 5, p.busy->idle.next = 64);
    breaks(p.s, 25, p.a->leaving = 0);
    breaks(p.s, 1, apl_list_append(pool, &p.a->processes, &p.busy->member));
    scene_end(p.s);
}

static void i6_the_starts_of_a_group(void **state)
{
    full_t p = full_pool();

    (void)state;
    apl_configure_limits(&p.s->pool, 2, 1, p.s->now);
    assert_int_equal(p.c->spawning, 1);
    breaks(p.s, 6, p.c->spawning = 0);
    scene_take(p.s);
    breaks(p.s, 6, p.c->spawning = 2);
    scene_end(p.s);
}

static void i7_a_process_without_a_session_is_inactive(void **state)
{
    busy_t p = busy_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    /* In the list of the pool, and in that of its group: I8 and I3. */
    breaks(p.s, 8, apl_list_remove(pool, &p.idle->pool));
    breaks(p.s, 8, apl_list_append(pool, &p.h->inactive, &p.busy->pool));
    breaks(p.s, 3, apl_list_remove(pool, &p.idle->idle));
    scene_end(p.s);
}

static void i8_active_and_inactive_are_all(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    breaks(p.s, 8, p.h->active = 1);
    breaks(p.s, 8, p.h->active = 4); /* more than count */
    breaks(p.s, 8, p.h->active = UINT32_MAX);
    scene_end(p.s);
}

static void i9_count_is_the_sum_of_sizes(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    breaks(p.s, 9, p.h->count++);
    breaks(p.s, 9, p.h->count--);
    scene_end(p.s);
}

static void i10_sessions_are_those_that_are_held(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    breaks(p.s, 10, p.busy->sessions++);
    breaks(p.s, 25, p.a->sessions++);
    breaks(p.s, 10, p.held->process = 0);
    breaks(p.s, 10, p.held->process_generation++);
    breaks(p.s, 10, p.busy->generation++);
    breaks(p.s, 10, p.held->state = APL_SESSION_FAILED);
    breaks(p.s, 1, p.idle->sessions = 1); /* a stranger among the idle ones */
    scene_end(p.s);
}

static void i14_a_queue_is_those_that_wait_in_order(void **state)
{
    full_t p = full_pool();

    (void)state;
    breaks(p.s, 14, p.c->waiting++);
    breaks(p.s, 14, p.h->waiting = 0);
    breaks(p.s, 14, p.first->ticket = p.second->ticket + 1);
    breaks(p.s, 14, p.second->state = APL_SESSION_FAILED);
    breaks(p.s, 14, apl_list_remove(&p.s->pool, &p.second->link));
    breaks(p.s, 14, p.second->group = 1);
    scene_end(p.s);
}

static void i16_spawning_is_the_sum_of_starts(void **state)
{
    full_t p = full_pool();

    (void)state;
    breaks(p.s, 16, p.h->spawning = 1);
    apl_configure_limits(&p.s->pool, 2, 1, p.s->now);
    assert_int_equal(p.h->spawning, 1);
    breaks(p.s, 16, p.h->spawning = 0);
    scene_end(p.s);
}

static void i17_a_session_has_an_owner(void **state)
{
    full_t p = full_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    breaks(p.s, 17, p.second->child = 0);
    breaks(p.s, 24, p.held->child = 0);
    breaks(p.s, 17, p.first->child = pool->n.children);
    breaks(p.s, 17, pool->children[1].state = APL_CHILD_FREE);
    breaks(p.s, 25, p.held->group = 3);
    breaks(p.s, 17, (p.held->group = 3, pool->groups[1].sessions--));
    scene_end(p.s);
}

/* A session ends, and the waiter is not served. */
static void forget(scene_t *s, apl_session_t *session)
{
    apl_lock_token_t token;
    apl_process_t *p;

    apl_enter(&token, &s->pool, s->now, APL_FOREVER);
    p = apl_session_process(&token, session);
    apl_session_free(&token, session);
    apl_process_close(&token, p);
    apl_leave(&token);
}

static void i19_no_request_waits_for_a_free_process(void **state)
{
    full_t p = full_pool();
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_ask(p.s, &h, &p.s->apps[0]), APL_EWAIT);
    breaks(p.s, 19, forget(p.s, p.held));
    scene_end(p.s);
}

static void i20_an_unserved_group_has_a_turn_and_a_reason(void **state)
{
    full_t p = full_pool();

    (void)state;
    breaks(p.s, 20, apl_list_remove(&p.s->pool, &p.c->turn));
    breaks(p.s, 20, p.h->max = 2);
    breaks(p.s, 20, forget(p.s, p.held)); /* an idle one of another group */
    scene_end(p.s);
}

static void i21_outdated_and_replacing(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    breaks(p.s, 21, p.a->outdated++);
    breaks(p.s, 21, p.busy->revision++);
    apl_admin_restart(&p.s->pool, "a", 1, p.s->now);
    assert_int_equal(p.h->replacing, 1);
    breaks(p.s, 21, p.a->outdated = 0);
    breaks(p.s, 21, p.h->replacing = 0);
    scene_end(p.s);
}

static void i22_hung_ones_and_their_credit(void **state)
{
    busy_t p = busy_pool();
    apl_lock_token_t token;

    (void)state;
    p.a->options.hung_extra = p.a->options.spawn_if_under = 1;
    apl_enter(&token, &p.s->pool, p.s->now, APL_FOREVER);
    apl_process_set_hung(&token, p.busy, 1);
    apl_leave(&token);
    assert_int_equal(p.h->credit, 1);
    breaks(p.s, 22, p.a->hung = 0);
    breaks(p.s, 22, p.busy->hung = 0);
    breaks(p.s, 22, p.idle->hung = 1); /* without a session */
    breaks(p.s, 22, p.shared->hung = 1);
    breaks(p.s, 22, p.h->hung++);
    breaks(p.s, 22, p.h->credit = 0);
    breaks(p.s, 22, p.a->options.hung_extra = 0);
    scene_end(p.s);
}

static void i23_unkillable(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    breaks(p.s, 23, p.a->unkillable++);
    apl_supervise_detach(&p.s->pool, p.busy->id, APL_EVENT_DETACHED, p.s->now);
    assert_int_equal(
        apl_timeouts_mark_unkillable(&p.s->pool, p.busy->id, p.s->now),
        APR_SUCCESS);
    breaks(p.s, 23, p.a->unkillable = 0);
    breaks(p.s, 23, p.busy->unkillable = 0);
    scene_end(p.s);
}

static void i24_abandoned_sessions(void **state)
{
    busy_t p = busy_pool();
    apl_session_ref_t h;

    (void)state;
    breaks(p.s, 24, p.busy->abandoned = 1);
    breaks(p.s, 24, p.h->abandoned = 1);
    assert_int_equal(scene_get(p.s, &h, &p.s->apps[1]), APR_SUCCESS);
    apl_checkin_abandon(&p.s->pool, &h, p.s->now);
    assert_int_equal(p.shared->abandoned, 1);
    assert_int_equal(p.h->abandoned, 1);
    breaks(p.s, 24, p.shared->abandoned = 0);
    breaks(p.s, 24, p.shared->abandoned = 2);
    breaks(p.s, 24, p.h->abandoned = 0);
    breaks(p.s, 24, p.held->child = 0);
    scene_end(p.s);
}

static void i25_what_names_a_group(void **state)
{
    busy_t p = busy_pool();

    (void)state;
    assert_int_equal(p.a->sessions, 1);
    breaks(p.s, 25, p.a->sessions = 0);
    breaks(p.s, 25, p.b->sessions++);
    breaks(p.s, 25, p.a->leaving = 1);
    apl_supervise_detach(&p.s->pool, p.busy->id, APL_EVENT_DETACHED, p.s->now);
    assert_int_equal(p.a->leaving, 1);
    breaks(p.s, 25, p.a->leaving = 0);
    breaks(p.s, 25, p.a->leaving = 2);
    breaks(p.s, 25, p.held->group = 3);
    scene_end(p.s);
}

static void i26_the_sessions_of_a_child(void **state)
{
    full_t p = full_pool();
    apl_child_t *c = &p.s->pool.children[p.first->child];

    (void)state;
    assert_int_equal(c->sessions, 3);
    breaks(p.s, 26, c->sessions = 2);
    breaks(p.s, 26, c->sessions = UINT32_MAX);
    scene_child(p.s);
    breaks(p.s, 26, p.first->child = p.s->pool.self);
    scene_end(p.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i1_a_group_is_found_and_its_processes_in_it),
        cmocka_unit_test(i3_idle_before_busy),
        cmocka_unit_test(i4_the_size_of_a_group),
        cmocka_unit_test(i5_a_leaving_process_is_in_one_list_only),
        cmocka_unit_test(i6_the_starts_of_a_group),
        cmocka_unit_test(i7_a_process_without_a_session_is_inactive),
        cmocka_unit_test(i8_active_and_inactive_are_all),
        cmocka_unit_test(i9_count_is_the_sum_of_sizes),
        cmocka_unit_test(i10_sessions_are_those_that_are_held),
        cmocka_unit_test(i14_a_queue_is_those_that_wait_in_order),
        cmocka_unit_test(i16_spawning_is_the_sum_of_starts),
        cmocka_unit_test(i17_a_session_has_an_owner),
        cmocka_unit_test(i19_no_request_waits_for_a_free_process),
        cmocka_unit_test(i20_an_unserved_group_has_a_turn_and_a_reason),
        cmocka_unit_test(i21_outdated_and_replacing),
        cmocka_unit_test(i22_hung_ones_and_their_credit),
        cmocka_unit_test(i23_unkillable),
        cmocka_unit_test(i24_abandoned_sessions),
        cmocka_unit_test(i25_what_names_a_group),
        cmocka_unit_test(i26_the_sessions_of_a_child),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
