/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Who has to confirm, up to where all have, and whom that wakes. */

#include "store/cluster/confirm.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/memory/changes.h"
#include "tests/unit/support/shelf.h"
#include "tests/unit/support/test_clock.h"

#define UNHEARD 1000 /* ms; of confirm.c */

static uint64_t position; /* of the data */
static int no_addresses;

int __real_store_vip_is_here(const store_address_t *);
int __wrap_store_vip_is_here(const store_address_t *);
int __wrap_store_vip_is_here(const store_address_t *a)
{
    return no_addresses ? -1 : __real_store_vip_is_here(a);
}

static store_address_t address(unsigned n)
{
    store_address_t a = {.family = AF_INET};

    a.u.v4.s_addr = htonl(0x7f000001 + n);
    return a;
}

static void join(unsigned slot, unsigned host)
{
    store_address_t a = address(host);

    store_confirm_joins(slot, &a);
}

static uint64_t least(void)
{
    return store_confirm_least(clock_ms()).known;
}

static int mark(unsigned slot)
{
    return store_confirm_grants(slot, position, clock_ms());
}

/* A mark, and its echo. */
static void confirm(unsigned slot)
{
    assert_true(mark(slot));
    store_confirm_heard(slot, position);
}

static int begin(void **state)
{
    (void)state;
    position = 100;
    store_changes_count_in(&position);
    store_confirm_begin(NULL);
    return 0;
}

static void the_slowest_counts(void **state)
{
    (void)state;
    assert_true(least() == STORE_CONFIRM_NONE);
    assert_false(store_confirm_is_possible());
    join(0, 0);
    assert_true(store_confirm_is_possible());
    assert_int_equal(least(), 0);
    confirm(0);
    assert_int_equal(least(), 100);
    join(1, 1);
    assert_int_equal(least(), 0);
    confirm(1);
    position = 200;
    confirm(0);
    assert_int_equal(least(), 100);
    confirm(1);
    assert_int_equal(least(), 200);
}

/* What was there before it joined was acknowledged without it. */
static void it_is_whole_with_what_was_there(void **state)
{
    (void)state;
    join(0, 0);
    assert_false(store_confirm_is_whole(0, 99));
    assert_false(store_confirm_grants(0, 99, clock_ms()));
    assert_true(store_confirm_is_whole(0, 100));
    position = 150;
    assert_true(store_confirm_grants(0, 100, clock_ms()));
}

/* One that does not confirm, such as a yrmcds, gets what it asks for. */
static void others_are_not_asked(void **state)
{
    (void)state;
    assert_true(store_confirm_is_whole(3, 0));
    assert_true(mark(3));
    store_confirm_heard(3, 100);
    assert_true(least() == STORE_CONFIRM_NONE);
}

static void one_that_is_silent_leaves_after_its_lease(void **state)
{
    (void)state;
    join(0, 0);
    confirm(0);
    position = 200;
    assert_true(mark(0));
    test_clock_later(UNHEARD - 100);
    assert_true(mark(0)); /* this prolongs the lease */
    test_clock_later(200);
    assert_false(mark(0)); /* and this does not */
    test_clock_later(STORE_CONFIRM_LEASE - 300);
    assert_int_equal(least(), 100);
    assert_true(store_confirm_is_possible());
    test_clock_later(200);
    assert_true(least() == STORE_CONFIRM_NONE);
    assert_false(store_confirm_is_possible());
}

/* What was acknowledged without it has to be before its first mark. */
static void one_that_comes_back_has_all(void **state)
{
    (void)state;
    join(0, 0);
    assert_true(mark(0));
    test_clock_later(STORE_CONFIRM_LEASE + 100);
    assert_true(least() == STORE_CONFIRM_NONE);
    store_confirm_heard(0, 100);
    assert_true(least() == STORE_CONFIRM_NONE);
    position = 300;
    assert_false(store_confirm_grants(0, 299, clock_ms()));
    assert_int_equal(least(), 100); /* it is awaited before it gets the mark */
    position = 400;
    assert_true(store_confirm_grants(0, 300, clock_ms()));
}

static void one_without_a_connection_keeps_its_lease(void **state)
{
    (void)state;
    join(0, 0);
    join(1, 1);
    confirm(0);
    position = 200;
    confirm(1);
    store_confirm_leaves(0, 0);
    assert_int_equal(least(), 100);
    join(0, 2); /* another one has its place now */
    confirm(0);
    assert_int_equal(least(), 100);
    test_clock_later(STORE_CONFIRM_LEASE - 100);
    assert_int_equal(least(), 100);
    confirm(1);
    test_clock_later(200);
    assert_int_equal(least(), 200);
}

static void one_that_is_back_confirms_itself(void **state)
{
    (void)state;
    join(0, 0);
    confirm(0);
    position = 200;
    store_confirm_leaves(0, 0);
    assert_int_equal(least(), 100);
    join(1, 0);
    confirm(1);
    assert_int_equal(least(), 200);
}

static void one_that_says_bye_leaves_at_once(void **state)
{
    (void)state;
    join(0, 0);
    store_confirm_leaves(0, 1);
    assert_true(least() == STORE_CONFIRM_NONE);
    assert_false(store_confirm_is_possible());
}

/* The hosts of AppStorePeers, again and again. */
static void there_is_room_for_all_that_were_lost(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * STORE_PEERS; i++) {
        join(i % STORE_SLAVES, i % STORE_PEERS);
        position++;
        assert_true(mark(i % STORE_SLAVES));
        store_confirm_leaves(i % STORE_SLAVES, 0);
    }
    assert_int_equal(least(), 0);
    test_clock_later(STORE_CONFIRM_LEASE + 100);
    assert_true(least() == STORE_CONFIRM_NONE);
}

/* The last master may have given it a lease. This host is none of them, and a
 * plain peer has no copy of a space that confirms. */
static void a_new_master_knows_of_no_lease(void **state)
{
    store_cluster_t config = {.n_peers = 3, .n_plain = 1};

    (void)state;
    assert_int_equal(store_address_parse("127.0.0.1", &config.peer[0]), 0);
    assert_int_equal(store_address_parse("192.0.2.1", &config.peer[1]), 0);
    assert_int_equal(store_address_parse("192.0.2.2", &config.peer[2]), 0);
    config.plain[0] = config.peer[2];
    store_confirm_begin(&config);
    assert_true(least() == STORE_CONFIRM_NONE);
    assert_int_equal(store_confirm_least(clock_ms()).strict, 0);
    assert_true(store_confirm_is_possible());
    store_confirm_joins(0, &config.peer[1]);
    confirm(0);
    assert_int_equal(store_confirm_least(clock_ms()).strict, 100);
    store_confirm_begin(&config);
    test_clock_later(STORE_CONFIRM_LEASE + 100);
    assert_true(store_confirm_least(clock_ms()).strict == STORE_CONFIRM_NONE);
    assert_false(store_confirm_is_possible());
}

/* Then any of them may be another host. */
static void addresses_that_cannot_be_read_are_unknown(void **state)
{
    store_cluster_t config = {.n_peers = 1};

    (void)state;
    assert_int_equal(store_address_parse("192.0.2.1", &config.peer[0]), 0);
    no_addresses = 1;
    store_confirm_begin(&config);
    no_addresses = 0;
    assert_int_equal(store_confirm_least(clock_ms()).strict, 0);
}

/* ---- who waits ---- */

static unsigned rings(int bell)
{
    uint64_t n = 0;

    if (read(bell, &n, sizeof n) < 0)
        assert_int_equal(errno, EAGAIN);
    return (unsigned)n;
}

static void a_worker_is_woken_once(void **state)
{
    int bell = eventfd(0, EFD_NONBLOCK);

    (void)state;
    store_confirm_bell(2, bell);
    join(0, 0);
    assert_false(store_confirm_is_awaited());
    confirm(0);
    assert_int_equal(rings(bell), 0);
    store_confirm_wait(2, 150);
    assert_true(store_confirm_is_awaited());
    store_confirm_heard(0, 100);
    assert_int_equal(rings(bell), 0);
    position = 150;
    confirm(0);
    confirm(0);
    assert_int_equal(rings(bell), 1);
    store_confirm_wait(2, 160);
    position = 200;
    confirm(0);
    assert_int_equal(rings(bell), 1);
    store_confirm_wait(2, 0);
    assert_false(store_confirm_is_awaited());
    confirm(0);
    assert_int_equal(rings(bell), 0);
    store_confirm_wait(2, 300);
    store_confirm_leaves(0, 1); /* nobody is left */
    assert_int_equal(rings(bell), 1);
    store_confirm_bell(2, -1);
    assert_false(store_confirm_is_awaited());
    close(bell);
}

#define TEST(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_slowest_counts),
        TEST(it_is_whole_with_what_was_there),
        TEST(others_are_not_asked),
        TEST(one_that_is_silent_leaves_after_its_lease),
        TEST(one_that_comes_back_has_all),
        TEST(one_without_a_connection_keeps_its_lease),
        TEST(one_that_is_back_confirms_itself),
        TEST(one_that_says_bye_leaves_at_once),
        TEST(there_is_room_for_all_that_were_lost),
        TEST(a_new_master_knows_of_no_lease),
        TEST(addresses_that_cannot_be_read_are_unknown),
        TEST(a_worker_is_woken_once),
    };

    test_clock_slow(1000);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
