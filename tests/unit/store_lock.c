/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* Locks of connections: what their owner, the others, the clock and a full space
 * can do to a locked item. The replies are those of yrmcds 1.1.9. */

#include "tests/unit/support/wire.h"

#include <stdio.h>
#include <string.h>

#include "store/packet_head.h"
#include "store/protocol/verbs.h"

#define FOREIGN "CLIENT_ERROR object is not locked or not found\r\n"

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

/* What one of the clients says, and hears. */
typedef struct {
    int who;
    const char *says, *hears;
} line_t;

static void play(room_t *room, const line_t *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        wire_expect(&room->client[lines[i].who], lines[i].says, lines[i].hears);
}

#define PLAY(room, lines) play(room, lines, sizeof lines / sizeof *lines)

static uint64_t locks(const room_t *room)
{
    return room->client[A].shelf.space->figures->locks;
}

static void others_may_read_only(void **state)
{
    static const line_t lines[] = {
        {A, "lock k\r\n", "NOT_FOUND\r\n"},
        {A, "set k 0 0 1\r\n1\r\nlock k\r\nlock k\r\n",
         "STORED\r\nOK\r\nLOCKED\r\n"},
        {B, "get k\r\nlock k\r\nunlock k\r\nunlock_all\r\n",
         "VALUE k 0 1\r\n1\r\nEND\r\nLOCKED\r\n" FOREIGN "OK\r\n"},
        {B, "set k 0 0 1\r\n2\r\nadd k 0 0 1\r\n2\r\nreplace k 0 0 1\r\n2\r\n",
         "LOCKED\r\nLOCKED\r\nLOCKED\r\n"},
        {B, "append k 0 0 1\r\n2\r\nprepend k 0 0 1\r\n2\r\n",
         "LOCKED\r\nLOCKED\r\n"},
        {B, "cas k 0 0 1 5\r\n2\r\nincr k 1\r\ndecr k 1\r\ndelete k\r\n",
         "LOCKED\r\nLOCKED\r\nLOCKED\r\nLOCKED\r\n"},
        {B, "set k 0 0 1 noreply\r\n2\r\ndelete k noreply\r\n", ""},
        {B, "ms k 1 k\r\n2\r\nma k O1\r\nmd k O2\r\nmd k I\r\nma k q O3\r\n",
         "NS kk\r\nNS O1\r\nNS O2\r\nNS\r\nNS O3\r\n"},
        {B, "touch k 0\r\nmg k v\r\n", "TOUCHED\r\nVA 1\r\n1\r\n"},
        {B, "set k 0 0 2000000\r\n",
         "SERVER_ERROR object too large for "
         "cache\r\n"},
        {A, "get k\r\n", "VALUE k 0 1\r\n1\r\nEND\r\n"},
    };
    room_t room;

    (void)state;
    open_room(&room, 16);
    PLAY(&room, lines);
    assert_int_equal(locks(&room), 1);
    close_room(&room);
}

static void the_owner_may_do_all(void **state)
{
    static const line_t lines[] = {
        {A, "set k 0 0 1\r\n1\r\nlock k\r\nset k 0 0 1\r\n5\r\nincr k 6\r\n",
         "STORED\r\nOK\r\nSTORED\r\n11\r\n"},
        {A, "append k 0 0 1\r\n0\r\nget k\r\n",
         "STORED\r\nVALUE k 0 3\r\n110\r\nEND\r\n"},
        {A, "md k I\r\nms k 1\r\n7\r\nma k v\r\n", "HD\r\nHD\r\nVA 1\r\n8\r\n"},
        {B, "set k 0 0 1\r\n2\r\n", "LOCKED\r\n"},
        {A, "unlock k\r\nunlock k\r\n", "OK\r\n" FOREIGN},
        {B, "set k 0 0 1\r\n2\r\nlock k\r\n", "STORED\r\nOK\r\n"},
        {B, "delete k\r\nunlock k\r\n", "DELETED\r\n" FOREIGN},
        {A, "set k 0 0 1\r\n3\r\nset l 0 0 1\r\n3\r\nlock k\r\nlock l\r\n",
         "STORED\r\nSTORED\r\nOK\r\nOK\r\n"},
        {A, "unlock_all now\r\n", "OK\r\n"},
        {B, "lock k\r\nlock l\r\n", "OK\r\nOK\r\n"},
    };
    room_t room;

    (void)state;
    open_room(&room, 16);
    PLAY(&room, lines);
    assert_int_equal(locks(&room), 2);
    close_room(&room);
}

static void wrong_lines(void **state)
{
    char line[300];
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "lock\r\nlock k x\r\nlock k noreply\r\nunlock\r\n",
                "ERROR\r\nERROR\r\nERROR\r\nERROR\r\n");
    snprintf(line, sizeof line, "lock %0251d\r\n", 1);
    wire_expect(&w, line, "CLIENT_ERROR bad command line format\r\n");
    snprintf(line, sizeof line, "unlock %0251d\r\n", 1);
    wire_expect(&w, line, "CLIENT_ERROR bad command line format\r\n");
    wire_close(&w);
}

/* Y22, Y23: but not while it is locked. */
static void time_and_flushes_wait(void **state)
{
    static const line_t before[] = {
        {A, "set k 0 10 1\r\n1\r\nlock k\r\n", "STORED\r\nOK\r\n"},
        {A, "set f 0 0 1\r\n1\r\nlock f\r\n", "STORED\r\nOK\r\n"},
        {B, "flush_all\r\n", "OK\r\n"},
    };
    static const line_t after[] = {
        {B, "get k f\r\n", "VALUE k 0 1\r\n1\r\nVALUE f 0 1\r\n1\r\nEND\r\n"},
        {B, "set f 0 0 1\r\n2\r\n", "LOCKED\r\n"},
        {A, "unlock_all\r\nget k f\r\n", "OK\r\nEND\r\n"},
        {B, "set f 0 0 1\r\n2\r\nget f\r\n",
         "STORED\r\nVALUE f 0 1\r\n2\r\nEND\r\n"},
    };
    room_t room;

    (void)state;
    open_room(&room, 16);
    PLAY(&room, before);
    shelf_later(&room.client[A].shelf, 1000);
    PLAY(&room, after);
    close_room(&room);
}

/* What its owner stores while it is flushed is not flushed. */
static void a_change_outlives_the_flush(void **state)
{
    static const line_t lines[] = {
        {A, "set k 0 0 1\r\n1\r\nlock k\r\n", "STORED\r\nOK\r\n"},
        {B, "flush_all\r\n", "OK\r\n"},
        {A, "append k 0 0 1\r\n2\r\nunlock k\r\n", "STORED\r\nOK\r\n"},
        {B, "get k\r\n", "VALUE k 0 2\r\n12\r\nEND\r\n"},
    };
    room_t room;

    (void)state;
    open_room(&room, 16);
    PLAY(&room, lines);
    close_room(&room);
}

/* quit, or the end of the connection. */
static void a_lock_ends_with_its_connection(void **state)
{
    room_t room;

    (void)state;
    open_room(&room, 16);
    wire_expect(&room.client[A], "set k 0 0 1\r\n1\r\nlock k\r\n",
                "STORED\r\nOK\r\n");
    wire_again(&room.client[A]);
    wire_expect(&room.client[B], "lock k\r\nquit\r\n", "OK\r\n");
    wire_expect(&room.client[A], "lock k\r\n", "OK\r\n");
    wire_again(&room.client[A]);
    assert_int_equal(wire_request(&room.client[A], 0x40, "", 0, "k", "", 0), 0);
    assert_int_equal(wire_request(&room.client[A], 0x07, "", 0, "", "", 0), 0);
    wire_again(&room.client[B]);
    wire_expect(&room.client[B], "lock k\r\n", "OK\r\n");
    assert_int_equal(locks(&room), 1);
    close_room(&room);
}

/* A store that is killed leaves the bit in the memfd. */
static void a_lock_ends_with_the_store(void **state)
{
    shelf_t *shelf;
    room_t room;

    (void)state;
    open_room(&room, 16);
    shelf = &room.client[A].shelf;
    wire_expect(&room.client[A], "set k 0 10 1\r\n1\r\nlock k\r\n",
                "STORED\r\nOK\r\n");
    store_item_t *item = shelf_take(shelf, "k");
    assert_true(item->bits & STORE_LOCKED);
    store_item_release(shelf->space, item);
    wire_leave(&room.client[B]);
    wire_expect(&room.client[A], "unlock_all\r\n", "OK\r\n");
    item->bits |= STORE_LOCKED;
    shelf_recover(shelf);
    wire_again(&room.client[A]);
    wire_join(&room.client[B], &room.client[A]);
    wire_expect(&room.client[B], "lock k\r\nunlock k\r\n", "OK\r\nOK\r\n");
    shelf_later(shelf, 20);
    wire_expect(&room.client[B], "get k\r\n", "END\r\n");
    close_room(&room);
}

static void it_is_not_evicted(void **state)
{
    char line[20000];
    room_t room;
    int n;

    (void)state;
    open_room(&room, 4);
    wire_expect(&room.client[A], "set k 0 0 1\r\n1\r\nlock k\r\n",
                "STORED\r\nOK\r\n");
    for (int i = 0; i < 20000; i++) {
        n = snprintf(line, sizeof line, "set other%d 0 0 1 noreply\r\n1\r\n",
                     i);
        wire_say(&room.client[B], line, (size_t)n, 64);
    }
    assert_true(room.client[A].shelf.space->figures->evictions > 0);
    wire_expect(&room.client[B], "get k\r\n", "VALUE k 0 1\r\n1\r\nEND\r\n");
    close_room(&room);
}

static void there_is_a_limit(void **state)
{
    char line[64];
    room_t room;

    (void)state;
    open_room(&room, 64);
    for (int i = 0; i <= STORE_LOCKS_MAX; i++) {
        snprintf(line, sizeof line, "set k%d 0 0 1\r\n1\r\nlock k%d\r\n", i, i);
        wire_expect(&room.client[A], line,
                    i < STORE_LOCKS_MAX
                        ? "STORED\r\nOK\r\n"
                        : "STORED\r\nSERVER_ERROR " STORE_LOCKS_TEXT "\r\n");
    }
    wire_expect(&room.client[A], "lock none\r\n", "NOT_FOUND\r\n");
    wire_again(&room.client[B]);
    for (int i = 0; i < STORE_LOCKS_MAX; i++) {
        snprintf(line, sizeof line, "k%d", i);
        assert_int_equal(
            wire_request(&room.client[B], 0x40, "", 0, line, "", 0),
            STORE_STATUS_LOCKED);
    }
    wire_expect(&room.client[A], "unlock k7\r\nlock k1024\r\n", "OK\r\nOK\r\n");
    assert_int_equal(wire_request(&room.client[B], 0x40, "", 0, "k7", "", 0),
                     0);
    close_room(&room);
}

/* ---- a lock that comes in the middle of a change ---- */

static const store_caller_t *intruder; /* NULL: none comes */
static unsigned items_before;          /* that are made before it comes */

store_item_t *__real_store_item_make(store_space_t *, const void *, uint8_t,
                                     uint32_t, uint32_t, uint32_t);
store_item_t *__wrap_store_item_make(store_space_t *, const void *, uint8_t,
                                     uint32_t, uint32_t, uint32_t);
store_item_t *__wrap_store_item_make(store_space_t *space, const void *key,
                                     uint8_t klen, uint32_t flags,
                                     uint32_t exptime, uint32_t length)
{
    if (intruder && items_before-- == 0) {
        assert_int_equal(store_key_lock(intruder, "k", 1), STORE_DONE);
        intruder = NULL;
    }
    return __real_store_item_make(space, key, klen, flags, exptime, length);
}

/* The new item is made after a look at the old one, and put after another. */
static void a_change_looks_twice(void **state)
{
    static const struct {
        const char *says, *hears;
        unsigned items_before; /* the value that is read */
    } lines[] = {
        {"incr k 1\r\n", "LOCKED\r\n", 0},
        {"append k 0 0 1\r\n2\r\n", "LOCKED\r\n", 1},
        {"set k 0 0 1\r\n2\r\n", "LOCKED\r\n", 0},
        {"md k I\r\n", "NS\r\n", 0},
        {"ma k O1\r\n", "NS O1\r\n", 0},
    };
    store_counters_t counters;
    store_locks_t locked = {0};
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "set k 0 0 1\r\n1\r\n", "STORED\r\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const store_caller_t other = {w.shelf.space, &counters, NULL, &locked};

        intruder = &other;
        items_before = lines[i].items_before;
        wire_expect(&w, lines[i].says, lines[i].hears);
        assert_null(intruder);
        wire_expect(&w, "get k\r\n", "VALUE k 0 1\r\n1\r\nEND\r\n");
        store_key_lock_free(&other);
    }
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_may_read_only),
        cmocka_unit_test(the_owner_may_do_all),
        cmocka_unit_test(wrong_lines),
        cmocka_unit_test(time_and_flushes_wait),
        cmocka_unit_test(a_change_outlives_the_flush),
        cmocka_unit_test(a_lock_ends_with_its_connection),
        cmocka_unit_test(a_lock_ends_with_the_store),
        cmocka_unit_test(it_is_not_evicted),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(a_change_looks_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
