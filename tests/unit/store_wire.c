/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Packets between two stores, and the addresses of other hosts. */

#include "store/cluster/wire.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/cluster/cluster.h"

/* As the protocol of memcached writes them. */
static void y9_packets_are_those_of_memcached(void **state)
{
    static const unsigned char set[] = {
        0x80, 0x11, 0, 3, 8, 0, 0, 0, 0, 0, 0,   13,  0, 0, 0,   4,   0,   0,
        0,    0,    0, 0, 1, 2, 0, 0, 0, 7, 0x5, 0x6, 7, 8, 'k', 'e', 'y',
    };
    static const unsigned char delete[] = {
        0x80, 0x14, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1,   0,
        0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 'k',
    };
    static const unsigned char touch[] = {
        0x80, 0x1c, 0, 1, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0,   0,
        0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 'k',
    };
    store_packet_t p = {.opcode = STORE_WIRE_SET,
                        .klen = 3,
                        .value = 2,
                        .bits = STORE_STALE,
                        .cas = 0x102,
                        .flags = 7,
                        .exptime = 0x05060708};
    unsigned char to[STORE_WIRE_SMALL_MAX];

    (void)state;
    assert_int_equal(store_wire_put(&p, "key", to), sizeof set);
    assert_memory_equal(to, set, sizeof set);
    p = (store_packet_t){.opcode = STORE_WIRE_DELETE, .klen = 1};
    assert_int_equal(store_wire_put(&p, "k", to), sizeof delete);
    assert_memory_equal(to, delete, sizeof delete);
    p = (store_packet_t){.opcode = STORE_WIRE_TOUCH, .klen = 1, .exptime = 256};
    assert_int_equal(store_wire_put(&p, "k", to), sizeof touch);
    assert_memory_equal(to, touch, sizeof touch);
}

static void assert_same(const store_packet_t *a, const store_packet_t *b)
{
    assert_int_equal(a->opcode, b->opcode);
    assert_int_equal(a->klen, b->klen);
    assert_int_equal(a->value, b->value);
    assert_int_equal(a->bits, b->bits);
    assert_true(a->cas == b->cas && a->number == b->number);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->exptime, b->exptime);
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->clock, b->clock);
}

/* Each kind, from each number of bytes. */
static void what_is_written_is_read(void **state)
{
    static const store_packet_t all[] = {
        {.opcode = STORE_WIRE_SET,
         .klen = 250,
         .value = STORE_WIRE_VALUE_MAX,
         .bits = UINT32_MAX,
         .cas = UINT64_MAX,
         .flags = 0x80000001,
         .exptime = UINT32_MAX},
        {.opcode = STORE_WIRE_DELETE, .klen = 1, .cas = 1},
        {.opcode = STORE_WIRE_TOUCH, .klen = 9, .exptime = 1700000000},
        {.opcode = STORE_WIRE_HELLO, .version = 1, .number = 1700000000},
        {.opcode = STORE_WIRE_HELLO, .value = STORE_WIRE_HELLO_MAX},
        {.opcode = STORE_WIRE_SPACE,
         .klen = 63,
         .number = UINT64_MAX - 1,
         .exptime = 123456},
        {.opcode = STORE_WIRE_COMPLETE},
        {.opcode = STORE_WIRE_BYE},
        {.opcode = STORE_WIRE_FLUSHED, .number = 77},
        {.opcode = STORE_WIRE_MARK,
         .bits = STORE_WIRE_AT_ONCE,
         .number = UINT64_MAX,
         .clock = 0x80000001},
    };
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    char name[256];
    const char *key;
    store_packet_t p;
    size_t i, n;

    (void)state;
    memset(name, 'n', sizeof name);
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        int size = (int)store_wire_put(&all[i], name, bytes);

        for (n = 0; n < (size_t)size; n++)
            assert_int_equal(store_wire_head(bytes, n, &p, &key), 0);
        assert_int_equal(store_wire_head(bytes, sizeof bytes, &p, &key), size);
        assert_same(&p, &all[i]);
        assert_ptr_equal(key + p.klen, bytes + size);
    }
}

static void a_history_is_read(void **state)
{
    store_history_t h = {.number = 20, .flags = STORE_HISTORY_EMPTY}, got;
    unsigned char bytes[STORE_WIRE_HISTORY + 1];
    size_t n, i;

    (void)state;
    for (h.n = 1; h.n <= STORE_EPOCHS; h.n++) {
        h.epoch[h.n - 1] = (store_epoch_t){UINT64_MAX - h.n, h.n};
        n = store_wire_put_history(&h, bytes);
        assert_true(n <= STORE_WIRE_HISTORY);
        assert_int_equal(store_wire_history(bytes, n, &got), 0);
        assert_memory_equal(&got, &h, sizeof h);
        for (i = 0; i <= sizeof bytes; i++)
            if (i != n)
                assert_int_equal(store_wire_history(bytes, i, &got), -1);
        assert_int_equal(got.n, 0);
    }
    h.n = 1;
    n = store_wire_put_history(&h, bytes);
    bytes[8] = 0xff;
    assert_int_equal(store_wire_history(bytes, n, &got), 0);
    assert_int_equal(got.flags, STORE_HISTORY_EMPTY);
    bytes[15] = 0;
    assert_int_equal(store_wire_history(bytes, 16, &got), -1);
}

/* @return what is said about a set with another byte there */
static int changed(size_t at, unsigned char to)
{
    const store_packet_t set = {
        .opcode = STORE_WIRE_SET, .klen = 2, .value = 3};
    unsigned char bytes[STORE_WIRE_SMALL_MAX];
    const char *key;
    store_packet_t p;

    store_wire_put(&set, "kk", bytes);
    bytes[at] = to;
    return store_wire_head(bytes, sizeof bytes, &p, &key);
}

static void other_bytes_are_no_packet(void **state)
{
    const char *key;
    store_packet_t p;

    (void)state;
    assert_int_equal(changed(1, STORE_WIRE_SET), 34);
    assert_int_equal(store_wire_head("", 1, &p, &key), -1); /* NUL */
    assert_int_equal(store_wire_head("get", 3, &p, &key), -1);
    assert_int_equal(changed(0, 0x81), -1);
    assert_int_equal(changed(1, 0x01), -1); /* Set, which has an answer */
    assert_int_equal(changed(1, STORE_WIRE_DELETE), -1);
    assert_int_equal(changed(2, 1), -1); /* a key of 258 bytes */
    assert_int_equal(changed(3, 0), -1);
    assert_int_equal(changed(3, 251), -1);
    assert_int_equal(changed(4, 4), -1);
    assert_int_equal(changed(8, 2), -1);  /* a value above 30 MiB */
    assert_int_equal(changed(11, 9), -1); /* less than extras and key */
    assert_int_equal(changed(1, STORE_WIRE_COMPLETE), -1);
}

static void addresses_are_compared(void **state)
{
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    struct sockaddr_storage made;
    char text[STORE_ADDRESS_TEXT];
    store_address_t a, b;

    (void)state;
    assert_int_equal(store_address_parse("10.0.0.9", &a), 0);
    assert_string_equal(store_address_text(&a, text), "10.0.0.9");
    assert_int_equal(store_address_socket(&a, 11213, &made),
                     sizeof(struct sockaddr_in));
    store_address_of((struct sockaddr *)&made, &b);
    assert_true(store_address_equal(&a, &b));
    assert_int_equal(inet_pton(AF_INET6, "::ffff:10.0.0.9", &mapped.sin6_addr),
                     1);
    store_address_of((struct sockaddr *)&mapped, &b);
    assert_true(store_address_equal(&a, &b));
    assert_int_equal(store_address_parse("10.0.0.8", &b), 0);
    assert_false(store_address_equal(&a, &b));
    assert_int_equal(store_address_parse("fe80::1", &a), 0);
    assert_string_equal(store_address_text(&a, text), "fe80::1");
    assert_false(store_address_equal(&a, &b));
    assert_int_equal(store_address_socket(&a, 1, &made),
                     sizeof(struct sockaddr_in6));
    store_address_of((struct sockaddr *)&made, &b);
    assert_true(store_address_equal(&a, &b));
}

static void what_is_no_address(void **state)
{
    static const char *const none[] = {"",           "localhost", "10.0.0",
                                       "10.0.0.256", "[::1]",     "10.0.0.1:80",
                                       "fe80::1%lo", "10.0.0.1 "};
    struct sockaddr local = {.sa_family = AF_UNIX};
    char text[STORE_ADDRESS_TEXT];
    store_address_t a;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(store_address_parse(none[i], &a), -1);
    assert_int_equal(a.family, AF_UNSPEC);
    store_address_of(&local, &a);
    assert_int_equal(a.family, AF_UNSPEC);
    assert_string_equal(store_address_text(&a, text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(y9_packets_are_those_of_memcached),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_history_is_read),
        cmocka_unit_test(other_bytes_are_no_packet),
        cmocka_unit_test(addresses_are_compared),
        cmocka_unit_test(what_is_no_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
