/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What a master gives to a peer that knows the secret, and to one that may be any
 * user of its host. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/secret.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/slave.h"

static void set_in_both(const char *key)
{
    shelf_t other = shelf;

    other.space = blog;
    shelf_set(&shelf, key, 1, 10, 0);
    shelf_set(&other, key, 2, 20, 0);
}

/* Whatever it speaks, and whether others have a secret. */
static void a_plain_peer_gets_the_open_space(void **state)
{
    unsigned turn;

    (void)state;
    for (turn = 0; turn < 4; turn++) {
        slave_t *s;

        notes_clear();
        config.n_secret = turn < 2 ? STORE_SECRET_MIN : 0;
        set_in_both("before");
        s = slave_join("127.0.0.3", turn % 2);
        assert_true(slave_read(s, STORE_WIRE_COMPLETE, turn % 2));
        master_wait_log("slave 127.0.0.3 has the whole copy");
        set_in_both("after");
        slave_catch_up(s);
        slave_is_same(s, shelf.space);
        assert_int_equal(s->packets[STORE_WIRE_SPACE], turn % 2);
        assert_null(slave_find(s, "blog", "before"));
        assert_null(slave_find(s, "blog", "after"));
        if (turn % 2) /* of the hello: no other name is told */
            assert_in_range(s->last[STORE_WIRE_HELLO].value, 6,
                            sizeof "shop 16777216\n" - 1);
        slave_close(s);
    }
}

static void without_an_open_space_a_plain_peer_gets_nothing(void **state)
{
    slave_t *s;

    (void)state;
    config.open_space[0] = '\0';
    set_in_both("before");
    s = slave_join("127.0.0.3", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    assert_int_equal(s->n, 0);
    assert_int_equal(s->packets[STORE_WIRE_SPACE], 0);
    master_wait_log("slave 127.0.0.3 gets nothing");
    slave_close(s);
}

/* Each user of its host has its address. */
static void without_a_key_no_other_peer_is_taken(void **state)
{
    unsigned turn;

    (void)state;
    config.n_secret = 0;
    set_in_both("a");
    for (turn = 0; turn < 2; turn++) {
        slave_t *s = slave_connect("127.0.0.1");

        assert_int_equal(notes_count("127.0.0.1 may not have a copy"), 1);
        slave_read_to_end(s);
        assert_int_equal(s->bytes, 0);
        slave_close(s);
    }
}

static void another_peer_has_to_know_the_key(void **state)
{
    slave_t *s;

    (void)state;
    master_has_tls = 1;
    set_in_both("a");
    s = slave_join("127.0.0.1", 1);
    assert_false(slave_read(s, STORE_WIRE_SET, 1));
    if (secret_is_supported())
        master_wait_log("a connection from 127.0.0.1 gets no copy: it does not "
                        "know the secret (AppStoreKey)");
    slave_close(s);
}

/* One line a minute for each host. */
static void who_does_not_know_the_key_does_not_fill_the_log(void **state)
{
    unsigned i;

    (void)state;
    if (!secret_is_supported())
        return;
    master_has_tls = 1;
    for (i = 0; i < 20; i++) {
        slave_t *s = slave_join("127.0.0.1", 1);

        assert_false(slave_read(s, STORE_WIRE_SET, 1));
        slave_close(s);
    }
    slave_close(slave_join("127.0.0.2", 1));
    master_wait_log("127.0.0.2 gets no copy");
    assert_int_equal(notes_count("127.0.0.1"), 1);
    assert_int_equal(notes_count("dropped"), 0);
}

/* The oldest gives its place, but one that has joined keeps it. */
static void silent_peers_keep_no_slave_out(void **state)
{
    slave_t *silent[2 * STORE_SLAVES], *s;
    unsigned i, n = 0;

    (void)state;
    while (n < STORE_SLAVES)
        silent[n++] = slave_connect("127.0.0.1");
    s = slave_join("127.0.0.2", 1);
    assert_true(slave_read(s, STORE_WIRE_COMPLETE, 1));
    slave_read_to_end(silent[0]);
    while (n < 2 * STORE_SLAVES) {
        silent[n++] = slave_connect("127.0.0.1");
        slave_read_to_end(silent[n - STORE_SLAVES]);
    }
    slave_catch_up(s);
    slave_is_same(s, shelf.space);
    for (i = 0; i < n; i++) {
        assert_int_equal(silent[i]->bytes, 0);
        slave_close(silent[i]);
    }
    slave_close(s);
}

/* One that connects very often takes only places of its own. */
static void a_busy_peer_keeps_no_slave_out(void **state)
{
    slave_t *busy[STORE_SLAVES + 5], *s = slave_connect("127.0.0.2");
    char byte;
    unsigned i, n = 0;

    (void)state;
    while (n < STORE_SLAVES - 1)
        busy[n++] = slave_connect("127.0.0.1");
    while (n < STORE_SLAVES + 5) {
        busy[n++] = slave_connect("127.0.0.1");
        slave_read_to_end(busy[n - STORE_SLAVES]);
    }
    assert_int_equal(recv(store_stream_fd(s->stream), &byte, 1, MSG_DONTWAIT),
                     -1);
    slave_close(s);
    for (i = 0; i < n; i++)
        slave_close(busy[i]);
}

/* Anybody could have it. */
static void a_short_secret_is_none(void **state)
{
    unsigned n[] = {0, 1, STORE_SECRET_MIN - 1}, i;
    int ends[2];

    (void)state;
    master_has_tls = 1;
    for (i = 0; i < 2 * sizeof n / sizeof *n; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        assert_null(store_stream_make(ends[0], i % 2, config.secret, n[i / 2]));
        if (secret_is_supported())
            assert_int_equal(errno, EINVAL);
        close(ends[1]);
    }
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, master_open, master_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_plain_peer_gets_the_open_space),
        TEST(without_an_open_space_a_plain_peer_gets_nothing),
        TEST(without_a_key_no_other_peer_is_taken),
        TEST(another_peer_has_to_know_the_key),
        TEST(who_does_not_know_the_key_does_not_fill_the_log),
        TEST(who_does_not_know_the_key_does_not_fill_the_log),
        TEST(silent_peers_keep_no_slave_out),
        TEST(a_busy_peer_keeps_no_slave_out),
        TEST(a_short_secret_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
