/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Nothing is served before a login, in any pieces of its bytes. */

#include "tests/unit/support/wire.h"

#include <stdlib.h>
#include <string.h>

#define USER     "a shop"
#define PASSWORD "secret"
#define AUTH(n, text)                                                          \
    "\x80\x21\0\5\0\0\0\0\0\0\0" n "\0\0\0\0\0\0\0\0\0\0\0\0PLAIN" text
#define GOOD AUTH("\x13", "\0" USER "\0" PASSWORD)
#define WRONG                                                                  \
    AUTH("\x13", "\0" USER "\0"                                                \
                 "secreT")
#define REPLY(opcode, status, n)                                               \
    "\x81" opcode "\0\0\0\0\0" status "\0\0\0" n "\0\0\0\0\0\0\0\0\0\0\0\0"
#define REFUSED(opcode) REPLY(opcode, "\x20", "\x0d") "Auth failure."
#define BYTES(text)     text, sizeof text - 1

static int logins;

static int log_in(void *ctx, const char *user, size_t n_user,
                  const char *password, size_t n)
{
    (void)ctx;
    if (n_user != strlen(USER) || memcmp(user, USER, n_user) != 0 ||
        n != strlen(PASSWORD) || memcmp(password, PASSWORD, n) != 0)
        return 0;
    logins++;
    return 1;
}

static const store_login_t login = {log_in};

static void open_guarded(wire_t *wire, int is_locked)
{
    wire_open(wire, 16);
    store_dialogue_guard(wire->dialogue, &login, wire, is_locked);
    logins = 0;
}

/* These bytes, whole and in each two pieces and byte by byte. */
static void expect(int is_locked, const char *bytes, size_t n,
                   const char *replies, size_t n_replies)
{
    wire_t wire;

    for (size_t at = 0; at <= n; at++) {
        open_guarded(&wire, is_locked);
        if (at > 0)
            wire_say(&wire, bytes, at, 64);
        if (at < n)
            wire_say(&wire, bytes + at, n - at, 64);
        assert_int_equal(wire.n_replies, n_replies);
        assert_memory_equal(wire.replies, replies, n_replies);
        wire_close(&wire);
    }
    open_guarded(&wire, is_locked);
    for (size_t at = 0; at < n; at++)
        wire_say(&wire, bytes + at, 1, 64);
    assert_int_equal(wire.n_replies, n_replies);
    assert_memory_equal(wire.replies, replies, n_replies);
    wire_close(&wire);
}

static void text_login(void **state)
{
    (void)state;
    expect(1,
           BYTES("set any 0 0 13\r\n" USER " " PASSWORD "\r\n"
                 "set k 0 0 1\r\nv\r\nget k\r\nget any\r\n"),
           BYTES("STORED\r\nSTORED\r\nVALUE k 0 1\r\nv\r\nEND\r\nEND\r\n"));
    assert_int_equal(logins, 1);
}

static void text_refused(void **state)
{
    (void)state;
    expect(1, BYTES("get k\r\n"), BYTES("CLIENT_ERROR unauthenticated\r\n"));
    expect(1, BYTES("flush_all\r\nmg k v\r\n\r\nadd k 0 0 1\r\n"),
           BYTES("CLIENT_ERROR unauthenticated\r\n"
                 "CLIENT_ERROR unauthenticated\r\n"
                 "CLIENT_ERROR unauthenticated\r\n"
                 "CLIENT_ERROR unauthenticated\r\n"));
    expect(1, BYTES("set k 0 0 x\r\n"),
           BYTES("CLIENT_ERROR unauthenticated\r\n"));
    expect(1, BYTES("set k 0 0 2049\r\n"),
           BYTES("CLIENT_ERROR unauthenticated\r\n"));
    expect(1, BYTES("set k 0 0 13\r\n" USER " secreT\r\nget k\r\n"),
           BYTES("CLIENT_ERROR authentication failure\r\n"
                 "CLIENT_ERROR unauthenticated\r\n"));
    expect(1, BYTES("set k 0 0 8\r\npassword\r\n"),
           BYTES("CLIENT_ERROR authentication failure\r\n"));
    expect(1, BYTES("set k 0 0 13\r\n" USER " " PASSWORD "xx"),
           BYTES("CLIENT_ERROR bad command line termination\r\n"));
    assert_int_equal(logins, 0);
}

static void sasl_login(void **state)
{
    (void)state;
    expect(
        1,
        BYTES("\x80\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" GOOD
              "\x80\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        BYTES(REPLY("\x20", "\0", "\x05") "PLAIN" REPLY(
            "\x21", "\0", "\x0d") "Authenticated" REPLY("\x0a", "\0", "\0")));
    assert_int_equal(logins, 1);
}

static void sasl_refused(void **state)
{
    (void)state;
    expect(1, BYTES(WRONG GOOD),
           BYTES(REFUSED("\x21") REPLY("\x21", "\0", "\x0d") "Authenticated"));
    expect(1, BYTES(AUTH("\x0c", USER "\0")), BYTES(REFUSED("\x21")));
    expect(1, BYTES(AUTH("\x05", "")), BYTES(REFUSED("\x21")));
    expect(1, BYTES("\x80\x22\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
           BYTES(REFUSED("\x22")));
    /* Others are refused, and the connection ends. */
    expect(1,
           BYTES("\x80\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" GOOD),
           BYTES(REFUSED("\x0a")));
    expect(1, BYTES("\x80\x21\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0"),
           BYTES(REFUSED("\x21")));
}

/* At a Unix socket, or for an open space. */
static void not_needed(void **state)
{
    (void)state;
    expect(0, BYTES("set k 0 0 1\r\nv\r\n"), BYTES("STORED\r\n"));
    expect(0, BYTES(GOOD), BYTES(REPLY("\x21", "\0", "\x0d") "Authenticated"));
    /* After the first command it stays in its space. */
    expect(0,
           BYTES("\x80\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" GOOD),
           BYTES(REPLY("\x0a", "\0", "\0") REFUSED("\x21")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_login), cmocka_unit_test(text_refused),
        cmocka_unit_test(sasl_login), cmocka_unit_test(sasl_refused),
        cmocka_unit_test(not_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
