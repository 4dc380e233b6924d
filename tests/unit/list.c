/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Lists keep their order, sort in a stable way, and end at damage. The heap
 * gives the process with the fewest sessions, and among equals the oldest. */

#include <stdlib.h>
#include <string.h>

#include "shm/format/heap.h"
#include "shm/format/list.h"
#include "tests/unit/support/scene.h"
#include "shm/format/segment.h"

static uint64_t key_of(const apl_pool_t *pool, uint32_t at)
{
    return APL_PROCESS_OF(pool, at, pool)->processed;
}

static void sort_orders_any_number_and_is_stable(void **state)
{
    scene_t *s = scene_new(6);
    apl_pool_t *pool = &s->pool;
    apl_link_t *head = &pool->header->growing;
    uint32_t n, i, at;

    (void)state;
    srand(7);
    for (n = 0; n < 70; n++) {
        uint64_t last = 0, count = 0;
        apl_walk_t it;

        apl_list_init(pool, head);
        for (i = 1; i <= n; i++) {
            pool->processes[i].processed = (uint64_t)(rand() % 9) << 30;
            pool->processes[i].birth = i;
            apl_list_append(pool, head, &pool->processes[i].pool);
        }
        apl_list_sort(pool, head, 1000, key_of);
        it = apl_list_walk(pool, head, 100);
        while ((at = apl_list_next(pool, &it)) != 0) {
            apl_process_t *p = APL_PROCESS_OF(pool, at, pool);
            uint64_t rank = p->processed >> 30 << 32 | p->birth;

            assert_true(rank > last);
            last = rank;
            count++;
        }
        assert_int_equal(count, n);
        while ((at = apl_list_last(pool, head)) != 0)
            apl_list_remove(pool, apl_link_at(pool, at));
        assert_int_equal(apl_list_first(pool, head), 0);
    }
    assert_int_equal(pool->damaged, 0);
    memset(pool->processes, 0, 100 * sizeof *pool->processes);
    scene_end(s);
}

static uint32_t looks;

/* Another process makes a circle of each link that the sort looks at. */
static uint64_t key_of_a_circle(const apl_pool_t *pool, uint32_t at)
{
    apl_process_t *p = APL_PROCESS_OF(pool, at, pool);

    looks++;
    p->pool.next = at;
    return p->processed;
}

static void a_sort_ends_in_time_while_another_writes(void **state)
{
    enum { LINKS = 64 };
    scene_t *s = scene_new(6);
    apl_pool_t *pool = &s->pool;
    apl_link_t *head = &pool->header->growing;
    uint32_t i;

    (void)state;
    for (i = 1; i <= LINKS; i++) {
        pool->processes[i].processed = LINKS - i;
        apl_list_append(pool, head, &pool->processes[i].pool);
    }
    looks = 0;
    apl_list_sort(pool, head, 1000, key_of_a_circle);
    assert_int_equal(looks, LINKS);
    scene_drop(s);
}

static uint64_t ticket_of(const apl_pool_t *pool, uint32_t at)
{
    return APL_SESSION_OF(pool, at, link)->ticket;
}

/* With keys of two bytes; and with one key that differs in the upper half. */
static void a_long_list_is_sorted_in_both_directions(void **state)
{
    static apl_pool_t pool;
    const apl_capacity_t n = {1, 1, 50000, 1};
    const uint64_t far[] = {0, 1ull << 61};
    apl_link_t *head;
    size_t size = apl_segment_size(&n), k;
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);

    (void)state;
    memset(memory, 0, size);
    apl_segment_format(&pool, memory, &n);
    head = &pool.header->sessions_free;
    for (k = 0; k < sizeof far / sizeof *far; k++) {
        uint32_t i, at, prev = APL_OFFSET(&pool, head);

        apl_list_init(&pool, head);
        for (i = 1; i <= n.sessions; i++) {
            pool.sessions[i].ticket = 1 + i * 7919ull % (n.sessions / 2);
            pool.sessions[i].queued = i;
            apl_list_append(&pool, head, &pool.sessions[i].link);
        }
        pool.sessions[n.sessions].ticket += far[k];
        apl_list_sort(&pool, head, n.sessions, ticket_of);
        for (i = 0, at = head->next; i < n.sessions; i++) {
            const apl_session_t *s = APL_SESSION_OF(&pool, at, link);
            const apl_session_t *t = APL_SESSION_OF(&pool, prev, link);

            assert_int_equal(s->link.prev, prev);
            assert_true(!t || t->ticket < s->ticket ||
                        (t->ticket == s->ticket && t->queued < s->queued));
            prev = at;
            at = s->link.next;
        }
        assert_int_equal(at, APL_OFFSET(&pool, head));
        assert_int_equal(head->prev, prev);
    }
    assert_int_equal(pool.damaged, 0);
    /* One more than possible, which is damage. */
    apl_list_sort(&pool, head, n.sessions - 1, ticket_of);
    assert_int_equal(pool.damaged, 1);
    assert_int_equal(apl_list_first(&pool, head), 0);
    free(memory);
}

static void a_walk_ends_on_damage(void **state)
{
    scene_t *s = scene_new(6);
    apl_pool_t *pool = &s->pool;
    apl_link_t *head = &pool->header->growing;
    apl_link_t *a = &pool->processes[1].pool, *b = &pool->processes[2].pool;
    apl_walk_t it;

    (void)state;
    apl_list_append(pool, head, a);
    apl_list_append(pool, head, b);
    b->next = APL_OFFSET(pool, a); /* a circle beside the head */
    it = apl_list_walk(pool, head, 50);
    while (apl_list_next(pool, &it) != 0)
        ;
    assert_int_equal(pool->damaged, 1);
    pool->damaged = 0;
    b->next = 0xfffffff0; /* out of the segment */
    it = apl_list_walk(pool, head, 50);
    while (apl_list_next(pool, &it) != 0)
        ;
    assert_int_equal(pool->damaged, 1);
    pool->damaged = 0;
    assert_null(APL_PROCESS_OF(pool, APL_OFFSET(pool, a) + 4, pool));
    assert_null(
        APL_PROCESS_OF(pool, APL_OFFSET(pool, &pool->groups[1].turn), pool));
    assert_ptr_equal(APL_PROCESS_OF(pool, APL_OFFSET(pool, a), pool),
                     &pool->processes[1]);
    memset(pool->processes, 0, 4 * sizeof *pool->processes);
    apl_list_init(pool, head);
    scene_end(s);
}

static void the_heap_gives_the_least_loaded_then_the_oldest(void **state)
{
    scene_t *s = scene_new(6);
    apl_pool_t *pool = &s->pool;
    uint32_t root = 0, i, left = 500, last_sessions = 0;
    uint64_t last_birth = 0;

    (void)state;
    srand(11);
    for (i = 1; i <= 1000; i++) {
        pool->processes[i].sessions = 1 + (uint32_t)rand() % 7;
        pool->processes[i].birth = 5000 - i;
        apl_heap_insert(pool, &root, &pool->processes[i]);
    }
    for (i = 2; i <= 1000; i += 2) {
        assert_true(apl_heap_has(pool, root, &pool->processes[i]));
        apl_heap_remove(pool, &root, &pool->processes[i]);
        assert_false(apl_heap_has(pool, root, &pool->processes[i]));
        apl_heap_remove(pool, &root, &pool->processes[i]);
    }
    while (root != 0) {
        apl_process_t *p = &pool->processes[root];

        assert_true(p->sessions > last_sessions ||
                    (p->sessions == last_sessions && p->birth > last_birth));
        last_sessions = p->sessions;
        last_birth = p->birth;
        apl_heap_remove(pool, &root, p);
        left--;
    }
    assert_int_equal(left, 0);
    assert_int_equal(pool->damaged, 0);
    memset(pool->processes, 0, 1001 * sizeof *pool->processes);
    scene_end(s);
}

/* A circle, in which each walk is as long as the slot array: one walk is
 * enough. */
static void a_heap_that_is_damaged_is_left_alone(void **state)
{
    scene_t *s = scene_new(6);
    apl_pool_t *pool = &s->pool;
    apl_process_t *p = pool->processes;
    uint32_t root = 0;

    (void)state;
    p[1].sessions = p[2].sessions = 1;
    p[3].sessions = p[4].sessions = 2;
    apl_heap_insert(pool, &root, &p[1]);
    p[1].node.left = p[1].node.right = 1;
    apl_heap_insert(pool, &root, &p[3]);
    assert_int_equal(pool->damaged, 1);
    root = 2;
    apl_heap_insert(pool, &root, &p[4]);
    assert_int_equal(root, 2);
    assert_int_equal(p[4].node.parent, 0);
    assert_int_equal(p[2].node.left, 0);
    apl_heap_remove(pool, &root, &p[2]);
    assert_int_equal(root, 2);
    scene_drop(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_orders_any_number_and_is_stable),
        cmocka_unit_test(a_sort_ends_in_time_while_another_writes),
        cmocka_unit_test(a_long_list_is_sorted_in_both_directions),
        cmocka_unit_test(a_walk_ends_on_damage),
        cmocka_unit_test(the_heap_gives_the_least_loaded_then_the_oldest),
        cmocka_unit_test(a_heap_that_is_damaged_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
