/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Expiry times on their way from a master to a slave. The clock of a host may be
 * wrong, and may be set at any moment. */

#include "store/cluster/apply.h"

#include <string.h>
#include <unistd.h>

#include "store/clock.h"
#include "store/cluster/sender.h"
#include "tests/unit/support/fake_master.h"

#define SOON 600 /* s */

/* ---- the clock of the host ---- */

static int64_t step; /* s */

int64_t __real_store_clock_offset(void);
int64_t __wrap_store_clock_offset(void);
int64_t __wrap_store_clock_offset(void)
{
    return __real_store_clock_offset() + step;
}

static int setup(void **state)
{
    step = 0;
    return fake_setup(state);
}

static store_apply_t *apply_begin(int is_plain)
{
    store_apply_t *a = store_apply_make(&fake_hooks, is_plain, 0, NULL, NULL);

    assert_non_null(a);
    return a;
}

static void an_item_expires_when_its_time_is_over(void **state)
{
    store_apply_t *a = apply_begin(0);

    (void)state;
    fake_put_begin();
    fake_put_set("a", 1, 10, FAKE_HOUR, 20);
    fake_put_set("b", 2, 10, 3 * FAKE_HOUR, 21);
    fake_put_touch("b", FAKE_HOUR);
    fake_put_set("c", 3, 10, 3 * FAKE_HOUR, 22);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    shelf_later(&fake_shelf, FAKE_HOUR - 60);
    assert_true(shelf_get(&fake_shelf, "a", 1, 10));
    shelf_later(&fake_shelf, 120);
    assert_false(shelf_get(&fake_shelf, "a", 1, 10));
    assert_false(shelf_get(&fake_shelf, "b", 2, 10));
    assert_true(shelf_get(&fake_shelf, "c", 3, 10));
    store_apply_free(a);
}

/* This store flushes if it is the master by then, and has heard of no flush. */
static void a_flush_may_be_due_later(void **state)
{
    uint32_t *flush_at = &fake_shelf.space->entry->flush_at;
    store_apply_t *a = apply_begin(0);

    (void)state;
    fake_put_begin();
    fake_put_flush("shop", FAKE_HOUR);
    fake_put_other(STORE_WIRE_FLUSHED, 25);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_int_equal(*flush_at, 0);
    fake_wire.n = 0;
    fake_put_set("a", 1, 10, 0, 26);
    fake_put_flush("shop", FAKE_HOUR);
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    store_space_tick(fake_shelf.space);
    assert_true(shelf_get(&fake_shelf, "a", 1, 10));
    shelf_later(&fake_shelf, FAKE_HOUR + 2);
    store_space_tick(fake_shelf.space);
    assert_false(shelf_get(&fake_shelf, "a", 1, 10));
    store_apply_free(a);
}

/* ---- from one store to the other ---- */

static store_sender_t sender;

static void sender_begin(int ours)
{
    memset(&sender, 0, sizeof sender);
    assert_int_equal(store_slave_link_open(&sender.out, NULL, 10), 0);
    sender.ours = ours;
}

/* What it has gathered is on the wire. */
static void sender_end(void)
{
    memcpy(fake_wire.bytes + fake_wire.n, sender.out.bytes, sender.out.n);
    fake_wire.n += sender.out.n;
    store_slave_link_close(&sender.out);
}

/* And give the item back. */
static void send_touch(store_item_t *item, uint32_t exptime)
{
    STORE_SET(item->exptime, exptime);
    assert_int_equal(store_sender_touch(&sender, fake_shelf.space, item), 0);
    store_item_release(fake_shelf.space, item);
}

/* "a" gets SOON from its set, "b" from a touch, and a flush is to come in an
 * hour. */
static void send_all(int ours)
{
    uint32_t at = store_clock() + SOON;
    store_item_t *item;

    shelf_set(&fake_shelf, "a", 1, 10, at);
    sender_begin(ours);
    store_space_flush_at(fake_shelf.space, store_clock() + FAKE_HOUR);
    assert_int_equal(store_sender_space(&sender, fake_shelf.space), 0);
    item = shelf_take(&fake_shelf, "a");
    assert_int_equal(store_sender_item(&sender, fake_shelf.space, item), 0);
    store_item_release(fake_shelf.space, item);
    shelf_set(&fake_shelf, "b", 2, 10, 0);
    item = shelf_take(&fake_shelf, "b");
    assert_int_equal(store_sender_item(&sender, fake_shelf.space, item), 0);
    send_touch(item, at);
    sender_end();
}

static void expect_left(const char *key, uint32_t s)
{
    store_item_t *item = shelf_take(&fake_shelf, key);

    assert_non_null(item);
    assert_in_range(item->exptime, store_clock() + s - 40, store_clock() + s);
    store_item_release(fake_shelf.space, item);
}

/* The slave's clock is an hour ahead, or an hour behind. */
static void the_clock_of_a_host_does_not_matter(void **state)
{
    static const int64_t steps[] = {FAKE_HOUR, -FAKE_HOUR, 0};
    unsigned i;

    (void)state;
    for (i = 0; i < sizeof steps / sizeof *steps; i++) {
        store_apply_t *a = apply_begin(0);

        fake_put_begin();
        step = 0;
        send_all(1);
        step = steps[i];
        assert_true(fake_feed(a, SIZE_MAX) >= 0);
        expect_left("a", SOON);
        expect_left("b", SOON);
        assert_in_range(fake_shelf.space->entry->flush_at,
                        store_clock() + FAKE_HOUR - 40,
                        store_clock() + FAKE_HOUR);
        store_apply_free(a);
    }
}

/* It lives no longer than the second that has begun. */
static void what_is_about_to_expire_does_not_live_for_ever(void **state)
{
    store_apply_t *a = apply_begin(0);
    uint64_t cas;

    (void)state;
    cas = shelf_set(&fake_shelf, "a", 1, 10, 0);
    fake_put_begin();
    sender_begin(1);
    assert_int_equal(store_sender_space(&sender, fake_shelf.space), 0);
    sender_end();
    fake_put_set("a", 1, 10, 0, cas);
    sender_begin(1);
    send_touch(shelf_take(&fake_shelf, "a"), store_clock());
    sender_end();
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    shelf_later(&fake_shelf, 2);
    assert_false(shelf_get(&fake_shelf, "a", 1, 10));
    store_apply_free(a);
}

/* Both hosts of a cluster with yrmcds need the same time: here the clock of the
 * first one is half an hour ahead of the other's. */
static void a_yrmcds_is_told_the_time_of_day(void **state)
{
    store_apply_t *a = apply_begin(1);

    (void)state;
    fake_wire.n = 0;
    step = FAKE_HOUR;
    send_all(0);
    step = FAKE_HOUR / 2;
    assert_true(fake_feed(a, SIZE_MAX) >= 0);
    assert_true(store_apply_result(a)->is_yrmcds);
    expect_left("a", SOON + FAKE_HOUR / 2);
    expect_left("b", SOON + FAKE_HOUR / 2);
    store_apply_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_item_expires_when_its_time_is_over,
                                        setup, fake_teardown),
        cmocka_unit_test_setup_teardown(a_flush_may_be_due_later, setup,
                                        fake_teardown),
        cmocka_unit_test_setup_teardown(the_clock_of_a_host_does_not_matter,
                                        setup, fake_teardown),
        cmocka_unit_test_setup_teardown(
            what_is_about_to_expire_does_not_live_for_ever, setup,
            fake_teardown),
        cmocka_unit_test_setup_teardown(a_yrmcds_is_told_the_time_of_day, setup,
                                        fake_teardown),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
