/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A relayed client or the master may end at any moment. Without a master the
 * clients wait, and a promotion serves those that have sent nothing. */

#include <unistd.h>

#include "tests/unit/support/notes.h"
#include "tests/unit/support/relay_scene.h"

/* ---- the end of a client ---- */

static void client_may_leave_at_any_moment(void **state)
{
    int client, master, moment;

    (void)state;
    for (moment = 0; moment < 4; moment++) {
        client = scene_client("shop");
        master = scene_accept();
        if (moment == 0)
            close(client);
        if (moment >= 1)
            scene_expect_name(master, "shop");
        if (moment == 1)
            close(client);
        if (moment >= 2)
            scene_answer_name(master, 0);
        if (moment == 2)
            close(client);
        if (moment == 3) {
            scene_send(client, "version\r\n", 9);
            close(client);
            scene_expect(master, "version\r\n", 9);
        }
        scene_expect_end_or_name(master);
        close(master);
        scene_wait_count(0);
    }
}

/* It sends a command that has no reply, and has gone before there is a master.
 */
static void last_command_of_a_client_arrives(void **state)
{
    int client, master;

    (void)state;
    scene_master_leaves();
    client = scene_client("shop");
    scene_send(client, "set a 0 0 1 noreply\r\n1\r\n", 24);
    close(client);
    scene_master_returns();
    master = scene_accept_named("shop");
    scene_expect(master, "set a 0 0 1 noreply\r\n1\r\n", 24);
    scene_expect_end(master);
    close(master);
    scene_wait_count(0);
}

/* It gives up while the master holds the reply (AppStoreConfirm), and counts no
 * longer, here and there: the master is told by a reset, behind all commands. */
static void client_that_gives_up_is_forgotten(void **state)
{
    int client = scene_client("shop"), master = scene_accept_named("shop");
    char byte;

    (void)state;
    scene_send(client, "set a 0 0 1\r\n1\r\n", 16);
    close(client);
    scene_expect(master, "set a 0 0 1\r\n1\r\n", 16);
    scene_expect_end(master);
    scene_later(2000);
    scene_wait_count(0);
    assert_int_equal(send(master, "STORED\r\n", 8, MSG_NOSIGNAL), -1);
    assert_int_equal(recv(master, &byte, 1, 0), 0);
    close(master);
}

/* ---- the end of a master ---- */

/* The client has sent nothing, so it cannot know. It joins the next master. */
static void idle_client_joins_the_next_master(void **state)
{
    int client = scene_client("shop"), master, moment;

    (void)state;
    for (moment = 0; moment < 4; moment++) {
        master = scene_accept();
        if (moment >= 1)
            scene_expect_name(master, "shop");
        if (moment == 2)
            scene_send(master, "\x81\xe1", 2);
        if (moment == 3)
            scene_answer_name(master, 0);
        close(master);
    }
    master = scene_accept_named("shop");
    scene_send(client, "hello", 5);
    scene_expect(master, "hello", 5);
    close(master);
    scene_expect_end(client);
    close(client);
    scene_wait_count(0);
}

static void client_with_commands_sees_the_end(void **state)
{
    int client = scene_client("shop"), master = scene_accept_named("shop");

    (void)state;
    scene_send(client, "get a\r\n", 7);
    scene_expect(master, "get a\r\n", 7);
    scene_send(master, "VALUE a 0", 9);
    close(master);
    scene_expect(client, "VALUE a 0", 9);
    scene_expect_end(client);
    close(client);
    scene_wait_count(0);
}

/* ---- no master ---- */

static void client_is_held_until_a_master_comes(void **state)
{
    int client, master;

    (void)state;
    scene_master_leaves();
    client = scene_client("shop");
    scene_send(client, "get a\r\n", 7);
    scene_wait_count(1);
    scene_master_returns();
    master = scene_accept_named("shop");
    scene_expect(master, "get a\r\n", 7);
    close(master);
    close(client);
    scene_wait_count(0);
}

static void client_is_closed_without_a_master(void **state)
{
    int64_t began = scene_ms();
    int client;

    (void)state;
    scene_master_leaves();
    client = scene_client("shop");
    scene_send(client, "get a\r\n", 7);
    scene_later_until_end(client);
    assert_true(scene_ms() - began >= 5000);
    close(client);
    scene_wait_count(0);
    notes_expect("no master was reached for 5 s");
    scene_master_returns();
}

/* ---- promotion ---- */

static void promotion_serves_those_that_sent_nothing(void **state)
{
    int held, idle, used, master, of_used, local;

    (void)state;
    idle = scene_client("shop");
    master = scene_accept_named("shop");
    used = scene_client("shop");
    of_used = scene_accept_named("shop");
    scene_send(used, "get a\r\n", 7);
    scene_expect(of_used, "get a\r\n", 7);
    scene_master_leaves();
    held = scene_client("shop");
    scene_send(held, "get b\r\n", 7);
    scene_wait_count(3);

    store_relay_end();
    assert_int_equal(store_relay_count(), 0);
    assert_int_equal(scene_served(), 2);
    scene_expect_end(used);
    scene_send(idle, "get c\r\n", 7);
    local = scene_served_with("get b\r\n", "get c\r\n");
    assert_int_equal(local, 2);
    scene_expect_end(master);
    close(master);
    close(of_used);
    close(held);
    close(idle);
    close(used);
    scene_master_returns();
    scene_relay_again();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_may_leave_at_any_moment),
        cmocka_unit_test(last_command_of_a_client_arrives),
        cmocka_unit_test(client_that_gives_up_is_forgotten),
        cmocka_unit_test(idle_client_joins_the_next_master),
        cmocka_unit_test(client_with_commands_sees_the_end),
        cmocka_unit_test(client_is_held_until_a_master_comes),
        cmocka_unit_test(client_is_closed_without_a_master),
        cmocka_unit_test(promotion_serves_those_that_sent_nothing),
    };

    return cmocka_run_group_tests(tests, scene_begin, scene_end);
}
