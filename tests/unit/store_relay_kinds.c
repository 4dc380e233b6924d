/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the master of a slave is, and which clients are joined to it: a yrmcds
 * or whoever has proven nothing gets those of the open space. */

#include <string.h>
#include <unistd.h>

#include "store/cluster/stream.h"
#include "tests/unit/support/notes.h"
#include "tests/unit/support/relay_scene.h"

#define KEY   "a key of the stores that is long enough"
#define LIMIT 40000 /* ms */

static void yrmcds_gets_the_open_space_without_a_name(void **state)
{
    int client, other, master;

    (void)state;
    scene_key(KEY); /* which a yrmcds is not asked for */
    scene_is_yrmcds(1);
    client = scene_client("shop");
    other = scene_client("blog");
    scene_send(client, "get a\r\n", 7);
    /* Two have connected, in any order. The other one is closed. */
    scene_expect_end(other);
    master = scene_accept_with("get a\r\n");
    scene_send(master, "END\r\n", 5);
    scene_expect(client, "END\r\n", 5);
    notes_expect("space blog: its clients on this host are closed, "
                 "because the master is a yrmcds");
    close(master);
    close(client);
    close(other);
    scene_wait_count(0);
    scene_is_yrmcds(0);
    scene_key("");
}

/* It has no items, so the follower has heard nothing of it. */
static void yrmcds_that_says_nothing_is_asked(void **state)
{
    int client, master;

    (void)state;
    scene_is_unknown(1);
    client = scene_client("shop");
    scene_send(client, "get a\r\n", 7);
    scene_later(2500);
    master = scene_accept();
    scene_expect_name(master, "shop");
    scene_answer_name(master, 0x81);
    scene_expect_end(master);
    close(master);
    master = scene_accept_with("get a\r\n");
    scene_send(master, "END\r\n", 5);
    scene_expect(client, "END\r\n", 5);
    close(master);
    close(client);
    scene_wait_count(0);
    scene_is_unknown(0);
}

/* The answer to the first one says what the master is. */
static void yrmcds_that_is_asked_twice_closes_nobody(void **state)
{
    int client[2], master[2], i;

    (void)state;
    scene_is_unknown(1);
    client[0] = scene_client("shop");
    client[1] = scene_client("shop");
    scene_later(2500);
    for (i = 0; i < 2; i++) {
        master[i] = scene_accept();
        scene_expect_name(master[i], "shop");
    }
    for (i = 0; i < 2; i++) {
        scene_answer_name(master[i], 0x81);
        scene_expect_end(master[i]);
        close(master[i]);
    }
    for (i = 0; i < 2; i++)
        scene_send(client[i], "get a\r\n", 7);
    for (i = 0; i < 2; i++)
        master[i] = scene_accept_with("get a\r\n");
    for (i = 0; i < 2; i++) {
        close(master[i]);
        close(client[i]);
    }
    scene_wait_count(0);
    scene_is_unknown(0);
}

/* With a secret, and perhaps with a yrmcds as its master. */
static void who_may_be_anybody_hears_no_other_name(void **state)
{
    int client, master;

    (void)state;
    scene_key(KEY);
    scene_plain_peers(1);
    scene_is_unknown(1);
    client = scene_client("blog");
    scene_send(client, "get a\r\n", 7);
    scene_later(2500);
    master = scene_accept();
    scene_expect_name(master, "shop");
    scene_answer_name(master, 0x81);
    scene_expect_end(master);
    scene_expect_end(client);
    close(master);
    close(client);
    scene_wait_count(0);
    scene_plain_peers(0);
    scene_is_unknown(0);
    scene_key("");
}

/* It connects nowhere, so nobody hears its name. */
static void without_a_key_another_space_is_not_relayed(void **state)
{
    int client, other, master;

    (void)state;
    client = scene_client("blog");
    scene_expect_end(client);
    notes_expect("space blog: its clients on this host are closed, because "
                 "without AppStoreKey only the space of AppStoreOpenSpace");
    other = scene_client("shop");
    scene_send(other, "get b\r\n", 7);
    master = scene_accept_named("shop"); /* the first connection */
    scene_expect(master, "get b\r\n", 7);
    close(master);
    close(client);
    close(other);
    scene_wait_count(0);
}

#ifdef APPPOOL_OPENSSL

/* What the master is changes while the handshake goes on. A store that knows
 * the key would take the client's first packet for that of the relay. */
static void who_speaks_tls_is_told_the_name(void **state)
{
    const char answer[24] = {(char)0x81, (char)STORE_RELAY_SPACE};
    char name[SCENE_NAME], forged[SCENE_NAME], got[SCENE_NAME];
    size_t n = scene_put_name(name, "shop");
    store_stream_t *master;
    int client, other, fd;

    (void)state;
    scene_key(KEY);
    client = scene_client("shop");
    scene_send(client, forged, scene_put_name(forged, "blog"));
    fd = scene_accept();
    assert_int_equal(recv(fd, got, 1, MSG_PEEK), 1); /* it begins */
    scene_is_yrmcds(1);
    other = scene_client("blog");
    scene_expect_end(other); /* so the relay knows that */
    master =
        store_stream_make(fd, 1, (const unsigned char *)KEY, sizeof KEY - 1);
    assert_non_null(master);
    assert_int_equal(store_stream_read_all(master, got, n, LIMIT), 0);
    assert_memory_equal(got, name, n);
    assert_int_equal(
        store_stream_write_all(master, answer, sizeof answer, LIMIT), 0);
    assert_int_equal(store_stream_read_all(master, got, n, LIMIT), 0);
    assert_memory_equal(got, forged, n);
    close(client);
    store_stream_close(master);
    close(other);
    scene_wait_count(0);
    scene_is_yrmcds(0);
    scene_key("");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yrmcds_gets_the_open_space_without_a_name),
        cmocka_unit_test(yrmcds_that_says_nothing_is_asked),
        cmocka_unit_test(yrmcds_that_is_asked_twice_closes_nobody),
        cmocka_unit_test(who_may_be_anybody_hears_no_other_name),
        cmocka_unit_test(without_a_key_another_space_is_not_relayed),
#ifdef APPPOOL_OPENSSL
        cmocka_unit_test(who_speaks_tls_is_told_the_name),
#endif
    };

    return cmocka_run_group_tests(tests, scene_begin, scene_end);
}
