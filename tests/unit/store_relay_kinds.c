/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What the master of a slave is, and which clients are joined to it: a yrmcds
 * or whoever has proven nothing gets those of the open space. */

#include <string.h>
#include <unistd.h>

#include "tests/unit/support/notes.h"
#include "tests/unit/support/relay_scene.h"

#define KEY "a key of the stores that is long enough"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yrmcds_gets_the_open_space_without_a_name),
        cmocka_unit_test(yrmcds_that_says_nothing_is_asked),
        cmocka_unit_test(who_may_be_anybody_hears_no_other_name),
        cmocka_unit_test(without_a_key_another_space_is_not_relayed),
    };

    return cmocka_run_group_tests(tests, scene_begin, scene_end);
}
