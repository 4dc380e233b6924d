/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* A worker sends the reply to a write when the slaves have confirmed it. Whoever
 * has written nothing does not wait. */

#include "tests/unit/support/held.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/cluster/confirm.h"
#include "store/memory/changes.h"
#include "tests/unit/support/test_clock.h"

#define LIMIT 40000 /* ms */

static void a_write_waits_for_the_slave(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    say(scene.writer, "set a 0 0 1\r\ny\r\n");
    is_held(scene.writer);
    store_confirm_heard(0, store_changes_position() - 1);
    is_held(scene.writer);
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    assert_int_equal(counted(STORE_UNCONFIRMED), 0);
    end();
}

/* Behind a write of its own, it is held. What follows is not read. */
static void a_read_waits_for_a_write_of_its_own(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\nget a\r\n");
    is_held(scene.writer);
    say(scene.writer, "set b 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    assert_false(shelf_get(&scene.shelf, "b", 0, 1));
    say(scene.reader, "get a\r\n");
    HEAR(scene.reader, "VALUE a 0 1\r\nx\r\nEND\r\n");
    slave_confirms();
    HEAR(scene.writer, "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n");
    is_held(scene.writer);
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    end();
}

/* Also one that could write, and one that asks for no reply. */
static void what_changes_nothing_does_not_wait(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    say(scene.writer, "delete a\r\ntouch a 9\r\nincr a 1\r\nversion\r\n");
    HEAR(scene.writer, "NOT_FOUND\r\nNOT_FOUND\r\nNOT_FOUND\r\nVERSION ");
    end();
}

static void each_gets_its_own_reply_in_time(void **state)
{
    int other;

    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    other = come_to(&scene.served);
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    say(other, "set b 0 0 1\r\nx\r\n");
    is_held(other);
    store_confirm_heard(0, store_changes_position() - 1);
    HEAR(scene.writer, "STORED\r\n");
    is_held(other);
    slave_confirms();
    HEAR(other, "STORED\r\n");
    close(other);
    end();
}

/* Nobody else waits for them. */
static void some_leave_meanwhile(void **state)
{
    int client[3];

    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    for (int i = 0; i < 3; i++) {
        client[i] = come_to(i == 0 ? &scene.gone : &scene.served);
        say(client[i], "set a 0 0 1\r\nx\r\n");
        is_held(client[i]);
    }
    scene.gone.gone = 1; /* its space */
    store_worker_look(&scene.worker);
    is_over(client[0]);
    close(client[1]);
    is_held(client[2]);
    slave_confirms();
    HEAR(client[2], "STORED\r\n");
    say(client[2], "set a 0 0 1\r\nx\r\n");
    is_held(client[2]);
    store_worker_close(&scene.worker);
    is_over(client[2]);
    close(client[0]);
    close(client[2]);
    end();
}

/* It has left a reply unread. So the worker meets an error behind its last
 * write, in the same turn. */
static void one_that_breaks_off_holds_nothing(void **state)
{
    int client;

    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    client = come_to(&scene.served);
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    say(client, "version\r\n");
    is_held(scene.writer);
    store_worker_pause(&scene.worker, 1, 1);
    say(client, "set b 0 0 1\r\nx\r\n");
    close(client);
    store_worker_pause(&scene.worker, 1, 0);
    is_held(scene.writer);
    say(scene.reader, "get b\r\n");
    HEAR(scene.reader, "VALUE b 0 1\r\nx\r\nEND\r\n");
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    end();
}

static unsigned connections(void)
{
    return __atomic_load_n(&scene.worker.connections, __ATOMIC_RELAXED);
}

/* The slave may confirm all the time. */
static void await_connections(unsigned n, int confirms)
{
    int i;

    for (i = 0; i < LIMIT && connections() != n; i++) {
        if (confirms)
            slave_confirms();
        poll(NULL, 0, 1);
    }
    assert_int_equal(connections(), n);
}

/* A client that gives up and connects again does not count twice. */
static void one_that_has_left_is_not_kept(void **state)
{
    int client, late;

    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    client = come_to(&scene.served);
    say(client, "set a 0 0 1\r\nx\r\n");
    is_held(client);
    say(scene.writer, "set b 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    late = come_to(&scene.served);
    store_worker_pause(&scene.worker, 1, 1);
    say(late, "set c 0 0 1\r\nx\r\n");
    close(late); /* before its turn */
    store_worker_pause(&scene.worker, 1, 0);
    close(client); /* while it is held */
    await_connections(2, 0);
    is_held(scene.writer);
    say(scene.reader, "get c\r\n");
    HEAR(scene.reader, "VALUE c 0 1\r\nx\r\nEND\r\n");
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    end();
}

/* It wants no reply, and all that it has sent is done. */
static void what_one_that_has_left_has_sent_is_done(void **state)
{
    enum { WRITES = 3 * STORE_TURN_COMMANDS };
    char line[64];
    int i, client;

    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    client = come_to(&scene.served);
    store_worker_pause(&scene.worker, 1, 1);
    for (i = 0; i < WRITES; i++) {
        snprintf(line, sizeof line, "set k%d 0 0 1 noreply\r\nx\r\n", i);
        say(client, line);
    }
    close(client);
    store_worker_pause(&scene.worker, 1, 0);
    await_connections(2, 1);
    for (i = 0; i < WRITES; i++) {
        snprintf(line, sizeof line, "k%d", i);
        assert_true(shelf_delete(&scene.shelf, line));
    }
    end();
}

static void without_a_slave_it_goes_on_and_counts(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    say(scene.writer, "set a 0 0 1\r\nx\r\nset b 0 0 1\r\nx\r\n");
    HEAR(scene.writer, "STORED\r\nSTORED\r\n");
    slave_joins();
    say(scene.writer, "delete a\r\n");
    is_held(scene.writer);
    slave_leaves();
    HEAR(scene.writer, "DELETED\r\n");
    assert_int_equal(counted(STORE_UNCONFIRMED), 3);
    end();
}

/* The bell that rings each second is enough. */
static void the_end_of_a_lease_ends_the_wait(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    test_clock_later(STORE_CONFIRM_LEASE + 1000);
    store_worker_runs(&scene.worker);
    HEAR(scene.writer, "STORED\r\n");
    assert_int_equal(counted(STORE_UNCONFIRMED), 1);
    end();
}

/* Its confirmation is not awaited, and missed. */
static void one_that_is_unknown_counts(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_ON);
    master_is_new();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    HEAR(scene.writer, "STORED\r\n");
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    assert_int_equal(counted(STORE_UNCONFIRMED), 2);
    end();
}

static void without_it_nobody_waits(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_OFF);
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    HEAR(scene.writer, "STORED\r\n");
    assert_int_equal(counted(STORE_UNCONFIRMED), 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_waits_for_the_slave),
        cmocka_unit_test(a_read_waits_for_a_write_of_its_own),
        cmocka_unit_test(what_changes_nothing_does_not_wait),
        cmocka_unit_test(each_gets_its_own_reply_in_time),
        cmocka_unit_test(some_leave_meanwhile),
        cmocka_unit_test(one_that_breaks_off_holds_nothing),
        cmocka_unit_test(one_that_has_left_is_not_kept),
        cmocka_unit_test(what_one_that_has_left_has_sent_is_done),
        cmocka_unit_test(without_a_slave_it_goes_on_and_counts),
        cmocka_unit_test(the_end_of_a_lease_ends_the_wait),
        cmocka_unit_test(one_that_is_unknown_counts),
        cmocka_unit_test(without_it_nobody_waits),
    };

    alarm(300);
    test_clock_slow(1000);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
