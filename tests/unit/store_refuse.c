/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* With AppStoreConfirm On Refuse, a write that no slave confirms is an error. */

#include "tests/unit/support/held.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "store/cluster/confirm.h"
#include "base/store_figures.h"
#include "tests/unit/support/test_clock.h"

#define TEXT "SERVER_ERROR not confirmed by a slave\r\n"

static void without_a_slave_it_refuses(void **state)
{
    static const char *const writes[] = {"set a 0 0 1\r\ny\r\n",
                                         "add b 0 0 1\r\ny\r\n",
                                         "append a 0 0 1\r\ny\r\n",
                                         "cas a 0 0 1 1\r\ny\r\n",
                                         "delete a\r\n",
                                         "touch a 9\r\n",
                                         "incr a 1\r\n",
                                         "flush_all\r\n",
                                         "gat 9 a\r\n",
                                         "gats 9 a b\r\n",
                                         "ms a 1\r\ny\r\n",
                                         "ms a 1 q\r\ny\r\n",
                                         "md a q\r\n",
                                         "ma a\r\n",
                                         "mg a T9\r\n",
                                         "mg b N9\r\n"};
    static const char quiet[] =
        "set a 0 0 1 noreply\r\ny\r\ndelete a noreply\r\nmg a v\r\n"
        "lock a\r\nunlock a\r\n";

    (void)state;
    begin_mode(STORE_CONFIRM_REFUSE);
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    slave_leaves();
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        say(scene.writer, writes[i]);
        HEAR(scene.writer, TEXT);
    }
    assert_int_equal(counted(STORE_NOT_CONFIRMED),
                     sizeof writes / sizeof *writes);
    say(scene.writer, quiet);
    HEAR(scene.writer, "VA 1\r\nx\r\nOK\r\nOK\r\n");
    say(scene.writer, "get a b\r\n");
    HEAR(scene.writer, "VALUE a 0 1\r\nx\r\nEND\r\n");
    end();
}

/* The write is there, and nobody has confirmed it. */
static void a_wait_that_nobody_ends_is_an_error(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_REFUSE);
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    slave_leaves();
    HEAR(scene.writer, TEXT);
    assert_int_equal(counted(STORE_NOT_CONFIRMED), 1);
    say(scene.writer, "ms a 1 q\r\nz\r\nmn\r\n");
    HEAR(scene.writer, TEXT "MN\r\n");
    slave_joins();
    say(scene.writer, "ms a 1 q\r\nz\r\n");
    is_held(scene.writer);
    slave_leaves();
    HEAR(scene.writer, TEXT);
    say(scene.writer, "get a\r\n");
    HEAR(scene.writer, "VALUE a 0 1\r\nz\r\nEND\r\n");
    end();
}

/* It waits for one that may have a lease of the last master. */
static void one_that_is_unknown_is_awaited(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_REFUSE);
    master_is_new();
    slave_joins();
    say(scene.writer, "set a 0 0 1\r\nx\r\n");
    is_held(scene.writer);
    slave_confirms();
    is_held(scene.writer);
    test_clock_later(STORE_CONFIRM_LEASE + 1000);
    slave_joins();
    slave_confirms();
    HEAR(scene.writer, "STORED\r\n");
    assert_int_equal(counted(STORE_NOT_CONFIRMED), 0);
    end();
}

/* Which of them was not confirmed is not known. */
static void several_at_once_end_with_the_error(void **state)
{
    (void)state;
    begin_mode(STORE_CONFIRM_REFUSE);
    slave_joins();
    say(scene.writer, "get a\r\nset a 0 0 1\r\nx\r\nget a\r\n");
    is_held(scene.writer);
    slave_leaves();
    HEAR(scene.writer, TEXT);
    is_over(scene.writer);
    assert_int_equal(counted(STORE_NOT_CONFIRMED), 1);
    end();
}

/* ---- the binary protocol ---- */

static void request(uint8_t opcode, const char *extras, uint8_t n)
{
    char packet[64] = {(char)0x80};

    packet[1] = (char)opcode;
    packet[3] = 1;
    packet[4] = (char)n;
    packet[11] = (char)(n + 1);
    memcpy(packet + 12, "opaq", 4);
    memcpy(packet + 24, extras, n);
    packet[24 + n] = 'a';
    assert_int_equal(send(scene.writer, packet, 25u + n, 0), 25 + n);
}

static void response(uint8_t opcode, uint8_t status, const char *body)
{
    char packet[64] = {(char)0x81};
    size_t n = strlen(body);

    packet[1] = (char)opcode;
    packet[7] = (char)status;
    packet[11] = (char)n;
    memcpy(packet + 12, "opaq", 4);
    memcpy(packet + 24, body, n);
    hear(scene.writer, packet, 24 + n);
}

#define WORDS "not confirmed by a slave"

static void binary_requests(void **state)
{
    static const char none[20];

    (void)state;
    begin_mode(STORE_CONFIRM_REFUSE);
    request(0x01, none, 8); /* set */
    response(0x01, 0x86, WORDS);
    request(0x04, none, 0); /* delete */
    response(0x04, 0x86, WORDS);
    request(0x05, none, 20); /* increment */
    response(0x05, 0x86, WORDS);
    request(0x1c, none, 4); /* touch */
    response(0x1c, 0x86, WORDS);
    request(0x1d, none, 4); /* get and touch */
    response(0x1d, 0x86, WORDS);
    request(0x00, none, 0); /* get */
    response(0x00, 1, "Not found");
    slave_joins();
    request(0x01, none, 8);
    is_held(scene.writer);
    slave_leaves();
    response(0x01, 0x86, WORDS);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_slave_it_refuses),
        cmocka_unit_test(a_wait_that_nobody_ends_is_an_error),
        cmocka_unit_test(one_that_is_unknown_is_awaited),
        cmocka_unit_test(several_at_once_end_with_the_error),
        cmocka_unit_test(binary_requests),
    };

    test_clock_slow(1000);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
