/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Marks of a master, and what a slave answers: how far its copy is, and how far
 * it is behind. */

#include "store/cluster/mark.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock_ms.h"
#include "store/cluster/follower_state.h"
#include "store/cluster/history.h"
#include "store/cluster/slave_link.h"
#include "store/memory/region.h"
#include "tests/unit/support/fake_master.h"

#define HOURS(n) ((int64_t)(n)*3600000) /* ms */

/* ---- how far it is behind ---- */

static void the_fastest_mark_is_not_behind(void **state)
{
    store_lag_t l = {0};

    (void)state;
    assert_int_equal(store_lag_of(&l, 5000, 900), 0);
    assert_int_equal(store_lag_of(&l, 6000, 1930), 30);
    assert_int_equal(store_lag_of(&l, 7000, 2890), 0); /* faster by 10 */
    assert_int_equal(store_lag_of(&l, 8000, 3900), 10);
    assert_in_range(store_lag_of(&l, 9000, 20890), 15980, 16000);
}

static void the_low_bits_of_the_clocks_may_begin_again(void **state)
{
    store_lag_t l = {0};
    int64_t now = INT64_C(1) << 32;

    (void)state;
    assert_int_equal(store_lag_of(&l, UINT32_MAX - 10, now - 500), 0);
    assert_int_equal(store_lag_of(&l, 989, now + 500), 0);
    assert_in_range(store_lag_of(&l, 1989, now + 1600), 99, 100);
}

/* 20 s a day. A slave that does not keep up is behind by more. */
static void a_clock_that_is_faster_is_not_a_lag(void **state)
{
    store_lag_t l = {0};
    int64_t now;

    (void)state;
    for (now = 0; now < HOURS(100); now += 1000)
        assert_in_range(store_lag_of(&l, (uint32_t)(now - now / 4320), now), 0,
                        2);
    assert_in_range(store_lag_of(&l, (uint32_t)(now - now / 4320 - 5000), now),
                    4998, 5002);
}

/* ---- the answers ---- */

static store_stream_t *slave, *master;
static store_echo_t echo;
static store_slave_link_t outbox;
static uint64_t confirmed, answers;
static int64_t now = 1000000; /* ms, for the slave's side */
static int64_t heard; /* ms: what the master has heard last; 0: nothing */

static void note(unsigned slot, uint64_t position)
{
    assert_int_equal(slot, 3);
    confirmed = position;
    answers++;
}

static int begin(void **state)
{
    int ends[2];

    if (fake_setup(state) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    master = store_stream_make(ends[0], 1, NULL, 0);
    slave = store_stream_make(ends[1], 0, NULL, 0);
    store_echo_begin(&echo, slave, now);
    store_follower_state_clear();
    confirmed = answers = 0;
    heard = now;
    assert_int_equal(store_slave_link_open(&outbox, master, 10), 0);
    outbox.confirmed = note;
    outbox.slot = 3;
    return 0;
}

static int end(void **state)
{
    store_slave_link_close(&outbox);
    store_stream_close(master);
    store_stream_close(slave);
    return fake_teardown(state);
}

/* A mark comes to the slave. */
static void mark(uint64_t position, int at_once)
{
    store_mark_t m = echo.mark;

    assert_int_equal(
        store_mark_take(
            &m, &(store_packet_t){.number = position,
                                  .clock = (uint32_t)now,
                                  .cas = (uint32_t)heard,
                                  .bits = (at_once ? STORE_WIRE_AT_ONCE : 0u) |
                                          (heard ? STORE_WIRE_HEARD : 0u)}),
        0);
    outbox.marked = position;
    store_echo_mark(&echo, &m, now);
}

static void say(int64_t ms)
{
    now += ms;
    store_echo_say(&echo, now);
    assert_int_equal(store_slave_link_hear(&outbox), 0);
}

static void a_mark_is_answered_within_a_second(void **state)
{
    (void)state;
    mark(7, 0);
    say(999);
    assert_int_equal(answers, 0);
    store_echo_arrived(&echo, now);
    mark(8, 0);
    say(1);
    assert_int_equal(answers, 1);
    assert_int_equal(confirmed, 8);
    say(0);
    assert_int_equal(answers, 1);
}

static void one_that_is_waited_for_is_answered_at_once(void **state)
{
    (void)state;
    mark(7, 1);
    mark(9, 0); /* came with it */
    say(0);
    assert_int_equal(answers, 1);
    assert_int_equal(confirmed, 9);
    mark(10, 0);
    say(0);
    assert_int_equal(answers, 1);
}

/* Its kernel would reset the connection if it is killed, and what it has sent
 * would be lost. */
static void a_master_without_marks_is_told_nothing_while_it_sends(void **state)
{
    char byte = 1;

    (void)state;
    say(999);
    store_echo_arrived(&echo, now);
    say(999);
    assert_int_equal(store_stream_read(master, &byte, 1), -1);
    store_echo_say(&echo, ++now);
    assert_int_equal(store_stream_read(master, &byte, 1), 1);
    assert_int_equal(byte, 0);
}

/* The master's end takes no byte, and then some. */
static void what_the_socket_does_not_take_is_said_later(void **state)
{
    char bytes[4096];
    ssize_t n;

    (void)state;
    memset(bytes, 0, sizeof bytes); /* as many heartbeats */
    while (store_stream_write(slave, bytes, sizeof bytes) > 0 ||
           store_stream_write(slave, bytes, 1) > 0)
        ;
    mark(5, 1);
    store_echo_say(&echo, now);
    mark(6, 1);
    store_echo_say(&echo, now);
    assert_int_equal(store_echo_events(&echo), POLLOUT);
    for (n = 0; n < 1000 && confirmed < 6; n++)
        say(0);
    assert_int_equal(confirmed, 6);
    assert_int_equal(answers, 2);
    assert_int_equal(store_echo_events(&echo), 0);
}

static void a_slave_that_stops_says_bye(void **state)
{
    (void)state;
    store_echo_bye(&echo);
    say(0); /* it may be a yrmcds */
    assert_false(outbox.has_said_bye);
    mark(7, 1);
    say(0);
    say(0);
    assert_true(outbox.has_said_bye);
    assert_int_equal(confirmed, 7);
}

/* ---- what no slave says ---- */

static void expect_end(const void *bytes, size_t n)
{
    assert_int_equal(store_stream_write(slave, bytes, n), n);
    assert_int_equal(store_slave_link_hear(&outbox), -1);
    assert_string_equal(outbox.why, "it has sent what is no heartbeat");
}

static size_t packet(store_packet_t p, unsigned char to[STORE_WIRE_SMALL_MAX])
{
    return store_wire_put(&p, "k", to);
}

static void it_confirms_nothing_that_it_has_not_got(void **state)
{
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    size_t n =
        packet((store_packet_t){.opcode = STORE_WIRE_MARK, .number = 6}, bytes);

    (void)state;
    outbox.marked = 5;
    expect_end(bytes, n);
    assert_int_equal(answers, 0);
}

static void a_yrmcds_confirms_nothing(void **state)
{
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    size_t n =
        packet((store_packet_t){.opcode = STORE_WIRE_MARK, .number = 0}, bytes);

    (void)state;
    outbox.confirmed = NULL;
    expect_end(bytes, n);
}

static void it_sends_no_other_packet(void **state)
{
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    size_t n;

    (void)state;
    n = packet((store_packet_t){.opcode = STORE_WIRE_COMPLETE}, bytes);
    expect_end(bytes, n);
    outbox.n_answer = 0;
    n = packet((store_packet_t){.opcode = STORE_WIRE_SET, .klen = 1}, bytes);
    memset(bytes + n, 'k', sizeof bytes - n);
    expect_end(bytes, STORE_WIRE_MARK_SIZE + 1);
}

/* ---- how old the copy is ---- */

static void a_copy_is_as_far_as_its_last_mark(void **state)
{
    uint64_t *position = &store_region_directory()->history.epoch[0].position;
    const store_history_t theirs = {.n = 1, .epoch = {{.id = 7}}};
    store_follower_state_t s;

    (void)state;
    store_history_offer(&theirs);
    mark(41, 0);
    assert_int_equal(*position, 0); /* it is a part of a copy */
    store_follower_state(&s);
    assert_int_equal(store_follower_state_age(&s), -1);
    store_follower_state_complete(1);
    store_follower_state(&s);
    assert_true(store_follower_state_is_stale(&s));
    mark(42, 0);
    assert_int_equal(*position, 42);
    store_follower_state(&s);
    assert_false(store_follower_state_is_stale(&s));
    assert_in_range(store_follower_state_age(&s), 0, 5000);
}

static void a_copy_that_lags_or_was_cut_off_is_stale(void **state)
{
    store_follower_state_t s;

    (void)state;
    store_follower_state_complete(1);
    store_follower_state_mark(1, 2000, 2000);
    store_follower_state(&s);
    assert_false(store_follower_state_is_stale(&s));
    store_follower_state_mark(1, 2001, 2001);
    store_follower_state(&s);
    assert_true(store_follower_state_is_stale(&s));
    s.lag = 0;
    s.marked_at -= STORE_LEASE - 8000;
    assert_false(store_follower_state_is_stale(&s));
    s.marked_at -= 8001;
    assert_true(store_follower_state_is_stale(&s));
    assert_in_range(store_follower_state_age(&s), 10001, 18000);
    s.marked_at = clock_ms();
    s.lag_most = STORE_LEASE_MOST + 1;
    assert_true(store_follower_state_is_stale(&s));
    s.is_yrmcds = 1; /* it sends no marks */
    assert_false(store_follower_state_is_stale(&s));
}

/* It may have waited behind a large copy. The lease that the master counts may be
 * over. */
static void the_first_mark_prolongs_no_lease(void **state)
{
    store_follower_state_t s;

    (void)state;
    store_follower_state_complete(1);
    heard = 0;
    mark(7, 0);
    store_follower_state(&s);
    assert_true(store_follower_state_is_stale(&s));
    say(0); /* at once */
    assert_int_equal(confirmed, 7);
    assert_int_equal(outbox.echoed_at, now);
    heard = outbox.echoed_at;
    now += 3000;
    mark(7, 0);
    store_follower_state(&s);
    assert_false(store_follower_state_is_stale(&s));
    assert_int_equal(s.lag_most, 3000);
    now += STORE_LEASE;
    mark(7, 0);
    store_follower_state(&s);
    assert_true(store_follower_state_is_stale(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_mark_is_not_behind),
        cmocka_unit_test(the_low_bits_of_the_clocks_may_begin_again),
        cmocka_unit_test(a_clock_that_is_faster_is_not_a_lag),
        cmocka_unit_test_setup_teardown(a_mark_is_answered_within_a_second,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            one_that_is_waited_for_is_answered_at_once, begin, end),
        cmocka_unit_test_setup_teardown(
            a_master_without_marks_is_told_nothing_while_it_sends, begin, end),
        cmocka_unit_test_setup_teardown(
            what_the_socket_does_not_take_is_said_later, begin, end),
        cmocka_unit_test_setup_teardown(a_slave_that_stops_says_bye, begin,
                                        end),
        cmocka_unit_test_setup_teardown(it_confirms_nothing_that_it_has_not_got,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_yrmcds_confirms_nothing, begin, end),
        cmocka_unit_test_setup_teardown(it_sends_no_other_packet, begin, end),
        cmocka_unit_test_setup_teardown(a_copy_is_as_far_as_its_last_mark,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_copy_that_lags_or_was_cut_off_is_stale, begin, end),
        cmocka_unit_test_setup_teardown(the_first_mark_prolongs_no_lease, begin,
                                        end),
    };

    alarm(300);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
