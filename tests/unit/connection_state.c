/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which request may use the parked connection of a process, and which one cuts
 * it. */

#include "shm/slots/connection_room.h"
#include "shm/slots/connection_state.h"

#include "tests/unit/support/scene.h"

#define LIMIT    APL_CONNECTION_IDLE_LIMIT
#define SERIAL_1 4u /* in the word */

static scene_t *s;
static apl_app_t *app;

static void begin(void)
{
    s = scene_new(2);
    app = scene_app(s, "a");
    app->options.max_instances = 1;
}

/* A request gets a process, and asks for its connection. */
static uint32_t take(apl_session_ref_t *h, apl_connection_state_t *c,
                     int may_reuse)
{
    assert_int_equal(scene_get(s, h, app), APR_SUCCESS);
    *c = apl_connection_state(&s->pool, h);
    return apl_connection_take(c, apl_connection_is_alone(c), may_reuse,
                               s->now);
}

/* The child that has used it last is dead. */
static void kill_child(const apl_session_ref_t *h)
{
    apl_process_at(&s->pool, (uint32_t)(h->id & 0xffff))->connection_child.pid =
        0;
}

static apl_process_t *process_of(const apl_session_ref_t *h)
{
    return apl_process_at(&s->pool, (uint32_t)(h->id & 0xffff));
}

/* A request has parked its connection. */
static void park_one(void)
{
    apl_session_ref_t h;
    apl_connection_state_t c;

    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_NONE);
    assert_true(apl_connection_begin_parking(&c));
    assert_true(apl_connection_is_held(&c));
    assert_true(apl_connection_release(&c, s->now));
    scene_close(s, &h);
}

static void what_is_parked_is_used_again(void **state)
{
    apl_session_ref_t h;
    apl_connection_state_t c;
    uint32_t serial;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_IDLE);
    serial = c.serial;
    assert_true(apl_connection_release(&c, s->now));
    scene_close(s, &h);
    s->now += LIMIT - 1;
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_IDLE);
    assert_int_equal(c.serial, serial);
    assert_true(apl_connection_release(&c, s->now));
    scene_close(s, &h);
    scene_end(s);
}

static void not_what_is_old_nor_for_all_requests(void **state)
{
    apl_session_ref_t h;
    apl_connection_state_t c;

    (void)state;
    begin();
    park_one();
    s->now += LIMIT;
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_BUSY);
    apl_connection_forget(&c);
    scene_close(s, &h);
    park_one();
    assert_int_equal(take(&h, &c, 0), APL_CONNECTION_BUSY);
    apl_connection_forget(&c);
    assert_true(apl_connection_begin_parking(&c));
    assert_true(apl_connection_release(&c, s->now));
    scene_close(s, &h);
    /* Its time is damage. */
    process_of(&h)->connection_at = s->now + 1;
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_BUSY);
    scene_close(s, &h);
    scene_end(s);
}

/* BUSY, and no request has the process: its child was killed. */
static void a_dead_child_leaves_the_connection_busy(void **state)
{
    apl_session_ref_t h;
    apl_connection_state_t c, late;
    uint64_t word, again;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &late, 1), APL_CONNECTION_IDLE);
    assert_false(apl_connection_is_unused(&s->pool, h.id, &word));
    scene_close(s, &h);
    assert_false(apl_connection_is_unused(&s->pool, h.id, &word));
    kill_child(&h);
    assert_true(apl_connection_is_unused(&s->pool, h.id, &word));
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_BUSY);
    apl_connection_forget(&c);
    assert_false(apl_connection_is_unused(&s->pool, h.id, &again));
    assert_true(apl_connection_begin_parking(&c));
    assert_int_equal(c.serial, late.serial + 1);
    /* It was not killed, but only late. */
    assert_false(apl_connection_is_held(&late));
    assert_false(apl_connection_release(&late, s->now));
    apl_connection_forget(&late);
    assert_true(apl_connection_is_held(&c));
    assert_true(apl_connection_release(&c, s->now));
    scene_close(s, &h);
    scene_end(s);
}

/* After damage, a session is taken back while its child works on. */
static void a_child_that_still_works_is_left_alone(void **state)
{
    apl_session_ref_t h, next;
    apl_connection_state_t c, other;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_IDLE);
    next = h;
    scene_close(s, &next);
    assert_int_equal(take(&next, &other, 1), APL_CONNECTION_NOT_OURS);
    assert_false(apl_connection_begin_parking(&other));
    /* The other request waits for the end of this connection. */
    assert_true(apl_connection_is_held(&c));
    assert_false(apl_connection_release(&c, s->now));
    apl_connection_forget(&c);
    assert_true(apl_connection_begin_parking(&other));
    scene_close(s, &next);
    scene_end(s);
}

static void a_second_session_leaves_it_alone(void **state)
{
    apl_session_ref_t h, other;
    apl_connection_state_t c, second;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_IDLE);
    app->options.concurrency = 2;
    app->options.config++;
    assert_int_equal(take(&other, &second, 1), APL_CONNECTION_NOT_OURS);
    assert_false(apl_connection_begin_parking(&second));
    /* A second connection would wait behind the idle one. */
    assert_false(apl_connection_release(&c, s->now));
    apl_connection_forget(&c);
    scene_close(s, &h);
    scene_close(s, &other);
    scene_end(s);
}

static void a_busy_connection_is_not_waited_for(void **state)
{
    apl_session_ref_t h, other;
    apl_connection_state_t c, second;

    (void)state;
    begin();
    park_one();
    app->options.concurrency = 2;
    app->options.config++;
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_BUSY);
    assert_int_equal(take(&other, &second, 1), APL_CONNECTION_NOT_OURS);
    apl_connection_forget(&c);
    scene_close(s, &h);
    scene_close(s, &other);
    scene_end(s);
}

static void not_with_queues_of_their_own(void **state)
{
    apl_session_ref_t h;
    apl_connection_state_t c;

    (void)state;
    begin();
    app->options.global_queue = 0;
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_NOT_OURS);
    assert_false(apl_connection_begin_parking(&c));
    scene_close(s, &h);
    scene_end(s);
}

static void the_next_process_begins_anew(void **state)
{
    apl_session_ref_t h, next;
    apl_connection_state_t c, now;
    uint64_t word;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_IDLE);
    assert_int_equal(apl_supervise_gone(&s->pool, h.id, s->now), APR_SUCCESS);
    assert_false(apl_connection_is_alone(&c));
    assert_false(apl_connection_is_unused(&s->pool, h.id, &word));
    assert_false(apl_connection_is_gone(&c));
    assert_int_equal(take(&next, &now, 1), APL_CONNECTION_NONE);
    assert_true(apl_connection_is_gone(&c));
    assert_false(apl_connection_is_gone(&now));
    assert_int_equal(next.id & 0xffff, h.id & 0xffff);
    assert_true(apl_connection_begin_parking(&now));
    assert_false(apl_connection_release(&c, s->now));
    assert_true(apl_connection_is_held(&now));
    assert_true(apl_connection_release(&now, s->now));
    /* Even if a word was left there. */
    process_of(&next)->connection -= (uint64_t)1 << 32;
    scene_close(s, &next);
    assert_int_equal(take(&next, &now, 1), APL_CONNECTION_NONE);
    scene_close(s, &next);
    scene_drop(s);
}

static void not_of_a_process_that_leaves(void **state)
{
    apl_session_ref_t h;
    apl_connection_state_t c;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &c, 1), APL_CONNECTION_IDLE);
    process_of(&h)->state = APL_PROCESS_LEAVING;
    assert_false(apl_connection_release(&c, s->now));
    scene_drop(s);
}

static void a_state_that_is_none_is_damage(void **state)
{
    apl_process_t p = {0};

    (void)state;
    assert_true(apl_connection_is_valid(&p));
    p.connection = SERIAL_1;
    assert_true(apl_connection_is_valid(&p));
    p.connection = SERIAL_1 | APL_CONNECTION_BUSY;
    assert_true(apl_connection_is_valid(&p));
    p.connection = SERIAL_1 | APL_CONNECTION_STATES;
    assert_false(apl_connection_is_valid(&p));
    p.connection = APL_CONNECTION_IDLE;
    assert_false(apl_connection_is_valid(&p));
}

/* Without a serial, a child would think that the connection is its own. */
static void no_serial_is_0(void **state)
{
    apl_session_ref_t h;
    apl_connection_state_t c;

    (void)state;
    begin();
    park_one();
    assert_int_equal(take(&h, &c, 0), APL_CONNECTION_BUSY);
    apl_connection_forget(&c);
    /* The last serial that there is. */
    process_of(&h)->connection |= 0xfffffffc;
    assert_true(apl_connection_begin_parking(&c));
    assert_int_equal(c.serial, 1);
    assert_true(apl_connection_release(&c, s->now));
    scene_close(s, &h);
    assert_int_equal(scene_get(s, &h, app), APR_SUCCESS);
    process_of(&h)->connection -= SERIAL_1; /* damage */
    c = apl_connection_state(&s->pool, &h);
    assert_int_equal(apl_connection_take(&c, 1, 1, s->now),
                     APL_CONNECTION_BUSY);
    assert_true(apl_connection_is_held(&c));
    apl_connection_forget(&c);
    scene_close(s, &h);
    scene_end(s);
}

/* ---- room ---- */

static void who_has_no_room_keeps_none_for_a_while(void **state)
{
    apl_session_ref_t h;
    uint32_t seen;
    uint64_t id;

    (void)state;
    begin();
    assert_int_equal(scene_get(s, &h, app), APR_SUCCESS);
    id = h.id;
    assert_true(apl_connection_room_is_there(&s->pool, id, s->now));
    seen = apl_connection_room_read(&s->pool);
    apl_connection_room_ask(&s->pool, id, s->now);
    assert_int_equal(apl_connection_room_read(&s->pool), seen + 1);
    apl_connection_room_sleep(&s->pool, seen, 60 * SECOND); /* not at all */
    s->now += 10 * SECOND - 1;
    assert_false(apl_connection_room_is_there(&s->pool, id, s->now));
    apl_connection_room_ask(&s->pool, id, s->now); /* it is known */
    assert_int_equal(apl_connection_room_read(&s->pool), seen + 1);
    s->now++;
    assert_true(apl_connection_room_is_there(&s->pool, id, s->now));
    scene_close(s, &h);
    scene_end(s);
}

static void who_ends_has_no_room(void **state)
{
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    begin();
    assert_int_equal(scene_get(s, &h, app), APR_SUCCESS);
    id = h.id;
    apl_checkin_refused(&s->pool, &h, s->now);
    assert_false(apl_connection_room_is_there(&s->pool, id, s->now));
    assert_false(apl_connection_room_is_there(&s->pool, 0, s->now));
    assert_false(apl_connection_room_is_there(&s->pool, id ^ 0x10000, s->now));
    apl_connection_room_ask(&s->pool, 0, s->now);
    scene_end(s);
}

static void a_busy_process_is_seen(void **state)
{
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    begin();
    assert_int_equal(scene_get(s, &h, app), APR_SUCCESS);
    id = h.id;
    assert_int_equal(apl_connection_room_ended(&s->pool, id), 0);
    assert_false(apl_connection_room_is_used(&s->pool, id));
    apl_connection_room_count(&s->pool, id, 1);
    apl_connection_room_count(&s->pool, id ^ 0x10000, -1); /* of another one */
    apl_connection_room_count(&s->pool, 0, 1);
    assert_true(apl_connection_room_is_used(&s->pool, id));
    apl_connection_room_count(&s->pool, id, -1);
    assert_false(apl_connection_room_is_used(&s->pool, id));
    scene_close(s, &h);
    assert_int_equal(apl_connection_room_ended(&s->pool, id), 1);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_parked_is_used_again),
        cmocka_unit_test(not_what_is_old_nor_for_all_requests),
        cmocka_unit_test(a_dead_child_leaves_the_connection_busy),
        cmocka_unit_test(a_child_that_still_works_is_left_alone),
        cmocka_unit_test(a_second_session_leaves_it_alone),
        cmocka_unit_test(a_busy_connection_is_not_waited_for),
        cmocka_unit_test(not_with_queues_of_their_own),
        cmocka_unit_test(the_next_process_begins_anew),
        cmocka_unit_test(not_of_a_process_that_leaves),
        cmocka_unit_test(a_state_that_is_none_is_damage),
        cmocka_unit_test(no_serial_is_0),
        cmocka_unit_test(who_has_no_room_keeps_none_for_a_while),
        cmocka_unit_test(who_ends_has_no_room),
        cmocka_unit_test(a_busy_process_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
