/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* I18: apl_check() finds each list that is broken, that misses a member, or
 * that has a wrong one. */

#include "shm/format/list.h"
#include "tests/unit/support/breaks.h"

static void i18_lists_are_whole_and_hold_every_slot(void **state)
{
    busy_t p = busy_pool();
    apl_pool_t *pool = &p.s->pool;
    apl_session_ref_t h;

    (void)state;
    apl_supervise_detach(pool, p.busy->id, APL_EVENT_DETACHED, p.s->now);
    apl_supervise_gone(pool, p.shared->id, p.s->now);
    breaks(p.s, 18, p.a->processes.next = 1);
    breaks(p.s, 18, p.a->processes.prev = 64);
    breaks(p.s, 18, p.idle->member.prev += 4);
    breaks(p.s, 18, p.idle->idle.next = APL_OFFSET(pool, &p.idle->idle));
    breaks(p.s, 18, apl_list_remove(pool, &p.busy->pool));
    breaks(p.s, 18, p.h->leaving++);
    breaks(p.s, 18, apl_list_remove(pool, &p.shared->pool));
    breaks(p.s, 18, apl_list_init(pool, &p.h->sessions_free));
    breaks(p.s, 18, p.h->unserved.next = 0);
    breaks(p.s, 18, p.h->growing.prev = 64);
    assert_int_equal(scene_ask(p.s, &h, &p.s->apps[1]), APL_EWAIT);
    breaks(p.s, 18, apl_list_init(pool, &p.h->wanted));
    scene_end(p.s);
}

static void i18_turns(void **state)
{
    full_t p = full_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    assert_true(p.h->unserved.next == APL_OFFSET(pool, &p.c->turn));
    breaks(p.s, 18, apl_list_init(pool, &p.h->unserved)); /* it is lost */
    breaks(p.s, 18, p.c->turn.prev = 64);
    breaks(p.s, 18,
           (apl_list_remove(pool, &p.c->turn),
            apl_list_append(pool, &p.h->growing, &p.c->turn)));
    breaks(p.s, 18, apl_list_append(pool, &p.h->unserved, &p.first->link));
    breaks(p.s, 18,
           apl_list_append(pool, &p.h->growing, &pool->groups[3].turn));
    /* A group that has a process, and has a turn nevertheless. */
    apl_list_append(pool, &p.h->growing, &pool->groups[1].turn);
    breaks(p.s, 18, apl_list_init(pool, &p.h->growing));
    breaks(p.s, 18,
           (apl_list_remove(pool, &pool->groups[1].turn),
            apl_list_append(pool, &p.h->unserved, &pool->groups[1].turn)));
    /* Each group in the list of the other. */
    breaks(p.s, 18,
           (apl_list_remove(pool, &pool->groups[1].turn),
            apl_list_append(pool, &p.h->unserved, &pool->groups[1].turn),
            apl_list_remove(pool, &p.c->turn),
            apl_list_append(pool, &p.h->growing, &p.c->turn)));
    scene_end(p.s);
}

static void i18_turns_above(void **state)
{
    full_t p = full_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    breaks(p.s, 18, p.h->above.prev = 64);
    breaks(p.s, 18, p.c->above.next = p.c->above.prev = 64);
    breaks(p.s, 18, apl_list_append(pool, &p.h->above, &pool->groups[3].above));
    breaks(p.s, 18, apl_list_append(pool, &p.h->above, &p.c->turn));
    apl_list_append(pool, &p.h->above, &p.c->above);
    breaks(p.s, 18, apl_list_init(pool, &p.h->above));
    scene_end(p.s);
}

/* A group that was freed, and a child that has ended. */
static void i18_free_groups_and_children(void **state)
{
    full_t p = full_pool();
    apl_pool_t *pool = &p.s->pool;
    apl_app_t *gone = scene_app(p.s, "gone");
    uint32_t first = pool->self, left = scene_child(p.s);
    apl_child_watch_t watch;

    (void)state;
    assert_int_equal(apl_child_watch_at(pool, left, &watch), APR_SUCCESS);
    assert_int_equal(apl_child_watch_gone(pool, &watch, p.s->now), APR_SUCCESS);
    scene_be(p.s, first);
    assert_int_equal(apl_configure_group(pool, gone, 1, p.s->now), APR_SUCCESS);
    assert_int_equal(apl_configure_remove(pool, gone->name, p.s->now),
                     APR_SUCCESS);
    scene_tick(p.s, SECOND);
    assert_int_equal(pool->groups[3].state, APL_GROUP_FREE);
    breaks(p.s, 18, apl_list_init(pool, &p.h->groups_free));
    breaks(p.s, 18, p.h->groups_free.prev = 64);
    breaks(p.s, 18, p.h->top_group++); /* free, and in no list */
    breaks(p.s, 18, apl_list_append(pool, &p.h->groups_free, &p.c->turn));
    breaks(p.s, 18, apl_list_init(pool, &p.h->children_free));
    breaks(p.s, 18, p.h->children_free.prev = 64);
    breaks(p.s, 18, p.h->top_child++);
    breaks(p.s, 18,
           apl_list_append(pool, &p.h->children_free,
                           &pool->children[first].link));
    scene_end(p.s);
}

static void i18_buckets(void **state)
{
    full_t p = full_pool();
    apl_pool_t *pool = &p.s->pool;
    apl_link_t *bucket = apl_group_bucket(pool, p.c->key);
    apl_link_t *empty = apl_group_bucket(pool, p.c->key + 1);

    (void)state;
    breaks(p.s, 18, empty->next = 0);
    breaks(p.s, 18, empty->prev = 64);
    breaks(p.s, 18, apl_list_append(pool, empty, &pool->groups[3].bucket));
    breaks(p.s, 18, bucket->prev = 64);
    breaks(p.s, 18, p.c->bucket.prev = 64);
    breaks(p.s, 18, p.c->bucket.next = 64);
    breaks(p.s, 1, apl_list_append(pool, bucket, &pool->groups[3].bucket));
    scene_end(p.s);
}

static void i18_a_slot_is_in_a_state_of_its_table(void **state)
{
    full_t p = full_pool();
    apl_pool_t *pool = &p.s->pool;

    (void)state;
    breaks(p.s, 18, p.c->state = APL_GROUP_USED + 1);
    breaks(p.s, 18, pool->processes[1].state = APL_PROCESS_STATES);
    breaks(p.s, 18, p.second->state = APL_SESSION_STATES);
    breaks(p.s, 18, pool->children[1].state = UINT32_MAX);
    scene_end(p.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i18_lists_are_whole_and_hold_every_slot),
        cmocka_unit_test(i18_turns),
        cmocka_unit_test(i18_turns_above),
        cmocka_unit_test(i18_free_groups_and_children),
        cmocka_unit_test(i18_buckets),
        cmocka_unit_test(i18_a_slot_is_in_a_state_of_its_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
