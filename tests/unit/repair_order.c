/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Repair gives each list the order that it had, whichever slots its members
 * have. Here young processes have low slots. */

#include "shm/format/list.h"
#include "tests/unit/support/scene.h"

#define LINKS 16

typedef struct {
    uint32_t at[LINKS];
    int n;
} order_t;

static order_t order_of(scene_t *s, const apl_link_t *head)
{
    apl_walk_t it = apl_list_walk(&s->pool, head, LINKS);
    order_t o = {.n = 0};
    uint32_t at;

    while ((at = apl_list_next(&s->pool, &it)) != 0)
        o.at[o.n++] = at;
    return o;
}

/* The list has members, and not in the order of their slots. Otherwise the
 * test would show nothing. */
static void is_worth_a_look(const order_t *o)
{
    assert_true(o->n > 1);
    assert_true(o->at[0] > o->at[1]);
}

static void is_the_same(scene_t *s, const apl_link_t *head, const order_t *was)
{
    order_t is = order_of(s, head);

    assert_int_equal(is.n, was->n);
    assert_memory_equal(is.at, was->at, sizeof is.at);
}

/* Slots that were used. They are taken again in this order: 2, 1, 5, 4, 3. */
static void use_slots(scene_t *s)
{
    static const int order[] = {0, 1, 4, 3, 2};
    apl_app_t *x = scene_app(s, "x");
    apl_session_ref_t h[5];
    int i;

    for (i = 0; i < 5; i++)
        assert_int_equal(scene_get(s, &h[i], x), APR_SUCCESS);
    for (i = 0; i < 5; i++) {
        scene_close(s, &h[order[i]]);
        apl_supervise_detach(&s->pool, h[order[i]].id, APL_EVENT_DETACHED,
                             s->now);
        scene_reap(s);
    }
}

static void lists_have_the_order_they_had(void **state)
{
    scene_t *s = scene_new(5);
    const apl_header_t *h = s->pool.header;
    const apl_group_t *of_a, *of_b;
    apl_session_ref_t holds[3], w[3];
    apl_app_t *a, *b, *c;
    int i;

    (void)state;
    use_slots(s);
    a = scene_app(s, "a");
    b = scene_app(s, "b");
    c = scene_app(s, "c");
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &holds[i], a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w[0], b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &w[1], b), APL_EWAIT);
    assert_int_equal(scene_ask(s, &w[2], c), APL_EWAIT);
    for (i = 0; i < 3; i++) {
        s->now++;
        scene_close(s, &holds[i]);
    }
    of_a = &s->pool.groups[2];
    of_b = &s->pool.groups[3];

    order_t members = order_of(s, &of_a->processes);
    order_t idle = order_of(s, &of_a->idle);
    order_t queue = order_of(s, &of_b->queue);
    order_t inactive = order_of(s, &h->inactive);
    order_t wanted = order_of(s, &h->wanted);

    is_worth_a_look(&members);
    is_worth_a_look(&queue);
    is_worth_a_look(&inactive);
    is_worth_a_look(&wanted);
    assert_int_equal(idle.n, 3);
    scene_repair(s);
    is_the_same(s, &of_a->processes, &members);
    is_the_same(s, &of_a->idle, &idle);
    is_the_same(s, &of_b->queue, &queue);
    is_the_same(s, &h->inactive, &inactive);
    is_the_same(s, &h->wanted, &wanted);
    scene_end(s);
}

/* Each group that waits has a turn, in the order of the waiters. */
static void turns_have_the_order_of_the_waiters(void **state)
{
    scene_t *s = scene_new(2);
    const apl_header_t *h = s->pool.header;
    apl_session_ref_t holds[2], w[4];
    apl_app_t *apps[4];
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        apps[i] = scene_app(s, (const char *[]){"a", "b", "c", "d"}[i]);
        apl_configure_group(&s->pool, apps[i], 1, s->now);
    }
    assert_int_equal(scene_get(s, &holds[0], apps[0]), APR_SUCCESS);
    assert_int_equal(scene_get(s, &holds[1], apps[1]), APR_SUCCESS);
    for (i = 3; i >= 0; i--)
        assert_int_equal(scene_ask(s, &w[i], apps[i]), APL_EWAIT);

    order_t unserved = order_of(s, &h->unserved),
            growing = order_of(s, &h->growing);

    is_worth_a_look(&unserved);
    is_worth_a_look(&growing);
    scene_repair(s);
    is_the_same(s, &h->unserved, &unserved);
    is_the_same(s, &h->growing, &growing);
    scene_end(s);
}

/* Also when the ticket itself was damaged. */
static void a_later_request_waits_last(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, first, last;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &first, a), APL_EWAIT);
    s->pool.header->ticket = 0;
    scene_repair(s);
    assert_int_equal(scene_ask(s, &last, a), APL_EWAIT);
    assert_true(s->pool.sessions[last.session].ticket >
                s->pool.sessions[first.session].ticket);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_the_order_they_had),
        cmocka_unit_test(turns_have_the_order_of_the_waiters),
        cmocka_unit_test(a_later_request_waits_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
