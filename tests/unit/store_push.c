/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* How long a master gathers changes before it sends them. */

#include "store/cluster/sender.h"

#include <string.h>
#include <time.h>

#include "base/clock_ms.h"
#include "store/cluster/confirm.h"
#include "store/memory/changes.h"
#include "tests/unit/support/slave.h"

#define US     1000 /* ns */
#define SECOND 1000000000
#define LATER  (INT64_C(1000) * SECOND) /* than this test needs */

/* ---- a thread that waits for changes ---- */

static int64_t slept_until; /* ns; 0: it does not wait */

int __wrap_clock_nanosleep(clockid_t clock, int flags,
                           const struct timespec *until, struct timespec *left);
int __wrap_clock_nanosleep(clockid_t clock, int flags,
                           const struct timespec *until, struct timespec *left)
{
    (void)clock, (void)flags, (void)left;
    slept_until = (int64_t)until->tv_sec * SECOND + until->tv_nsec;
    return 0;
}

/* The last push was this long ago, in ns. It may be in the future. */
static void pushed(store_push_t *p, int64_t ago)
{
    struct timespec now;
    int64_t at;

    clock_gettime(CLOCK_MONOTONIC, &now);
    at = (int64_t)now.tv_sec * SECOND + now.tv_nsec - ago;
    p->at.tv_sec = at / SECOND;
    p->at.tv_nsec = at % SECOND;
}

/* @return us from the last push to the next; 0: at once */
static int64_t gathers(uint64_t changes)
{
    store_push_t p = {.changes = changes};
    int64_t at;

    pushed(&p, -LATER);
    at = (int64_t)p.at.tv_sec * SECOND + p.at.tv_nsec;
    slept_until = 0;
    store_push_gather(&p);
    return slept_until ? (slept_until - at) / US : 0;
}

static void what_comes_fast_is_gathered(void **state)
{
    store_push_t old = {.changes = 100};

    (void)state;
    assert_int_equal(gathers(1), 300);
    store_confirm_wait(0, 1);
    assert_int_equal(gathers(1), 20);
    assert_int_equal(gathers(7), 140);
    assert_int_equal(gathers(UINT64_MAX), 300);
    store_confirm_wait(0, 0);
    pushed(&old, 300 * US);
    slept_until = 0;
    store_push_gather(&old);
    assert_int_equal(slept_until, 0);
}

/* ---- a mark without an echo ---- */

static void a_push_waits_for_the_echo_of_the_last_one(void **state)
{
    store_slave_link_t out = {.marked = 5, .echoed = 4};
    store_push_t p = {0};

    (void)state;
    pushed(&p, -LATER);
    assert_false(store_push_is_early(&p, &out)); /* nobody waits */
    store_confirm_wait(0, 1);
    assert_true(store_push_is_early(&p, &out));
    out.echoed = 5;
    assert_false(store_push_is_early(&p, &out));
    out.marked = 6;
    pushed(&p, STORE_PUSH_PATIENCE * 1000 * US);
    assert_false(store_push_is_early(&p, &out));
    store_confirm_wait(0, 0);
}

/* The first change goes at once. The slave does not echo its mark, so the second
 * one goes when the patience is over. */
static void a_slave_that_does_not_echo_gets_its_changes(void **state)
{
    slave_t *s = slave_join("127.0.0.1", 1);
    int64_t began;

    (void)state;
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    store_confirm_wait(0, 1);
    began = clock_ms();
    shelf_set(&shelf, "a", 1, 10, 0);
    store_changes_ring();
    assert_true(slave_read(s, STORE_WIRE_SET, 1));
    shelf_set(&shelf, "b", 1, 10, 0);
    store_changes_ring();
    assert_true(slave_read(s, STORE_WIRE_SET, 2));
    assert_true(clock_ms() - began >= STORE_PUSH_PATIENCE);
    store_confirm_wait(0, 0);
    slave_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_fast_is_gathered),
        cmocka_unit_test(a_push_waits_for_the_echo_of_the_last_one),
        cmocka_unit_test_setup_teardown(
            a_slave_that_does_not_echo_gets_its_changes, master_open,
            master_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
