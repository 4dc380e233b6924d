/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The binary protocol. The expected replies are those of memcached 1.6.18. */

#include "tests/unit/support/wire.h"

#include <stdlib.h>
#include <string.h>

#include "store/packet_head.h"

/* A response. */
typedef struct {
    uint8_t opcode, extras;
    uint16_t key, status;
    uint32_t length;
    uint64_t cas;
    const char *body;
} response_t;

static void ask(wire_t *w, uint8_t opcode, const void *extras, uint8_t n_extras,
                const char *key, const char *value, uint64_t cas)
{
    size_t klen = strlen(key), vlen = strlen(value);
    char head[STORE_PACKET_HEAD] = {(char)0x80, (char)opcode};

    head[2] = (char)(klen >> 8);
    head[3] = (char)klen;
    head[4] = (char)n_extras;
    store_net_put32(head + 8, (uint32_t)(n_extras + klen + vlen));
    memcpy(head + 12, "opaq", 4);
    store_net_put64(head + 16, cas);
    free(w->replies);
    w->replies = NULL;
    w->n_replies = 0;
    wire_say(w, head, sizeof head, 64);
    wire_say(w, extras, n_extras, 64);
    wire_say(w, key, klen, 64);
    wire_say(w, value, vlen, 64);
}

/* The only response. */
static response_t heard(const wire_t *w)
{
    response_t r;

    assert_true(w->n_replies >= STORE_PACKET_HEAD);
    assert_int_equal((uint8_t)w->replies[0], 0x81);
    assert_memory_equal(w->replies + 12, "opaq", 4);
    r.opcode = (uint8_t)w->replies[1];
    r.key = store_net_get16(w->replies + 2);
    r.extras = (uint8_t)w->replies[4];
    r.status = store_net_get16(w->replies + 6);
    r.length = store_net_get32(w->replies + 8);
    r.cas = store_net_get64(w->replies + 16);
    r.body = w->replies + STORE_PACKET_HEAD;
    assert_int_equal(w->n_replies, STORE_PACKET_HEAD + r.length);
    return r;
}

static uint64_t set(wire_t *w, uint8_t opcode, const char *key,
                    const char *value, uint64_t cas, unsigned status)
{
    ask(w, opcode, "\0\0\0\x07\0\0\0\0", 8, key, value, cas);
    assert_int_equal(heard(w).status, status);
    return heard(w).cas;
}

static void expect(wire_t *w, uint8_t opcode, const char *key, uint16_t status,
                   const char *body)
{
    response_t r;

    ask(w, opcode, "", 0, key, "", 0);
    r = heard(w);
    assert_int_equal(r.opcode, opcode);
    assert_int_equal(r.status, status);
    assert_int_equal(r.length, strlen(body) + r.extras);
    assert_memory_equal(r.body + r.extras, body, strlen(body));
}

static void storing(void **state)
{
    uint64_t cas;
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    cas = set(&w, 0x01, "a", "abc", 0, 0);
    assert_true(cas > 0);
    expect(&w, 0x00, "a", 0, "abc");
    assert_memory_equal(heard(&w).body, "\0\0\0\x07", 4);
    assert_true(heard(&w).cas == cas);
    expect(&w, 0x0c, "a", 0, "aabc");
    set(&w, 0x02, "a", "x", 0, STORE_STATUS_EXISTS);
    set(&w, 0x03, "b", "x", 0, STORE_STATUS_NOT_FOUND);
    set(&w, 0x01, "a", "x", cas + 1, STORE_STATUS_EXISTS);
    set(&w, 0x01, "b", "x", 1, STORE_STATUS_NOT_FOUND);
    assert_true(set(&w, 0x03, "a", "new", cas, 0) > cas);
    ask(&w, 0x0e, "", 0, "a", "+", 0);
    assert_int_equal(heard(&w).status, 0);
    ask(&w, 0x0f, "", 0, "a", "-", 0);
    expect(&w, 0x00, "a", 0, "-new+");
    ask(&w, 0x0e, "", 0, "b", "+", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_NOT_STORED);
    wire_close(&w);
}

static void missing(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    expect(&w, 0x00, "a", STORE_STATUS_NOT_FOUND, "Not found");
    expect(&w, 0x0c, "a", STORE_STATUS_NOT_FOUND, "a");
    expect(&w, 0x04, "a", STORE_STATUS_NOT_FOUND, "Not found");
    ask(&w, 0x09, "", 0, "a", "", 0);
    assert_int_equal(w.n_replies, 0);
    ask(&w, 0x0d, "", 0, "a", "", 0);
    assert_int_equal(w.n_replies, 0);
    wire_close(&w);
}

/* A quiet command gets no reply to its success, but a reply to an error. */
static void quiet(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    ask(&w, 0x11, "\0\0\0\0\0\0\0\0", 8, "a", "1", 0);
    assert_int_equal(w.n_replies, 0);
    ask(&w, 0x12, "\0\0\0\0\0\0\0\0", 8, "a", "1", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_EXISTS);
    expect(&w, 0x09, "a", 0, "1");
    ask(&w, 0x14, "", 0, "a", "", 0);
    assert_int_equal(w.n_replies, 0);
    ask(&w, 0x14, "", 0, "a", "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_NOT_FOUND);
    ask(&w, 0x18, "", 0, "", "", 0);
    assert_int_equal(w.n_replies, 0);
    wire_close(&w);
}

static void counting(void **state)
{
    static const char by_one[] = "\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x09\0\0\0";
    static const char no_vivify[] =
        "\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x09\xff\xff\xff\xff";
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    ask(&w, 0x05, no_vivify, 20, "n", "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_NOT_FOUND);
    ask(&w, 0x05, by_one, 20, "n", "", 0);
    assert_int_equal(store_net_get64(heard(&w).body), 9);
    ask(&w, 0x05, by_one, 20, "n", "", 0);
    assert_int_equal(store_net_get64(heard(&w).body), 10);
    ask(&w, 0x06, by_one, 20, "n", "", heard(&w).cas);
    assert_int_equal(store_net_get64(heard(&w).body), 9);
    expect(&w, 0x00, "n", 0, "9 ");
    ask(&w, 0x05, by_one, 20, "n", "", 1);
    assert_int_equal(heard(&w).status, STORE_STATUS_EXISTS);
    set(&w, 0x01, "n", "x", 0, 0);
    ask(&w, 0x05, by_one, 20, "n", "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_NOT_NUMERIC);
    wire_close(&w);
}

static void touching(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    set(&w, 0x01, "a", "abc", 0, 0);
    ask(&w, 0x1c, "\0\0\0\x64", 4, "a", "", 0);
    assert_int_equal(heard(&w).length, 4);
    shelf_later(&w.shelf, 50);
    ask(&w, 0x1d, "\0\0\0\x64", 4, "a", "", 0);
    assert_memory_equal(heard(&w).body,
                        "\0\0\0\x07"
                        "abc",
                        7);
    shelf_later(&w.shelf, 80);
    ask(&w, 0x23, "\0\0\0\x64", 4, "a", "", 0);
    assert_int_equal(heard(&w).key, 1);
    shelf_later(&w.shelf, 110);
    ask(&w, 0x24, "\0\0\0\x64", 4, "a", "", 0);
    assert_int_equal(w.n_replies, 0);
    wire_close(&w);
}

static void other_commands(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    ask(&w, 0x0a, "", 0, "", "", 0);
    assert_int_equal(heard(&w).status, 0);
    ask(&w, 0x0b, "", 0, "", "", 0);
    assert_memory_equal(heard(&w).body, "1.6.", 4);
    ask(&w, 0x10, "", 0, "foo", "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_NOT_FOUND);
    ask(&w, 0x10, "", 0, "", "", 0);
    assert_true(w.n_replies > 1000);
    ask(&w, 0x20, "", 0, "", "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_UNKNOWN);
    /* The value of an unknown command is not taken for a command. */
    ask(&w, 0x55, "", 0, "key", "value", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_UNKNOWN);
    assert_int_equal(w.n_rest, 0);
    assert_false(store_dialogue_is_over(w.dialogue));
    ask(&w, 0x07, "", 0, "", "", 0);
    assert_int_equal(heard(&w).status, 0);
    assert_true(store_dialogue_is_over(w.dialogue));
    wire_close(&w);
}

/* Lengths that do not fit end the connection. */
static void wrong_lengths(void **state)
{
    char key[252] = "";
    wire_t w;

    (void)state;
    memset(key, 'k', 251);
    wire_open(&w, 16);
    ask(&w, 0x00, "", 0, "", "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_INVALID);
    assert_true(store_dialogue_is_over(w.dialogue));
    wire_again(&w);
    ask(&w, 0x01, "\0\0\0\0", 4, "a", "1", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_INVALID);
    wire_again(&w);
    ask(&w, 0x00, "", 0, key, "", 0);
    assert_int_equal(heard(&w).status, STORE_STATUS_INVALID);
    wire_again(&w);
    wire_say(&w, "\x80\0\0\x05\0\0\0\0\0\0\0\x01opaq\0\0\0\0\0\0\0\0", 24, 64);
    assert_int_equal(heard(&w).status, STORE_STATUS_UNKNOWN);
    assert_true(store_dialogue_is_over(w.dialogue));
    wire_close(&w);
}

/* Of the beginnings of keys: memcached has them, if it is told to. */
static void details(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    expect(&w, 0x10, "detail on", 0, "");
    expect(&w, 0x10, "detail off", 0, "");
    expect(&w, 0x10, "detail", STORE_STATUS_NOT_FOUND, "Not found");
    ask(&w, 0x10, "", 0, "detail dump", "", 0);
    assert_int_equal(w.n_replies, 2 * STORE_PACKET_HEAD + 13);
    assert_memory_equal(w.replies + STORE_PACKET_HEAD, "detailedEND\r\n", 13);
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storing),       cmocka_unit_test(missing),
        cmocka_unit_test(quiet),         cmocka_unit_test(counting),
        cmocka_unit_test(touching),      cmocka_unit_test(other_commands),
        cmocka_unit_test(wrong_lengths), cmocka_unit_test(details),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
