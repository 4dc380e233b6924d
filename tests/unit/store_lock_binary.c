/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Locks and lists of keys in the binary protocol. The statuses are those of
 * yrmcds 1.1.9. */

#include "tests/unit/support/wire.h"

#include "store/packet_head.h"

enum { A, B, CLIENTS };

typedef struct {
    wire_t client[CLIENTS];
} room_t;

static void open_room(room_t *room, uint32_t pages)
{
    wire_open(&room->client[A], pages);
    wire_join(&room->client[B], &room->client[A]);
}

static void close_room(room_t *room)
{
    wire_leave(&room->client[B]);
    wire_close(&room->client[A]);
}

static uint64_t locks(const room_t *room)
{
    return room->client[A].shelf.space->figures->locks;
}

static int ask(room_t *room, int who, uint8_t opcode, const char *key)
{
    return wire_request(&room->client[who], opcode, "", 0, key, "", 0);
}

static const char *body(const room_t *room, int who)
{
    return room->client[who].replies + STORE_PACKET_HEAD;
}

static void make(room_t *room, const char *key)
{
    assert_int_equal(wire_request(&room->client[A], 0x01, "\0\0\0\7\0\0\0\0", 8,
                                  key, "abc", 0),
                     0);
}

static void binary_locks(void **state)
{
    static const struct {
        int who, opcode;
        const char *key;
        int status;
    } lines[] = {
        {A, 0x40, "k", 0},
        {A, 0x40, "k", STORE_STATUS_LOCKED},
        {B, 0x40, "k", STORE_STATUS_LOCKED},
        {B, 0x41, "k", STORE_STATUS_LOCKED},
        {B, 0x42, "k", STORE_STATUS_NOT_LOCKED},
        {B, 0x46, "k", STORE_STATUS_LOCKED},
        {B, 0x47, "k", STORE_STATUS_LOCKED},
        {B, 0x04, "k", STORE_STATUS_LOCKED},
        {B, 0x14, "k", STORE_STATUS_LOCKED},
        {B, 0x0e, "k", STORE_STATUS_LOCKED},
        {B, 0x00, "k", 0},
        {A, 0x42, "k", 0},
        {A, 0x42, "k", STORE_STATUS_NOT_LOCKED},
        {A, 0x43, "k", STORE_STATUS_NOT_LOCKED},
        {B, 0x41, "k", -1},
        {B, 0x43, "k", -1},
        {B, 0x41, "none", STORE_STATUS_NOT_FOUND},
        {B, 0x42, "none", STORE_STATUS_NOT_FOUND},
        {B, 0x47, "none", STORE_STATUS_NOT_FOUND},
        {B, 0x49, "none", STORE_STATUS_NOT_FOUND},
        {A, 0x41, "k", -1},
        {A, 0x45, "", -1},
        {B, 0x40, "k", 0},
        {B, 0x44, "", 0},
        {A, 0x40, "k", 0},
    };
    room_t room;

    (void)state;
    open_room(&room, 16);
    make(&room, "k");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(
            ask(&room, lines[i].who, (uint8_t)lines[i].opcode, lines[i].key),
            lines[i].status);
    assert_int_equal(wire_request(&room.client[B], 0x05,
                                  "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0",
                                  20, "k", "", 0),
                     STORE_STATUS_LOCKED);
    close_room(&room);
}

static void lock_and_get(void **state)
{
    room_t room;

    (void)state;
    open_room(&room, 16);
    make(&room, "k");
    assert_int_equal(ask(&room, A, 0x46, "k"), 0);
    assert_memory_equal(body(&room, A), "\0\0\0\7abc", 7);
    assert_int_equal(ask(&room, B, 0x48, "k"), STORE_STATUS_LOCKED);
    assert_int_equal(ask(&room, A, 0x42, "k"), 0);
    assert_int_equal(
        wire_request(&room.client[B], 0x48, "\0\0\0\x64", 4, "k", "", 0), 0);
    assert_memory_equal(body(&room, B), "\0\0\0\7kabc", 8);
    shelf_later(&room.client[A].shelf, 200);
    assert_int_equal(ask(&room, A, 0x00, "k"), 0);
    /* It had a time to live, and it is over now. */
    assert_int_equal(ask(&room, B, 0x42, "k"), 0);
    assert_int_equal(ask(&room, A, 0x46, "k"), STORE_STATUS_NOT_FOUND);
    assert_int_equal(locks(&room), 0);
    close_room(&room);
}

static int replace(room_t *room, int who, uint8_t opcode, uint64_t cas)
{
    return wire_request(&room->client[who], opcode, "\0\0\0\1\0\0\0\0", 8, "k",
                        "new", cas);
}

static void replace_and_unlock(void **state)
{
    uint64_t cas;
    room_t room;

    (void)state;
    open_room(&room, 16);
    assert_int_equal(replace(&room, A, 0x4a, 0), STORE_STATUS_NOT_FOUND);
    make(&room, "k");
    assert_int_equal(replace(&room, A, 0x4a, 0), STORE_STATUS_NOT_LOCKED);
    assert_int_equal(ask(&room, A, 0x46, "k"), 0);
    cas = store_net_get64(room.client[A].replies + 16);
    assert_int_equal(replace(&room, B, 0x4a, 0), STORE_STATUS_NOT_LOCKED);
    assert_int_equal(replace(&room, A, 0x4a, cas + 1), STORE_STATUS_EXISTS);
    assert_int_equal(ask(&room, B, 0x40, "k"), STORE_STATUS_LOCKED);
    assert_int_equal(replace(&room, A, 0x4a, cas), 0);
    assert_int_equal(ask(&room, B, 0x46, "k"), 0);
    assert_memory_equal(body(&room, B), "\0\0\0\1new", 7);
    assert_int_equal(replace(&room, B, 0x4b, 0), -1);
    assert_int_equal(locks(&room), 0);
    close_room(&room);
}

static void binary_keys(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_ask(&w, "set aa 0 0 1\r\n1\r\nset b 0 0 1\r\n1\r\n");
    wire_again(&w);
    assert_int_equal(wire_request(&w, 0x50, "", 0, "none", "", 0), 0);
    assert_int_equal(w.n_replies, STORE_PACKET_HEAD);
    wire_say(&w, "\x80\x50\0\1\0\0\0\0\0\0\0\1opaq\0\0\0\0\0\0\0\0a", 25, 64);
    assert_int_equal(w.n_replies, 3 * STORE_PACKET_HEAD + 2);
    assert_memory_equal(w.replies + STORE_PACKET_HEAD,
                        "\x81\x50\0\2\0\0\0\0\0\0\0\2opaq\0\0\0\0\0\0\0\0aa"
                        "\x81\x50\0\0\0\0\0\0\0\0\0\0opaq\0\0\0\0\0\0\0\0",
                        2 * STORE_PACKET_HEAD + 2);
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary_locks),
        cmocka_unit_test(lock_and_get),
        cmocka_unit_test(replace_and_unlock),
        cmocka_unit_test(binary_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
