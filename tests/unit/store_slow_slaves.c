/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Slaves that are slower than the changes. */

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock_ms.h"
#include "store/cluster/master.h"
#include "store/cluster/backoff.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "tests/unit/support/slave.h"

/* ---- the time of a penalty ---- */

static int64_t penalty_now; /* ms; 0: the caller's time */

void __real_store_backoff_add(store_backoff_t *, const store_address_t *,
                              int64_t);
void __wrap_store_backoff_add(store_backoff_t *, const store_address_t *,
                              int64_t);
int __real_store_backoff_is_over(const store_backoff_t *,
                                 const store_address_t *, int64_t);
int __wrap_store_backoff_is_over(const store_backoff_t *,
                                 const store_address_t *, int64_t);

void __wrap_store_backoff_add(store_backoff_t *penalty,
                              const store_address_t *address, int64_t now)
{
    __real_store_backoff_add(penalty, address, penalty_now ? penalty_now : now);
}

int __wrap_store_backoff_is_over(const store_backoff_t *penalty,
                                 const store_address_t *address, int64_t now)
{
    return __real_store_backoff_is_over(penalty, address,
                                        penalty_now ? penalty_now : now);
}

static void is_refused(const char *from)
{
    slave_t *s = slave_connect(from);

    slave_read_to_end(s);
    assert_int_equal(s->bytes, 0);
    slave_close(s);
}

/* ---- the tests ---- */

/* Its kernel takes no more bytes, and the ring is small. */
static void y34_a_slave_that_is_too_slow_is_dropped(void **state)
{
    slave_t *slow, *fast;
    char key[16];
    unsigned i;

    (void)state;
    penalty_now = 1000000;
    config.changes = 16 * 1024;
    config.slave_timeout = 600; /* it is not dropped for its silence */
    slow = slave_join("127.0.0.1", 1);
    fast = slave_join("127.0.0.2", 1);
    assert_true(slave_read(slow, STORE_WIRE_COMPLETE, 1));
    assert_true(slave_read(fast, STORE_WIRE_COMPLETE, 1));
    for (i = 0; i < 3000; i++) {
        snprintf(key, sizeof key, "k%u", i % 200);
        assert_true(shelf_set(&shelf, key, i, 30000, 0) > 0);
        if (i % 100 == 0)
            slave_catch_up(fast);
    }
    slave_read_to_end(slow);
    master_wait_log("slave 127.0.0.1 dropped: it is slower than the changes");
    master_wait_gone(0);
    slave_catch_up(fast);
    slave_is_same(fast, shelf.space);
    slave_close(slow);
    penalty_now += 999;
    is_refused("127.0.0.1");
    penalty_now++;
    slow = slave_join("127.0.0.1", 1);
    assert_true(slave_read(slow, STORE_WIRE_COMPLETE, 1));
    penalty_now = 0;
    slave_close(slow);
    slave_close(fast);
}

/* It takes nothing at all, so its thread waits for the socket: there is more
 * than the kernels keep for it. */
static void a_slave_that_takes_nothing_gives_its_place_free(void **state)
{
    const store_slave_figures_t *figures =
        &store_region_figures()->cluster.slave[0];
    slave_t *mute;
    char key[16];
    unsigned i;

    (void)state;
    config.changes = 16 * 1024;
    config.slave_timeout = 600; /* it is not dropped for its silence */
    mute = slave_join("127.0.0.1", 1);
    assert_true(slave_read(mute, STORE_WIRE_COMPLETE, 1));
    for (i = 0; i < 14; i++) {
        snprintf(key, sizeof key, "large%u", i);
        assert_true(shelf_set(&shelf, key, i, 1000000, 0) > 0);
    }
    store_changes_ring();
    while (STORE_GET(figures->sent) < 1000000) {
        poll(NULL, 0, 5);
        store_master_tick(clock_ms());
    }
    for (i = 0; i < 1000; i++)
        assert_true(shelf_set(&shelf, "a", i, 10, 0) > 0);
    master_wait_log("slave 127.0.0.1 dropped: it is slower than the changes");
    master_wait_gone(0);
    slave_close(mute);
}

static void it_waits_longer_each_time(void **state)
{
    static const int64_t waits[] = {1, 2, 4, 8, 16, 32, 60, 60};
    store_backoff_t penalty;
    store_address_t a, b;
    int64_t now = 1000000;
    unsigned i;

    (void)state;
    memset(&penalty, 0, sizeof penalty);
    assert_int_equal(store_address_parse("10.0.0.1", &a), 0);
    assert_int_equal(store_address_parse("10.0.0.2", &b), 0);
    for (i = 0; i < sizeof waits / sizeof *waits; i++) {
        assert_true(store_backoff_is_over(&penalty, &a, now));
        store_backoff_add(&penalty, &a, now);
        now += waits[i] * 1000 - 1;
        assert_false(store_backoff_is_over(&penalty, &a, now));
        assert_true(store_backoff_is_over(&penalty, &b, now));
        now++;
    }
    now += 3600000;
    store_backoff_add(&penalty, &a, now);
    assert_true(store_backoff_is_over(&penalty, &a, now + 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(y34_a_slave_that_is_too_slow_is_dropped,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(
            a_slave_that_takes_nothing_gives_its_place_free, master_open,
            master_close),
        cmocka_unit_test(it_waits_longer_each_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
