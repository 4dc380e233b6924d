/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What is added to a reply is sent, in this order, however little the client
 * takes. No item stays in use for longer than its bytes wait. */

#include "tests/unit/support/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void add_value(wire_t *wire, const char *key)
{
    store_item_t *item = shelf_take(&wire->shelf, key);

    assert_non_null(item);
    store_reply_value(wire->reply, wire->shelf.space, item);
    store_item_release(wire->shelf.space, item);
}

static unsigned refs(wire_t *wire, const char *key)
{
    store_item_t *item = shelf_take(&wire->shelf, key);
    unsigned n = item->refs;

    store_item_release(wire->shelf.space, item);
    return n - 2; /* that of the index, and the one just taken */
}

/* As much as there is, at most n bytes. */
static size_t take(wire_t *wire, char *to, size_t n)
{
    ssize_t got = recv(wire->sockets[1], to, n, MSG_DONTWAIT);

    return got > 0 ? (size_t)got : 0;
}

static void small_socket(wire_t *wire)
{
    int n = 1;

    assert_int_equal(
        setsockopt(wire->sockets[0], SOL_SOCKET, SO_SNDBUF, &n, sizeof n), 0);
}

static void y36_order_is_kept_by_a_slow_client(void **state)
{
    static const uint32_t lengths[] = {0, 1, 1024, 1025, 8000, 70000, 300000};
    static char got[4000000], want[4000000];
    size_t n_got = 0, n_want = 0, n, sent, all = 0;
    wire_t wire;
    int rv;

    (void)state;
    wire_open(&wire, 64);
    small_socket(&wire);
    for (unsigned round = 0; round < 6; round++)
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            char key[2] = {(char)('a' + i), '\0'};
            store_item_t *item;

            if (round == 0)
                assert_true(shelf_set(&wire.shelf, key, i, lengths[i], 0) > 0);
            store_reply_format(wire.reply, "%u:%s;", round, key);
            n_want += (size_t)snprintf(want + n_want, 20, "%u:%s;", round, key);
            add_value(&wire, key);
            item = shelf_take(&wire.shelf, key);
            store_item_read(wire.shelf.space, item, 0, want + n_want,
                            lengths[i]);
            n_want += lengths[i];
            store_item_release(wire.shelf.space, item);
        }
    assert_int_equal(store_reply_pending(wire.reply), n_want);
    do {
        rv = store_reply_send(wire.reply, wire.sockets[0], &sent);
        assert_true(rv == 0 || rv == EAGAIN || rv == EINPROGRESS);
        all += sent;
        while ((n = take(&wire, got + n_got, 777)) > 0)
            n_got += n;
    } while (rv != 0);
    assert_int_equal(all, n_want);
    assert_int_equal(n_got, n_want);
    assert_memory_equal(got, want, n_want);
    wire_close(&wire);
}

static void y36_small_values_are_not_kept(void **state)
{
    wire_t wire;
    size_t sent;

    (void)state;
    wire_open(&wire, 16);
    shelf_set(&wire.shelf, "small", 1, 1024, 0);
    shelf_set(&wire.shelf, "large", 1, 1025, 0);
    add_value(&wire, "small");
    add_value(&wire, "large");
    assert_int_equal(refs(&wire, "small"), 0);
    assert_int_equal(refs(&wire, "large"), 1);
    assert_int_equal(store_reply_send(wire.reply, wire.sockets[0], &sent), 0);
    assert_int_equal(refs(&wire, "large"), 0);
    wire_close(&wire);
}

static void y36_a_small_rest_is_copied(void **state)
{
    char bytes[70000];
    wire_t wire;
    const char *replies;
    size_t sent, all = 0;

    (void)state;
    wire_open(&wire, 16);
    shelf_set(&wire.shelf, "a", 1, sizeof bytes, 0);
    small_socket(&wire);
    add_value(&wire, "a");
    while (store_reply_pending(wire.reply) > 1024) {
        assert_int_equal(refs(&wire, "a"), 1);
        assert_int_equal(store_reply_send(wire.reply, wire.sockets[0], &sent),
                         EAGAIN);
        if (store_reply_pending(wire.reply) > 1024)
            all += take(&wire, bytes + all, 500);
    }
    assert_int_equal(refs(&wire, "a"), 0);
    shelf_delete(&wire.shelf, "a");
    do {
        size_t n;

        while ((n = take(&wire, bytes + all, 500)) > 0)
            all += n;
    } while (store_reply_send(wire.reply, wire.sockets[0], &sent) != 0);
    all += take(&wire, bytes + all, sizeof bytes - all);
    assert_int_equal(all, sizeof bytes);
    shelf_set(&wire.shelf, "a", 1, sizeof bytes, 0);
    replies = strchr(wire_ask(&wire, "get a\r\n"), '\n') + 1;
    assert_memory_equal(bytes, replies, sizeof bytes);
    wire_close(&wire);
}

static void y39_a_deleted_value_is_still_sent(void **state)
{
    wire_t wire;
    const char *replies;
    size_t sent;
    char bytes[5000];

    (void)state;
    wire_open(&wire, 16);
    shelf_set(&wire.shelf, "a", 1, sizeof bytes, 0);
    replies = wire_ask(&wire, "get a\r\n");
    add_value(&wire, "a");
    assert_true(shelf_delete(&wire.shelf, "a"));
    for (int i = 0; i < 50; i++)
        shelf_set(&wire.shelf, "b", 2, sizeof bytes, 0);
    assert_int_equal(store_reply_send(wire.reply, wire.sockets[0], &sent), 0);
    assert_int_equal(take(&wire, bytes, sizeof bytes), sizeof bytes);
    assert_memory_equal(bytes, strchr(replies, '\n') + 1, sizeof bytes);
    wire_close(&wire);
}

static void y39_what_is_not_sent_is_dropped(void **state)
{
    wire_t wire;

    (void)state;
    wire_open(&wire, 16);
    shelf_set(&wire.shelf, "a", 1, 5000, 0);
    for (int i = 0; i < 300; i++)
        add_value(&wire, "a");
    assert_int_equal(refs(&wire, "a"), 300);
    wire_again(&wire);
    assert_int_equal(refs(&wire, "a"), 0);
    wire_close(&wire);
}

static void a_closed_socket_is_an_error(void **state)
{
    wire_t wire;
    size_t sent;

    (void)state;
    wire_open(&wire, 16);
    shutdown(wire.sockets[1], SHUT_RDWR);
    store_reply_copy(wire.reply, "x", 1);
    assert_int_equal(store_reply_send(wire.reply, wire.sockets[0], &sent),
                     EPIPE);
    wire_close(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(y36_order_is_kept_by_a_slow_client),
        cmocka_unit_test(y36_small_values_are_not_kept),
        cmocka_unit_test(y36_a_small_rest_is_copied),
        cmocka_unit_test(y39_a_deleted_value_is_still_sent),
        cmocka_unit_test(y39_what_is_not_sent_is_dropped),
        cmocka_unit_test(a_closed_socket_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
