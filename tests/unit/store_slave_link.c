/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a master takes for the silence of a slave. */

#include "store/cluster/slave_link.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/support/test_clock.h"

#define TIMEOUT 2 /* s */

static int slave;
static store_stream_t *stream;
static store_slave_link_t outbox;

/* ---- this thread is stopped after poll() ---- */

static int stopped;    /* ms; 0: it is not */
static int is_beating; /* the slave sends a heartbeat meanwhile */

int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms);

int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
    int rv = __real_poll(p, n, ms);

    if (stopped == 0)
        return rv;
    test_clock_later(stopped);
    if (is_beating)
        assert_int_equal(write(slave, "", 1), 1);
    return rv;
}

/* ---- the tests ---- */

static int begin(void **state)
{
    int ends[2];

    (void)state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    slave = ends[1];
    stream = store_stream_make(ends[0], 1, NULL, 0);
    stopped = is_beating = 0;
    return stream ? store_slave_link_open(&outbox, stream, TIMEOUT) : -1;
}

static int end(void **state)
{
    (void)state;
    store_slave_link_close(&outbox);
    store_stream_close(stream);
    return close(slave);
}

static int wait_once(void)
{
    return store_slave_link_wait(&outbox, -1, 1);
}

static void silence_ends_it(void **state)
{
    (void)state;
    assert_int_equal(wait_once(), 0);
    test_clock_later(TIMEOUT * 1000 - 500);
    assert_int_equal(wait_once(), 0);
    test_clock_later(501);
    assert_int_equal(wait_once(), -1);
    assert_string_equal(
        outbox.why, "nothing was heard of it for 2 s (AppStoreSlaveTimeout)");
}

static void a_heartbeat_is_heard(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < 5; i++) {
        test_clock_later(TIMEOUT * 1000 - 500);
        assert_int_equal(write(slave, "", 1), 1);
        assert_int_equal(wait_once(), 0);
    }
}

/* A host may be suspended. The heartbeats wait in the socket. */
static void a_master_that_was_stopped_hears_first(void **state)
{
    int i;

    (void)state;
    stopped = TIMEOUT * 1000 + 1000;
    is_beating = 1;
    for (i = 0; i < 5; i++)
        assert_int_equal(wait_once(), 0);
}

static void note(unsigned slot, uint64_t position)
{
    (void)slot;
    (void)position;
}

/* The kernel of a slave that was stopped takes the marks. */
static void marks_are_no_life(void **state)
{
    char bytes[4096] = "";
    int i;

    (void)state;
    outbox.confirmed = note;
    for (i = 0; i < 3; i++) {
        test_clock_later(TIMEOUT * 1000 - 500);
        assert_int_equal(store_slave_link_put(&outbox, bytes, sizeof bytes), 0);
        assert_int_equal(store_slave_link_flush(&outbox), 0);
        assert_int_equal(wait_once(), 0);
    }
    test_clock_later(TIMEOUT * 1000 - 500);
    assert_int_equal(store_slave_link_put(&outbox, bytes, STORE_WIRE_MARK_SIZE),
                     0);
    assert_int_equal(store_slave_link_flush(&outbox), 0);
    assert_int_equal(wait_once(), 0);
    test_clock_later(501);
    assert_int_equal(wait_once(), -1);
}

/* It stops while changes are sent to it. So its end is met by a write, and its last
 * words are in the socket. */
static void a_bye_is_heard_behind_a_write_that_fails(void **state)
{
    const store_packet_t bye = {.opcode = STORE_WIRE_BYE};
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    size_t n = store_wire_put(&bye, "", bytes);

    (void)state;
    outbox.confirmed = note;
    assert_int_equal(write(slave, bytes, n), n);
    assert_int_equal(shutdown(slave, SHUT_RDWR), 0);
    assert_int_equal(store_slave_link_put(&outbox, "change", 6), 0);
    assert_int_equal(store_slave_link_flush(&outbox), -1);
    assert_string_equal(outbox.why, "Broken pipe");
    assert_true(outbox.has_said_bye);
}

static void it_finds_silence_at_the_next_look(void **state)
{
    (void)state;
    stopped = TIMEOUT * 1000 + 1000;
    assert_int_equal(wait_once(), 0);
    assert_int_equal(wait_once(), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(silence_ends_it, begin, end),
        cmocka_unit_test_setup_teardown(a_heartbeat_is_heard, begin, end),
        cmocka_unit_test_setup_teardown(a_master_that_was_stopped_hears_first,
                                        begin, end),
        cmocka_unit_test_setup_teardown(marks_are_no_life, begin, end),
        cmocka_unit_test_setup_teardown(
            a_bye_is_heard_behind_a_write_that_fails, begin, end),
        cmocka_unit_test_setup_teardown(it_finds_silence_at_the_next_look,
                                        begin, end),
    };

    test_clock_slow(1000);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
