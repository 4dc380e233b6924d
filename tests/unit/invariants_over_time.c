/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Invariants of shm/format/format.h that apl_check() cannot see, because they
 * allow something, are about the past, or may be exceeded after a limit was
 * lowered. walk.c compares them after each step with the moment before. */

#include "shm/slots/group.h"
#include "tests/unit/support/scene.h"

static void i2_a_group_may_have_no_process(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    const apl_group_t *g;
    apl_session_ref_t h;

    (void)state;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    g = scene_group(s, a);
    scene_close(s, &h);
    apl_supervise_detach(&s->pool, h.id, APL_EVENT_DETACHED, s->now);
    scene_reap(s);
    scene_tick(s, SECOND);
    scene_is(s, 0, 0);
    /* The group stays, with what is known of the app. */
    assert_ptr_equal(scene_group(s, a), g);
    assert_int_equal(g->n_requests, 1);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(g->n_requests, 2);
    scene_close(s, &h);
    scene_end(s);
}

/* count + spawning <= max, with every kind of start under way. */
static void i11_starts_in_flight_are_counted(void **state)
{
    scene_t *s = scene_new(4);
    apl_session_ref_t h[12];
    uint64_t ids[4];
    char name[2] = "a";
    int i;

    (void)state;
    for (i = 0; i < 12; i++, name[0]++) {
        const apl_header_t *header = s->pool.header;

        assert_int_equal(scene_ask(s, &h[i], scene_app(s, name)), APL_EWAIT);
        assert_int_equal(header->count + header->spawning, i < 4 ? i + 1 : 4);
    }
    for (i = 0; i < 4; i++)
        ids[i] = scene_take(s);
    assert_int_equal(scene_take(s), 0);
    scene_failed(s, ids[0]); /* its place goes to the fifth */
    for (i = 1; i < 4; i++)
        scene_ready(s, ids[i]);
    assert_int_equal(scene_spawn(s), 1);
    scene_is(s, 4, 4);
    for (i = 0; i < 12; i++)
        assert_int_equal(scene_poll(s, &h[i]), i == 0  ? APL_ESTART
                                               : i < 5 ? APR_SUCCESS
                                                       : APL_EWAIT);
    scene_end(s);
}

/* Under load no process is ever idle, so it leaves with its request. */
static void i11_above_a_lowered_limit_one_leaves_with_its_request(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[3], waiting[4];
    int i;

    (void)state;
    for (i = 0; i < 3; i++)
        assert_int_equal(scene_get(s, &h[i], a), APR_SUCCESS);
    scene_waiting(s, a, waiting, 4);
    a->options.max_instances = 2;
    a->options.config = 2;
    apl_configure_group(&s->pool, a, 0, s->now);
    scene_close(s, &h[0]);
    scene_is(s, 2, 2);
    assert_int_equal(scene_poll(s, &waiting[0]), APL_EWAIT);
    apl_configure_limits(&s->pool, 1, 2, s->now);
    scene_close(s, &h[1]);
    scene_is(s, 1, 1);
    scene_close(s, &h[2]);
    assert_int_equal(scene_poll(s, &waiting[0]), APR_SUCCESS);
    for (i = 0; i < 4; i++)
        scene_close(s, &waiting[i]);
    scene_reap(s);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void i12_an_app_keeps_to_its_own_limit(void **state)
{
    scene_t *s = scene_new(9);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h[6];
    uint64_t id;
    int i;

    (void)state;
    a->options.max_instances = 2;
    a->options.min_instances = 5; /* up to its limit */
    for (i = 0; i < 6; i++) {
        scene_ask(s, &h[i], a);
        assert_true(scene_group(s, a)->size + scene_group(s, a)->spawning <= 2);
    }
    assert_int_equal(scene_spawn(s), 2);
    scene_tick(s, SECOND);
    assert_int_equal(scene_take(s), 0);
    scene_is(s, 2, 2);
    /* One above it while a process is replaced. */
    apl_admin_restart(&s->pool, "a", 1, s->now);
    id = scene_take(s);
    assert_int_equal(scene_group(s, a)->size + scene_group(s, a)->spawning, 3);
    assert_int_equal(scene_take(s), 0);
    scene_ready(s, id);
    assert_int_equal(scene_group(s, a)->size, 2);
    for (i = 0; i < 6; i++)
        scene_close(s, &h[i]);
    scene_end(s);
}

static void i13_nothing_comes_back(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h;
    const apl_start_t start = scene_start(1);
    uint32_t process = 0, session = 0;
    uint64_t id;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
        id = h.id;
        /* The same slots each time, and another generation. */
        assert_int_equal(id & 0xffff, 1);
        assert_int_equal(h.session, 1);
        assert_true(s->pool.processes[1].generation > process);
        assert_true(s->pool.sessions[1].generation > session);
        process = s->pool.processes[1].generation;
        session = s->pool.sessions[1].generation;
        apl_supervise_detach(&s->pool, id, APL_EVENT_DETACHED, s->now);
        /* A leaving process stays leaving. */
        assert_int_equal(apl_supervise_ready(&s->pool, id, s->now), APL_ESTALE);
        assert_int_equal(apl_supervise_outdate(&s->pool, id, s->now),
                         APL_ESTALE);
        assert_int_equal(apl_supervise_failed(&s->pool, id, 1, 1, "no", s->now),
                         APL_ESTALE);
        assert_int_equal(
            apl_reconcile_adopt(&s->pool, id, &start, "a", 1, s->now),
            APL_ESTALE);
        scene_is(s, 0, 0);
        scene_close(s, &h);
        assert_int_equal(scene_reap(s), 1);
    }
    scene_end(s);
}

/* Each verb reads the clock before it waits for the lock. */
static void i15_times_and_counts_never_go_back(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_process_t *p = &s->pool.processes[1];
    apl_session_ref_t h, w;
    int64_t now, started;

    (void)state;
    a->options.max_instances = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    now = p->last_used;
    started = p->started;
    s->now -= 10;
    scene_close(s, &h);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    assert_true(p->last_used == now);
    assert_int_equal(p->processed, 1);
    scene_close(s, &w);
    assert_true(p->last_used == now);
    assert_int_equal(p->processed, 2);
    /* At both ends of a session. */
    s->now += 20;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_true(p->last_used == s->now);
    s->now += 20;
    scene_close(s, &h);
    assert_true(p->last_used == s->now);
    assert_true(p->started == started);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(i2_a_group_may_have_no_process),
        cmocka_unit_test(i11_starts_in_flight_are_counted),
        cmocka_unit_test(i11_above_a_lowered_limit_one_leaves_with_its_request),
        cmocka_unit_test(i12_an_app_keeps_to_its_own_limit),
        cmocka_unit_test(i13_nothing_comes_back),
        cmocka_unit_test(i15_times_and_counts_never_go_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
