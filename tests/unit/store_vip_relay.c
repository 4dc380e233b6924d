/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Clients and relays at the virtual address, until a worker has them. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock_ms.h"
#include "store/server/waiting_clients.h"
#include "store/server/main_loop.h"
#include "store/server/vip_clients.h"
#include "tests/unit/support/test_clock.h"
#include "tests/unit/support/vip_scene.h"

static const unsigned char other[STORE_SECRET_MIN] = "another secret";

/* ---- relays with TLS ---- */

static void bytes_go_both_ways(void **state)
{
    store_stream_t *s = vip_join();
    char got[8];

    (void)state;
    vip_say(s, "get a\r\n", 7);
    assert_int_equal(vip_hear(vip_served[0], got, 7), 7);
    assert_memory_equal(got, "get a\r\n", 7);
    vip_say(vip_served[0], "END\r\n", 5);
    assert_int_equal(vip_hear(s, got, 5), 5);
    assert_memory_equal(got, "END\r\n", 5);
    store_stream_close(s);
    assert_int_equal(vip_hear(vip_served[0], got, 1), 0);
}

/* What comes with the packet is for the worker. No event tells of it: TLS has
 * read it already. */
static void a_command_may_come_with_the_packet(void **state)
{
    store_stream_t *s = vip_call(vip_secret);
    unsigned char packet[80];
    size_t n = vip_packet("shop", packet);
    char got[8];

    (void)state;
    memcpy(packet + n, "get a\r\n", 7);
    assert_int_equal(vip_shake_hands(s), 0);
    vip_say(s, packet, n + 7);
    vip_wait_served(1);
    assert_int_equal(store_stream_pending(vip_served[0]), 1);
    assert_int_equal(vip_hear(vip_served[0], got, 7), 7);
    assert_memory_equal(got, "get a\r\n", 7);
    store_stream_close(s);
}

static void a_packet_may_come_byte_by_byte(void **state)
{
    store_stream_t *s = vip_call(vip_secret);
    unsigned char packet[64], reply[24];
    size_t i, n = vip_packet("shop", packet);

    (void)state;
    assert_int_equal(vip_shake_hands(s), 0);
    for (i = 0; i < n; i++) {
        vip_say(s, packet + i, 1);
        store_loop_turn(5);
    }
    assert_int_equal(vip_hear(s, reply, 24), 24);
    vip_wait_served(1);
    store_stream_close(s);
}

static void an_unknown_space_is_refused(void **state)
{
    store_stream_t *s = vip_call(vip_secret);
    unsigned char packet[64], reply[25];
    size_t n = vip_packet("blog", packet);

    (void)state;
    assert_int_equal(vip_shake_hands(s), 0);
    vip_say(s, packet, n);
    assert_int_equal(vip_hear(s, reply, 25), 24);
    assert_int_equal(reply[7], 1);
    assert_int_equal(vip_n_served, 0);
    store_stream_close(s);
}

static void what_names_no_space_is_closed(void **state)
{
    unsigned char packet[64], wrong[][2] = {{0, 0x81}, {1, 0}, {2, 1}, {3, 0},
                                            {4, 1},    {8, 1}, {11, 9}};
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        store_stream_t *s = vip_call(vip_secret);

        n = vip_packet("shop", packet);
        packet[wrong[i][0]] = wrong[i][1];
        assert_int_equal(vip_shake_hands(s), 0);
        vip_say(s, packet, n);
        assert_int_equal(vip_hear(s, packet, 1), 0);
        store_stream_close(s);
    }
    assert_int_equal(vip_n_served, 0);
}

static void another_secret_is_refused(void **state)
{
    store_stream_t *s = vip_call(other);
    unsigned char packet[64];

    (void)state;
    if (vip_shake_hands(s) == 0)
        assert_int_equal(vip_hear(s, packet, 1), 0);
    assert_int_equal(vip_n_served, 0);
    store_stream_close(s);
}

static void without_tls_a_secret_refuses_relays(void **state)
{
    int fd = vip_connect("127.0.0.1");
    unsigned char packet[64];
    size_t n = vip_packet("shop", packet);

    (void)state;
    assert_int_equal(send(fd, packet, n, 0), n);
    assert_int_equal(vip_read_to_end(fd), 0);
    assert_int_equal(vip_n_served, 0);
    close(fd);
}

/* ---- others ---- */

static void without_a_secret_a_packet_names_the_open_space(void **state)
{
    int fd = vip_connect("127.0.0.1");
    unsigned char packet[64];
    size_t n = vip_packet("shop", packet);
    char got[24];

    (void)state;
    vip_config.n_secret = 0;
    memcpy(vip_config.open_space, "shop", 5);
    assert_int_equal(send(fd, packet, n, 0), n);
    assert_int_equal(send(fd, "get a\r\n", 7, 0), 7);
    vip_wait_served(1);
    assert_ptr_equal(vip_served_space, &vip_shop);
    assert_int_equal(recv(fd, got, 24, MSG_WAITALL), 24);
    assert_int_equal(vip_hear(vip_served[0], got, 7), 7);
    assert_memory_equal(got, "get a\r\n", 7);
    close(fd);
}

/* Each user of the peer's host can send it. */
static void without_a_secret_no_packet_names_another_space(void **state)
{
    static const char *const open[] = {"open", "", "sho", "shop2"};
    unsigned char packet[64], reply[24];
    size_t n = vip_packet("shop", packet);
    unsigned i;

    (void)state;
    vip_config.n_secret = 0;
    for (i = 0; i < sizeof open / sizeof *open; i++) {
        store_stream_t *s =
            store_stream_make(vip_connect("127.0.0.1"), 0, NULL, 0);

        snprintf(vip_config.open_space, STORE_NAME, "%s", open[i]);
        vip_say(s, packet, n);
        vip_say(s, "get a\r\n", 7);
        assert_int_equal(vip_hear(s, reply, 24), 24);
        assert_int_equal(reply[7], 1);
        assert_int_equal(vip_hear(s, reply, 1), 0);
        store_stream_close(s);
    }
    assert_int_equal(vip_n_served, 0);
}

/* Whoever it is: what it has sent is for the worker. */
static void clients_get_the_open_space(void **state)
{
    static const char *const from[] = {"127.0.0.1", "127.0.0.2"};
    char got[8];
    int i;

    (void)state;
    memcpy(vip_config.open_space, "open", 5);
    for (i = 0; i < 2; i++) {
        int fd = vip_connect(from[i]);

        assert_int_equal(send(fd, "get a\r\n", 7, 0), 7);
        vip_wait_served(i + 1);
        assert_ptr_equal(vip_served_space, &vip_open);
        assert_int_equal(vip_hear(vip_served[i], got, 7), 7);
        assert_memory_equal(got, "get a\r\n", 7);
        close(fd);
    }
}

static void without_an_open_space_they_log_in(void **state)
{
    int fd = vip_connect("127.0.0.2");
    int64_t until = clock_ms() + VIP_PATIENCE;

    (void)state;
    while (vip_n_locked == 0)
        vip_turn(until);
    close(fd);
    fd = vip_connect("127.0.0.2");
    vip_config.n_secret = 0;
    vip_read_to_end(fd);
    assert_int_equal(vip_n_locked, 1);
    close(fd);
}

static void a_slave_serves_nobody(void **state)
{
    int fd = vip_connect("127.0.0.2");

    (void)state;
    vip_role = STORE_SLAVE;
    memcpy(vip_config.open_space, "open", 5);
    vip_read_to_end(fd);
    assert_int_equal(vip_n_served, 0);
    close(fd);
}

/* Turn until the main thread has it. */
static void wait_accepted(int n)
{
    int64_t until = clock_ms() + VIP_PATIENCE;

    while (vip_tries < n)
        vip_turn(until);
}

/* Three peers: one says nothing, one begins with TLS, one with a packet. */
static void the_time_of_a_peer_ends(void **state)
{
    int silent = vip_connect("127.0.0.1"), tls, packet;

    (void)state;
    wait_accepted(1);
    tls = vip_connect("127.0.0.1");
    assert_int_equal(send(tls, "\x16\x03", 2, 0), 2);
    packet = vip_connect("127.0.0.1");
    assert_int_equal(send(packet, "\x80\xe1", 2, 0), 2);
    wait_accepted(3);
    store_loop_turn(5);
    store_vip_clients_tick(clock_ms());
    assert_int_equal(vip_n_locked, 0);
    store_vip_clients_tick(clock_ms() + STORE_WAITING_TIME);
    assert_int_equal(vip_n_locked, 1);
    vip_read_to_end(tls);
    vip_read_to_end(packet);
    close(silent);
    close(tls);
    close(packet);
}

/* Each begins like this, and then says no more. The last peer is a relay. */
static void fill(int *silent, const char *begin, size_t n)
{
    struct rlimit files;
    int i;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 3 * STORE_WAITING_MAX)
        skip();
    for (i = 0; i < STORE_WAITING_MAX; i++) {
        silent[i] = vip_connect("127.0.0.1");
        assert_int_equal(send(silent[i], begin, n, 0), n);
        store_loop_turn(1);
        store_loop_turn(1);
    }
    store_stream_close(vip_join());
}

static void silent_peers_keep_no_relay_out(void **state)
{
    int silent[STORE_WAITING_MAX], i;

    (void)state;
    fill(silent, "", 0);
    assert_int_equal(vip_n_locked, 1);
    vip_read_to_end(silent[0]);
    for (i = 0; i < STORE_WAITING_MAX; i++)
        close(silent[i]);
}

static void silent_handshakes_keep_no_relay_out(void **state)
{
    int silent[STORE_WAITING_MAX], i;

    (void)state;
    fill(silent, "\x16\x03", 2);
    assert_int_equal(vip_n_locked, 0);
    vip_read_to_end(silent[0]);
    for (i = 0; i < STORE_WAITING_MAX; i++)
        close(silent[i]);
}

static void without_descriptors_the_listener_rests(void **state)
{
    int fd = vip_connect("127.0.0.2"), turns;
    int64_t began = clock_ms(), until = began + VIP_PATIENCE;

    (void)state;
    vip_shortage = ENOMEM;
    for (turns = 0; turns < 100; turns++)
        store_loop_turn(1);
    assert_true(vip_tries >= 1);
    assert_true(vip_tries <= 2 + (clock_ms() - began) / 100);
    vip_shortage = 0;
    while (vip_n_locked == 0)
        vip_turn(until);
    close(fd);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, vip_setup, vip_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_go_both_ways),
        TEST(a_command_may_come_with_the_packet),
        TEST(a_packet_may_come_byte_by_byte),
        TEST(an_unknown_space_is_refused),
        TEST(what_names_no_space_is_closed),
        TEST(another_secret_is_refused),
        TEST(without_tls_a_secret_refuses_relays),
        TEST(without_a_secret_a_packet_names_the_open_space),
        TEST(without_a_secret_no_packet_names_another_space),
        TEST(clients_get_the_open_space),
        TEST(without_an_open_space_they_log_in),
        TEST(a_slave_serves_nobody),
        TEST(the_time_of_a_peer_ends),
        TEST(silent_peers_keep_no_relay_out),
        TEST(silent_handshakes_keep_no_relay_out),
        TEST(without_descriptors_the_listener_rests),
    };

    test_clock_slow(10); /* a peer has 10 s, and a test may be stopped */
    alarm(300);
    signal(SIGPIPE, SIG_IGN);
    if (store_loop_begin() != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
