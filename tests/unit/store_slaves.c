/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Which slaves a master takes, which it drops, and how it ends. */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/cluster/confirm.h"
#include "store/cluster/master.h"
#include "store/memory/changes.h"
#include "store/memory/region.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/slave.h"

static void a_stranger_gets_nothing(void **state)
{
    slave_t *s = slave_connect("127.0.0.9");

    (void)state;
    slave_read_to_end(s);
    assert_int_equal(s->bytes, 0);
    assert_int_equal(notes_count("127.0.0.9 may not have a copy"), 1);
    slave_close(s);
    slave_close(slave_connect("127.0.0.9"));
    assert_int_equal(notes_count("may not have a copy"), 1);
}

static int is_closed(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, 0) == 1;
}

/* The main thread has other work as well. */
static void a_crowd_is_accepted_in_turns(void **state)
{
    int fd[100];
    unsigned i;

    (void)state;
    for (i = 0; i < 100; i++)
        fd[i] = slave_socket("127.0.0.9");
    master_pump();
    assert_true(is_closed(fd[0]));
    assert_false(is_closed(fd[99]));
    master_pump();
    assert_true(is_closed(fd[99]));
    for (i = 0; i < 100; i++)
        close(fd[i]);
}

static void without_descriptors_a_slave_waits(void **state)
{
    int fd = slave_socket("127.0.0.9"), next = dup(fd);
    struct rlimit old, none;

    (void)state;
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    master_shortages = 0;
    master_pump();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(master_shortages, 1);
    assert_false(is_closed(fd));
    master_pump();
    assert_true(is_closed(fd));
    close(fd);
}

/* As yrmcds does. */
static void the_sixth_slave_is_closed(void **state)
{
    slave_t *s[STORE_SLAVES], *more;
    unsigned i;

    (void)state;
    for (i = 0; i < STORE_SLAVES; i++) {
        s[i] = slave_join("127.0.0.1", 1);
        assert_true(slave_read(s[i], STORE_WIRE_COMPLETE, 1));
    }
    more = slave_connect("127.0.0.1");
    slave_read_to_end(more);
    assert_int_equal(more->bytes, 0);
    slave_close(more);
    slave_close(s[2]);
    master_wait_gone(2);
    s[2] = slave_join("127.0.0.2", 1);
    assert_true(slave_read(s[2], STORE_WIRE_COMPLETE, 1));
    assert_string_equal(store_region_figures()->cluster.slave[2].address,
                        "127.0.0.2");
    assert_int_equal(store_region_figures()->cluster.dropped, 1);
    for (i = 0; i < STORE_SLAVES; i++)
        slave_close(s[i]);
}

static void what_says_no_hello_is_dropped(void **state)
{
    static const char *const said[] = {
        "get a\r\n", "\x80", "\x80\x11",
        "GET / HTTP/1.1\r\nHost: example\r\n\r\n"};
    unsigned i;

    (void)state;
    config.slave_timeout = 1; /* for those that are not complete */
    for (i = 0; i < sizeof said / sizeof *said; i++) {
        slave_t *s = slave_begin("127.0.0.1", said[i], strlen(said[i]));

        slave_read_to_end(s);
        assert_int_equal(s->bytes, 0);
        slave_close(s);
    }
    assert_int_equal(notes_count("joined"), 0);
}

static void what_is_no_heartbeat_ends_the_connection(void **state)
{
    slave_t *s = slave_join("127.0.0.1", 1);

    (void)state;
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    slave_say(s, "\0\0", 2);
    slave_catch_up(s);
    slave_say(s, "\0x", 2);
    slave_read_to_end(s);
    master_wait_log("dropped: it has sent what is no heartbeat");
    slave_close(s);
}

static size_t packet(uint8_t opcode, uint64_t number,
                     unsigned char to[STORE_WIRE_SMALL_MAX])
{
    return store_wire_put(&(store_packet_t){.opcode = opcode,
                                            .number = number,
                                            .clock = 0x80000001},
                          "", to);
}

/* It confirms what it has, and leaves at once if it says so. */
static void a_slave_of_ours_confirms(void **state)
{
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    store_confirm_t c;
    int says_bye;

    (void)state;
    store_confirm_begin(NULL); /* no slave of the tests before is awaited */
    for (says_bye = 0; says_bye < 2; says_bye++) {
        slave_t *s = slave_join("127.0.0.1", 1);

        shelf_set(&shelf, "a", 1, 10, 0);
        assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
        assert_true(slave_read(s, STORE_WIRE_MARK, 1));
        store_confirm_state(0, &c);
        assert_true(c.is_member);
        slave_say(
            s, bytes,
            packet(STORE_WIRE_MARK, s->last[STORE_WIRE_MARK].number, bytes));
        do
            store_confirm_state(0, &c);
        while (c.position != s->last[STORE_WIRE_MARK].number);
        /* One that follows repeats the clock of the echo. */
        assert_int_equal(s->last[STORE_WIRE_MARK].bits, 0);
        assert_true(slave_read(s, STORE_WIRE_MARK, 2));
        assert_int_equal(s->last[STORE_WIRE_MARK].bits, STORE_WIRE_HEARD);
        assert_int_equal(s->last[STORE_WIRE_MARK].cas, 0x80000001);
        if (says_bye)
            slave_say(s, bytes, packet(STORE_WIRE_BYE, 0, bytes));
        slave_close(s);
        master_wait_gone(0);
        store_confirm_state(0, &c);
        assert_true(!c.is_member && store_confirm_is_possible() != says_bye);
    }
}

/* Nobody waits for it while the kernels have megabytes of its copy. */
static void a_slave_confirms_when_it_has_taken_the_copy(void **state)
{
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    store_confirm_t c;
    slave_t *s;

    (void)state;
    store_confirm_want(1);
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_MARK, 1));
    assert_int_equal(s->packets[STORE_WIRE_COMPLETE], 0);
    store_confirm_state(0, &c);
    assert_false(c.is_member);
    slave_say(s, bytes,
              packet(STORE_WIRE_MARK, s->last[STORE_WIRE_MARK].number, bytes));
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    store_confirm_state(0, &c);
    assert_true(c.is_member);
    slave_close(s);
    store_confirm_want(0);
}

/* The slave that lives, and how often it says so: this machine may be too busy
 * for a beat in each 2 s. */
static struct {
    slave_t *slave;
    int64_t said, longest; /* ms: the last beat, and the longest silence */
} alive;

/* @return 1: the master takes it */
static int beat(void)
{
    int taken = store_stream_write(alive.slave->stream, "", 1) == 1;
    int64_t now = clock_ms(), silence = now - alive.said;

    alive.longest = silence > alive.longest ? silence : alive.longest;
    alive.said = now;
    return taken;
}

/* Until the silent one is dropped, the other one says something each 100 ms. */
static void beat_until_dropped(slave_t *silent)
{
    struct pollfd p = {silent->fd, POLLIN, 0};

    assert_true(slave_read(silent, STORE_WIRE_COMPLETE, 1));
    while (poll(&p, 1, 100) == 0 && beat())
        ;
    slave_read_to_end(silent);
    slave_close(silent);
}

static void a_silent_slave_is_dropped(void **state)
{
    unsigned i, dropped;

    (void)state;
    config.slave_timeout = 2;
    alive.longest = 0;
    alive.said = clock_ms();
    alive.slave = slave_join("127.0.0.2", 1);
    for (i = 0; i < 2; i++) {
        beat_until_dropped(slave_join("127.0.0.1", 1));
        master_wait_log(
            "slave 127.0.0.1 dropped: nothing was heard of it for 2 s");
    }
    dropped = notes_count("slave 127.0.0.2 dropped");
    beat();
    if (alive.longest < 1000)
        assert_int_equal(dropped, 0);
    slave_close(alive.slave);
}

/* The number of the second descriptor that will be opened. */
static int second_free(void)
{
    int first = dup(0), second = dup(0);

    close(first);
    close(second);
    return second;
}

/* There is a descriptor for the connection, and none for its thread. */
static void a_slave_that_cannot_be_fed_leaves_no_list(void **state)
{
    int fd = slave_socket("127.0.0.1");
    struct rlimit limit, before;
    store_cursor_t end;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)second_free();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    master_pump();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(notes_count("slave 127.0.0.1 cannot be fed"), 1);
    shelf_set(&shelf, "a", 1, 10, 0);
    store_changes_end(&end);
    assert_int_equal(end.n, 0);
    close(fd);
}

static void what_a_slave_cannot_keep_is_told(void **state)
{
    unsigned char bytes[STORE_WIRE_SMALL_MAX + 10];
    store_packet_t hello = {.opcode = STORE_WIRE_HELLO,
                            .version = STORE_WIRE_VERSION,
                            .number = (uint64_t)time(NULL) - 100,
                            .value = 10};
    size_t n = store_wire_put(&hello, "", bytes);
    slave_t *s;

    (void)state;
    memcpy(bytes + n, "shop 1000\n", 10);
    s = slave_begin("127.0.0.1", bytes, n + 10);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    assert_int_equal(notes_count("2 of 2 spaces are smaller there or not "
                                 "there, the first is shop (AppStore)"),
                     1);
    assert_int_equal(notes_count("the clock of slave 127.0.0.1 is -"), 1);
    slave_close(s);
}

/* More than the kernels keep for a slave that reads nothing. */
static void store_large_values(void)
{
    char key[16];
    unsigned i;

    for (i = 0; i < 14; i++) {
        snprintf(key, sizeof key, "large%u", i);
        assert_true(shelf_set(&shelf, key, i, 1000000, 0) > 0);
    }
}

static void a_drain_waits_for_the_slaves(void **state)
{
    slave_t *s;

    (void)state;
    assert_string_equal(store_master_drain(0),
                        "no slave is there to get the changes");
    assert_int_equal(notes_count("no slave is there"), 1);
    s = slave_join("127.0.0.1", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    shelf_set(&shelf, "a", 1, 10, 0);
    assert_null(store_master_drain(SLAVE_WAIT));
    assert_true(slave_read(s, STORE_WIRE_SET, 1));
    assert_int_equal(store_changes_unsent(), 0);
    store_large_values();
    assert_string_equal(store_master_drain(20),
                        "a slave has not taken all changes in time");
    assert_int_equal(notes_count("have not got all changes in 20 ms: 1"), 1);
    slave_close(s);
}

/* One waits for a hello, one for its socket, one for changes. */
static void y44_the_end_wakes_each_thread(void **state)
{
    slave_t *mute = slave_begin("127.0.0.1", "\x80", 1);
    slave_t *full = slave_join("127.0.0.1", 1);
    slave_t *idle = slave_join("127.0.0.2", 1);
    int64_t began;

    (void)state;
    assert_true(slave_read(idle, STORE_WIRE_COMPLETE, 1));
    store_large_values();
    slave_catch_up(idle);
    began = clock_ms();
    store_master_end();
    assert_true(clock_ms() - began < SLAVE_WAIT / 2);
    slave_read_to_end(mute);
    slave_read_to_end(full);
    slave_read_to_end(idle);
    assert_int_equal(notes_count("dropped"), 0);
    assert_int_equal(store_region_figures()->cluster.slave[2].joined, 0);
    slave_close(mute);
    slave_close(full);
    slave_close(idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stranger_gets_nothing, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(a_crowd_is_accepted_in_turns,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(without_descriptors_a_slave_waits,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(the_sixth_slave_is_closed, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(what_says_no_hello_is_dropped,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(
            what_is_no_heartbeat_ends_the_connection, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(a_slave_of_ours_confirms, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(
            a_slave_confirms_when_it_has_taken_the_copy, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(a_silent_slave_is_dropped, master_open,
                                        master_close),
        cmocka_unit_test_setup_teardown(
            a_slave_that_cannot_be_fed_leaves_no_list, master_open,
            master_close),
        cmocka_unit_test_setup_teardown(what_a_slave_cannot_keep_is_told,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(a_drain_waits_for_the_slaves,
                                        master_open, master_close),
        cmocka_unit_test_setup_teardown(y44_the_end_wakes_each_thread,
                                        master_open, master_close),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
