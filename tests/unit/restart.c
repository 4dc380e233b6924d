/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* One touch of restart.txt restarts the app once, whichever child looks at it,
 * and with each kind of restart. */

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/slots/group.h"
#include "tests/unit/support/scene.h"
#include "tests/unit/support/touch.h"

static void b13_each_change_restarts_exactly_once(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    const uint64_t *restarts = &s->pool.header->counters.restarts;
    uint64_t id;

    (void)state;
    touch("restart.txt", 1000); /* it was there before */
    id = touch_serve(s, a);
    assert_true(touch_serve(s, a) == id);
    touch("restart.txt", 1001);
    assert_true(touch_serve(s, a) != id);
    touch("restart.txt", 999);
    touch_serve(s, a);
    touch_replace("restart.txt", 1000);
    id = touch_serve(s, a);
    assert_int_equal(*restarts, 3);
    unlink(touch_path("restart.txt"));
    assert_true(touch_serve(s, a) == id);
    touch("restart.txt", 1000);
    assert_true(touch_serve(s, a) != id);
    id = touch_serve(s, a);
    assert_true(touch_serve(s, a) == id);
    assert_int_equal(*restarts, 4);
    scene_end(s);
}

/* Both at once: an order that is taken later starts new code, and a booting
 * process runs old code. */
static void d5_a_start_after_the_restart_is_of_the_new_code(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h, w;
    uint64_t id;

    (void)state;
    a->options.rolling = 1;
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &w, a), APL_EWAIT);
    assert_int_equal(apl_admin_restart(&s->pool, "a", -1, s->now), APR_SUCCESS);
    id = scene_take(s); /* ordered before */
    scene_ready(s, id);
    assert_int_equal(s->pool.groups[1].outdated, 1);
    assert_int_equal(scene_poll(s, &w), APR_SUCCESS);
    assert_true(w.id == id);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(s->pool.groups[1].outdated, 0);
    scene_end(s);
}

static void b12_an_older_look_at_the_file_restarts_nothing(void **state)
{
    scene_t *s = scene_new(3);
    apl_app_t *a = scene_app(s, "a");
    apl_restart_seen_t early;
    apl_session_ref_t h;
    uint64_t id;

    (void)state;
    touch_serve(s, a);
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &early),
                     1);
    touch("restart.txt", 1000);
    id = touch_serve(s, a);
    /* The slow one saw no file. It causes no restart, and its old result does
     * not count. */
    assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, &early, s->now),
                     APR_SUCCESS);
    assert_true(h.id == id);
    scene_close(s, &h);
    assert_true(touch_serve(s, a) == id);
    assert_int_equal(s->pool.header->counters.restarts, 1);
    scene_end(s);
}

static void b12_waiters_under_always_restart_get_a_process_each(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h1, h2;
    uint64_t id;

    (void)state;
    touch("always_restart.txt", 1000);
    touch_serve(s, a);
    assert_int_equal(scene_get(s, &h1, a), APR_SUCCESS);
    id = h1.id;
    assert_int_equal(apl_checkout(&s->pool, &h2, a, NULL, NULL, s->now),
                     APL_EWAIT);
    scene_close(s, &h1);
    scene_reap(s);
    scene_spawn(s);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_true(h2.id != id);
    scene_close(s, &h2);
    scene_end(s);
}

static void b11_a_booting_process_of_the_old_code_is_dropped(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_session_ref_t h1, h2;
    apl_restart_seen_t look;
    uint64_t old;

    (void)state;
    touch_serve(s, a);
    assert_int_equal(scene_ask(s, &h1, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &h2, a), APL_EWAIT);
    old = scene_take(s);
    touch("restart.txt", 1000);
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &look),
                     1);
    scene_close(s, &h2);
    assert_int_equal(apl_checkout(&s->pool, &h2, a, NULL, &look, s->now),
                     APL_EWAIT);
    scene_ok(s);
    assert_int_equal(apl_supervise_ready(&s->pool, old, s->now), APL_ESTALE);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &h2), APR_SUCCESS);
    assert_true(h2.id != old && h2.id != h1.id);
    scene_close(s, &h1);
    scene_close(s, &h2);
    scene_is(s, 1, 0);
    scene_end(s);
}

static void b25_the_room_of_a_restart_goes_to_the_longest_wait(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = scene_app(s, "a");
    apl_app_t *b = scene_app(s, "b");
    apl_session_ref_t h, first, later;
    apl_restart_seen_t look;

    (void)state;
    touch_serve(s, a);
    assert_int_equal(scene_get(s, &h, a), APR_SUCCESS);
    assert_int_equal(scene_ask(s, &first, b), APL_EWAIT);
    touch("restart.txt", 1000);
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &look),
                     1);
    assert_int_equal(apl_checkout(&s->pool, &later, a, NULL, &look, s->now),
                     APL_EWAIT);
    scene_is(s, 0, 0);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &first), APR_SUCCESS);
    assert_int_equal(scene_poll(s, &later), APL_EWAIT);
    scene_close(s, &h);
    scene_close(s, &first);
    assert_int_equal(scene_spawn(s), 1);
    assert_int_equal(scene_poll(s, &later), APR_SUCCESS);
    scene_close(s, &later);
    scene_end(s);
}

static void b14_the_interval_spares_the_disk(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_restart_seen_t look;

    (void)state;
    a->options.check_interval = 5000000;
    touch_serve(s, a);
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &look),
                     0);
    s->now += 5000000;
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &look),
                     1);
    scene_end(s);
}

static void b14_the_interval_begins_before_the_look(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = scene_app(s, "a");
    apl_restart_seen_t early, later;
    apl_session_ref_t h;

    (void)state;
    a->options.check_interval = 5000000;
    touch_serve(s, a);
    s->now += 5000000;
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &early),
                     1);
    s->now += 4999999; /* it is stopped here; it has not seen the touch */
    assert_int_equal(apl_checkout(&s->pool, &h, a, NULL, &early, s->now),
                     APR_SUCCESS);
    scene_close(s, &h);
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &later),
                     0);
    s->now++;
    assert_int_equal(apl_restart_poll(&s->pool, 1, touch_dir, s->now, &later),
                     1);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(d5_a_start_after_the_restart_is_of_the_new_code),
        cmocka_unit_test_setup_teardown(b13_each_change_restarts_exactly_once,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(
            b12_an_older_look_at_the_file_restarts_nothing, touch_begin,
            touch_end),
        cmocka_unit_test_setup_teardown(
            b12_waiters_under_always_restart_get_a_process_each, touch_begin,
            touch_end),
        cmocka_unit_test_setup_teardown(
            b11_a_booting_process_of_the_old_code_is_dropped, touch_begin,
            touch_end),
        cmocka_unit_test_setup_teardown(
            b25_the_room_of_a_restart_goes_to_the_longest_wait, touch_begin,
            touch_end),
        cmocka_unit_test_setup_teardown(b14_the_interval_spares_the_disk,
                                        touch_begin, touch_end),
        cmocka_unit_test_setup_teardown(b14_the_interval_begins_before_the_look,
                                        touch_begin, touch_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
