/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Local clients of a slave are joined to the master: each byte arrives, in both
 * directions. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/support/notes.h"
#include "tests/unit/support/relay_scene.h"

#define KEY "a key of the stores that is long enough"

/* ---- bytes ---- */

static void joins_a_client_to_the_master(void **state)
{
    int client = scene_client("shop"), master;

    (void)state;
    scene_send(client, "get a\r\n", 7);
    master = scene_accept_named("shop");
    scene_expect(master, "get a\r\n", 7);
    scene_send(master, "END\r\n", 5);
    scene_expect(client, "END\r\n", 5);
    close(client);
    scene_expect_end(master);
    close(master);
    scene_wait_count(0);
}

/* A command that is sent with the name of the space, and a reply that comes
 * with the master's answer to it, are not mixed up. */
static void passes_what_follows_the_name(void **state)
{
    char reply[24 + 5] = {(char)0x81, (char)STORE_RELAY_SPACE};
    int client = scene_client("shop"), master = scene_accept();

    (void)state;
    scene_expect_name(master, "shop");
    memcpy(reply + 24, "early", 5);
    scene_send(master, reply, sizeof reply);
    scene_expect(client, "early", 5);
    close(master);
    close(client);
    scene_wait_count(0);
}

static void half_closed_client_reads_the_replies(void **state)
{
    int client = scene_client("shop"), master = scene_accept_named("shop");

    (void)state;
    scene_send(client, "get a\r\n", 7);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    scene_expect(master, "get a\r\n", 7);
    scene_expect_end(master);
    scene_send(master, "END\r\n", 5);
    close(master);
    scene_expect(client, "END\r\n", 5);
    scene_expect_end(client);
    close(client);
    scene_wait_count(0);
}

/* The kernel's buffers and the relay's are full, and no other client waits. */
static void slow_client_holds_only_the_buffers(void **state)
{
    int slow = scene_client("shop"), master = scene_accept_named("shop");
    int quick, other;
    size_t filled;

    (void)state;
    scene_send(slow, "x", 1);
    scene_expect(master, "x", 1);
    filled = scene_fill(master);
    quick = scene_client("shop");
    other = scene_accept_named("shop");
    scene_send(other, "hello", 5);
    scene_expect(quick, "hello", 5);
    assert_true(filled < (size_t)64 << 20);
    scene_drain(slow, filled);
    close(slow);
    close(quick);
    scene_expect_end(other);
    close(master);
    close(other);
    scene_wait_count(0);
}

/* Also the other way: the master does not read. */
static void slow_master_stops_the_client(void **state)
{
    int client = scene_client("shop"), master = scene_accept_named("shop");
    size_t filled = scene_fill(client);

    (void)state;
    close(client); /* the master gets all of it nevertheless */
    scene_drain(master, filled);
    scene_expect_end(master);
    close(master);
    scene_wait_count(0);
}

/* ---- which clients ---- */

static void refusal_of_the_master_closes_the_client(void **state)
{
    int client = scene_client("shop"), master = scene_accept();

    (void)state;
    scene_expect_name(master, "shop");
    scene_answer_name(master, 1);
    scene_expect_end(client);
    notes_expect("space shop: its clients on this host are closed, "
                 "because the master does not serve this space");
    close(master);
    close(client);
    scene_wait_count(0);
}

/* One is joined to the master, and one waits for its answer. */
static void who_may_not_stay_is_closed(void **state)
{
    int joined = scene_client("shop"), waits, master, other;

    (void)state;
    master = scene_accept_named("shop");
    scene_send(joined, "x", 1);
    scene_expect(master, "x", 1);
    waits = scene_client("shop");
    other = scene_accept();
    scene_expect_name(other, "shop");
    store_relay_look();
    scene_send(joined, "y", 1);
    scene_expect(master, "y", 1);
    scene_is_lost(1);
    store_relay_look();
    scene_expect_end(joined);
    scene_expect_end(waits);
    scene_wait_count(0);
    close(master);
    close(other);
    close(joined);
    close(waits);
    scene_is_lost(0);
}

static void limit_of_the_space_holds(void **state)
{
    static const char refusal[] = "SERVER_ERROR too many open connections\r\n";
    int one, two;

    (void)state;
    scene_limit("shop", 1);
    one = scene_client("shop");
    two = scene_client("shop");
    scene_expect(two, refusal, sizeof refusal - 1);
    scene_expect_end(two);
    scene_wait_count(1);
    close(one);
    close(two);
    scene_wait_count(0);
    scene_limit("shop", 2000);
}

#define MANY 1000

/* The kernel accepts them in any order: the number of a client shows which. */
static void exchange_numbers(const int *client, int *master)
{
    char number[8];
    int i, fd;

    for (i = 0; i < MANY; i++) {
        snprintf(number, sizeof number, "%07d", i);
        scene_send(client[i], number, 7);
    }
    for (i = 0; i < MANY; i++) {
        fd = scene_accept_named("shop");
        scene_read(fd, number, 7);
        scene_send(fd, number, 7);
        master[atoi(number)] = fd;
    }
    for (i = 0; i < MANY; i++) {
        snprintf(number, sizeof number, "%07d", i);
        scene_expect(client[i], number, 7);
    }
}

static void relays_a_thousand_clients(void **state)
{
    static int client[MANY], master[MANY];
    int i;

    (void)state;
    for (i = 0; i < MANY; i++)
        client[i] = scene_client("shop");
    exchange_numbers(client, master);
    assert_int_equal(store_relay_count(), MANY);
    for (i = 0; i < MANY; i++)
        close(i % 2 ? client[i] : master[i]);
    for (i = 0; i < MANY; i++)
        scene_expect_end(i % 2 ? master[i] : client[i]);
    for (i = 0; i < MANY; i++)
        close(i % 2 ? master[i] : client[i]);
    scene_wait_count(0);
}

#ifdef APPPOOL_OPENSSL

/* ---- with a key ---- */

static void bytes_pass_through_tls(void **state)
{
    int client;

    (void)state;
    scene_key(KEY);
    client = scene_client("shop");
    scene_echo_begin(KEY, "shop");
    scene_exchange(client, 8 << 20);
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    scene_expect_end(client);
    scene_echo_end();
    close(client);
    scene_wait_count(0);
    scene_key("");
}

static void master_with_another_key_is_no_master(void **state)
{
    int client;

    (void)state;
    scene_key(KEY);
    client = scene_client("shop");
    scene_echo_begin("another key of stores that is long enough", "shop");
    notes_wait("the master has another key");
    scene_later_until_end(client);
    scene_echo_end();
    close(client);
    scene_wait_count(0);
    scene_key("");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_a_client_to_the_master),
        cmocka_unit_test(passes_what_follows_the_name),
        cmocka_unit_test(half_closed_client_reads_the_replies),
        cmocka_unit_test(slow_client_holds_only_the_buffers),
        cmocka_unit_test(slow_master_stops_the_client),
        cmocka_unit_test(refusal_of_the_master_closes_the_client),
        cmocka_unit_test(who_may_not_stay_is_closed),
        cmocka_unit_test(limit_of_the_space_holds),
        cmocka_unit_test(relays_a_thousand_clients),
#ifdef APPPOOL_OPENSSL
        cmocka_unit_test(bytes_pass_through_tls),
        cmocka_unit_test(master_with_another_key_is_no_master),
#endif
    };

    return cmocka_run_group_tests(tests, scene_begin, scene_end);
}
