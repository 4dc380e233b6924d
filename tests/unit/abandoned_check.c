/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How often the spawner checks whether abandoned requests have ended, and what
 * it concludes. The test plays the kernel and the segment: the linker wraps
 * their functions. */

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "shm/verbs/timeouts.h"
#include "spawner/end/end.h"
#include "spawner/process/sock_diag.h"
#include "spawner/process/socket_owner.h"
#include "tests/unit/support/scratch.h"
#include "tests/unit/support/slow.h"

#define APPS 20
#define MS   (SECOND / 1000)

static spawner_t *spawner;
static process_t p[APPS];
static int looks, ended, reason;
static apr_status_t told = APL_EIDLE; /* of what has ended */
static uint32_t left, at_once; /* connections; requests that ended together */

process_t *__wrap_socket_owner_find(const spawner_t *s,
                                    const sock_diag_socket_t *at);
int __wrap_sock_diag_unix_left(sock_diag_unix_t *tell, void *ctx);
apr_status_t __real_apl_timeouts_end_abandoned(apl_pool_t *pool, uint64_t id,
                                               uint32_t n, int64_t now);
apr_status_t __wrap_apl_timeouts_end_abandoned(apl_pool_t *pool, uint64_t id,
                                               uint32_t n, int64_t now);

process_t *__wrap_socket_owner_find(const spawner_t *s,
                                    const sock_diag_socket_t *at)
{
    (void)s;
    (void)at;
    return &p[0];
}

/* These are left to the first process, or the dump fails for this reason. */
int __wrap_sock_diag_unix_left(sock_diag_unix_t *tell, void *ctx)
{
    sock_diag_socket_t at = {0};
    uint32_t i;

    looks++;
    for (i = 0; reason == 0 && i < left; i++)
        tell(&at, 1, ctx);
    errno = reason;
    return reason == 0 ? 0 : -1;
}

apr_status_t __wrap_apl_timeouts_end_abandoned(apl_pool_t *pool, uint64_t id,
                                               uint32_t n, int64_t now)
{
    (void)pool;
    (void)id;
    (void)now;
    ended++;
    if (n > at_once)
        at_once = n;
    return told;
}

static int begin(void **state)
{
    int i;

    (void)state;
    spawner = scratch_begin();
    memset(p, 0, sizeof p);
    for (i = 0; i < APPS; i++) {
        p[i].phase = PHASE_LIVE;
        p[i].next = spawner->processes;
        spawner->processes = &p[i];
    }
    looks = ended = reason = 0;
    left = at_once = 0;
    told = APL_EIDLE;
    return 0;
}

/* The turns of a second that abandoned_check() asks for, and others. */
static void pass(int64_t us)
{
    int64_t until = spawner->now + us;

    while (spawner->now < until) {
        spawner->wake = spawner->now + MS;
        abandoned_check(spawner);
        assert_true(spawner->wake > spawner->now);
        spawner->now = spawner->wake;
    }
}

static void seldom_once_it_lasts(void **state)
{
    (void)state;
    abandoned_note(&p[0], 1, 0);
    pass(SECOND);
    assert_in_range(looks, 6, 8); /* after 10, 30, 70, ... 630 ms */
    looks = 0;
    pass(10 * SECOND);
    assert_in_range(looks, 7, 11);
}

static void more_often_while_somebody_waits(void **state)
{
    (void)state;
    abandoned_note(&p[0], 1, 1);
    pass(5 * SECOND);
    looks = 0;
    pass(10 * SECOND);
    assert_in_range(looks, 98, 101);
}

/* A child of httpd may abandon one after the other. */
static void all_have_one_budget(void **state)
{
    int ms;

    (void)state;
    for (ms = 0; ms < 1000; ms++) {
        abandoned_note(&p[ms % APPS], 0, 0);
        abandoned_note(&p[ms % APPS], 1, 1);
        pass(MS);
    }
    assert_in_range(looks, 50, 101);
    assert_true(ended > looks); /* one check was for many */
}

/* A dump that failed says nothing about the connections, so none has ended. */
static void a_failed_dump_ends_nothing(void **state)
{
    (void)state;
    reason = EAGAIN;
    abandoned_note(&p[0], 1, 1);
    pass(SECOND);
    assert_in_range(looks, 5, 101);
    assert_int_equal(ended, 0);
    reason = 0;
    pass(SECOND);
    assert_true(ended > 0);
}

/* Such a kernel can never say it, so no request waits for that. */
static void a_kernel_without_dumps_ends_all(void **state)
{
    (void)state;
    reason = ENOTSUP;
    abandoned_note(&p[0], 1, 1);
    pass(SECOND);
    assert_true(ended > 0);
}

/* Checks of the next second find this many connections. */
static void find(uint32_t n)
{
    left = n;
    pass(SECOND);
}

/* httpd closes its end of a connection first, also after a request that ends
 * as it should. So for a moment there is one more connection. */
static void a_request_that_just_ends_is_not_abandoned(void **state)
{
    (void)state;
    abandoned_note(&p[0], 2, 0);
    left = 3;
    pass(61 * MS);
    assert_int_equal(looks, 3);
    find(2);
    assert_int_equal(ended, 0);
    find(1);
    assert_true(ended > 0);
    assert_int_equal(at_once, 1);
}

static void nor_is_one_that_ends_later(void **state)
{
    (void)state;
    abandoned_note(&p[0], 1, 0);
    find(1);
    find(1);
    find(2);
    find(1);
    find(1);
    assert_int_equal(ended, 0);
}

/* A process that the app has forked may keep one, from the beginning or since
 * then. */
static void one_of_those_that_lasted_has_ended(void **state)
{
    (void)state;
    abandoned_note(&p[0], 1, 0);
    find(2);
    assert_int_equal(ended, 0);
    find(1);
    assert_int_equal(ended, 1);
    abandoned_note(&p[0], 1, 0);
    find(1);
    for (looks = 0; looks < ABANDONED_CHECKS;)
        find(2);
    assert_int_equal(ended, 1);
    find(1);
    find(1);
    assert_int_equal(ended, 2);
    assert_int_equal(at_once, 1);
}

/* What was counted before does not count for the next one. */
static void the_first_one_after_a_while(void **state)
{
    (void)state;
    abandoned_note(&p[0], 1, 0);
    find(3);
    abandoned_note(&p[0], 0, 0);
    abandoned_note(&p[0], 1, 0);
    find(1);
    assert_int_equal(ended, 0);
}

/* One has ended, and another one is abandoned before the segment was read
 * again. It still has one. */
static void one_follows_another(void **state)
{
    (void)state;
    told = APR_SUCCESS;
    abandoned_note(&p[0], 1, 0);
    find(2);
    find(1);
    find(1);
    assert_int_equal(ended, 1);
    abandoned_note(&p[0], 1, 0);
    left = 3;
    pass(20 * MS);
    find(2);
    find(2);
    assert_int_equal(ended, 1);
    find(1);
    assert_int_equal(ended, 2);
}

/* ---- when they are checked at once ---- */

static void listen_for_rings(scene_t *s)
{
    s->pool.doorbell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static int has_rung(scene_t *s)
{
    eventfd_t rung;
    int has = eventfd_read(s->pool.doorbell, &rung) == 0;

    close(s->pool.doorbell);
    s->pool.doorbell = -1;
    return has;
}

/* @return 1: the request, which has to wait, rang for the spawner */
static int rings(scene_t *s, apl_session_ref_t *waiting, const apl_app_t *a)
{
    listen_for_rings(s);
    assert_int_equal(scene_ask(s, waiting, a), APL_EWAIT);
    return has_rung(s);
}

/* The spawner checks the connections of such a process now and then, and more
 * often while a request waits. The first waiting request rings the doorbell.
 * The next one does not have to. */
static void the_first_waiter_rings(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h, waiting[2];
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    apl_checkin_abandon(&s->pool, &h, s->now);
    assert_int_equal(scene_condition(s, id).waiting, 0);
    assert_true(rings(s, &waiting[0], a));
    assert_int_equal(scene_condition(s, id).waiting, 1);
    assert_false(rings(s, &waiting[1], a));
    assert_int_equal(__real_apl_timeouts_end_abandoned(&s->pool, id, 1, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_poll(s, &waiting[0]), APR_SUCCESS);
    scene_close(s, &waiting[0]);
    assert_int_equal(scene_poll(s, &waiting[1]), APR_SUCCESS);
    scene_close(s, &waiting[1]);
    scene_end(s);
}

static void an_abandoned_request_rings_if_others_wait(void **state)
{
    scene_t *s = scene_new(1);
    apl_app_t *a = slow_app(s, "a", 0, 0);
    apl_session_ref_t h, waiting;
    uint64_t id;

    (void)state;
    scene_busy(s, a, &h, 1);
    id = h.id;
    assert_int_equal(scene_ask(s, &waiting, a), APL_EWAIT);
    listen_for_rings(s);
    apl_checkin_abandon(&s->pool, &h, s->now);
    assert_true(has_rung(s));
    assert_int_equal(__real_apl_timeouts_end_abandoned(&s->pool, id, 1, s->now),
                     APR_SUCCESS);
    assert_int_equal(scene_poll(s, &waiting), APR_SUCCESS);
    scene_close(s, &waiting);
    scene_end(s);
}

static void a_waiter_of_another_app_does_not_ring(void **state)
{
    scene_t *s = scene_new(2);
    apl_app_t *a = slow_app(s, "a", 0, 0), *b = slow_app(s, "b", 0, 0);
    apl_session_ref_t h, busy, waiting;

    (void)state;
    scene_busy(s, a, &h, 1);
    scene_busy(s, b, &busy, 1);
    apl_checkin_abandon(&s->pool, &h, s->now);
    assert_false(rings(s, &waiting, b));
    scene_close(s, &busy);
    assert_int_equal(scene_poll(s, &waiting), APR_SUCCESS);
    scene_close(s, &waiting);
    scene_end(s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, scratch_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(seldom_once_it_lasts),
        TEST(more_often_while_somebody_waits),
        TEST(all_have_one_budget),
        TEST(a_failed_dump_ends_nothing),
        TEST(a_kernel_without_dumps_ends_all),
        TEST(a_request_that_just_ends_is_not_abandoned),
        TEST(nor_is_one_that_ends_later),
        TEST(one_of_those_that_lasted_has_ended),
        TEST(the_first_one_after_a_while),
        TEST(one_follows_another),
        cmocka_unit_test(the_first_waiter_rings),
        cmocka_unit_test(an_abandoned_request_rings_if_others_wait),
        cmocka_unit_test(a_waiter_of_another_app_does_not_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
