/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What is added to a reply is sent, in this order, however little the client
 * takes. No item stays in use for longer than its bytes wait. No byte of
 * another reply is sent. */

#include "tests/unit/support/wire.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/support/reader.h"

#define LARGE 1025 /* bytes of the shortest value that is not copied */

/* Is there no memory for a block? */
static bool is_scarce;

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    return is_scarce && n > STORE_REPLY_BLOCK ? NULL : __real_malloc(n);
}

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
        rv = store_reply_send(wire.reply, reader_send, &wire.sockets[0], &sent);
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
    assert_int_equal(
        store_reply_send(wire.reply, reader_send, &wire.sockets[0], &sent), 0);
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
        assert_int_equal(
            store_reply_send(wire.reply, reader_send, &wire.sockets[0], &sent),
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
    } while (store_reply_send(wire.reply, reader_send, &wire.sockets[0],
                              &sent) != 0);
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
    assert_int_equal(
        store_reply_send(wire.reply, reader_send, &wire.sockets[0], &sent), 0);
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
    assert_int_equal(
        store_reply_send(wire.reply, reader_send, &wire.sockets[0], &sent),
        EPIPE);
    wire_close(&wire);
}

/* ---- a block that is full ---- */

/* A reply, and what has to be sent. */
typedef struct {
    wire_t wire;
    char want[4 * STORE_REPLY_BLOCK];
    size_t n;
} full_t;

static full_t *full_open(void)
{
    full_t *f = calloc(1, sizeof *f);

    assert_non_null(f);
    wire_open(&f->wire, 16);
    assert_true(shelf_set(&f->wire.shelf, "v", 1, LARGE, 0) > 0);
    return f;
}

static void full_close(full_t *f)
{
    reader_takes(SIZE_MAX);
    wire_close(&f->wire);
    free(f);
}

static void full_again(full_t *f)
{
    reader_takes(SIZE_MAX);
    wire_again(&f->wire);
    f->n = 0;
}

static void full_copy(full_t *f, size_t n)
{
    char *at = f->want + f->n;

    for (size_t i = 0; i < n; i++)
        at[i] = (char)('a' + (f->n + i) % 23);
    store_reply_copy(f->wire.reply, at, n);
    f->n += n;
}

static void full_value(full_t *f)
{
    store_item_t *item = shelf_take(&f->wire.shelf, "v");

    store_item_read(f->wire.shelf.space, item, 0, f->want + f->n, LARGE);
    store_item_release(f->wire.shelf.space, item);
    add_value(&f->wire, "v");
    f->n += LARGE;
}

static void full_send(full_t *f, size_t n)
{
    size_t sent;

    reader_takes(n);
    assert_int_equal(store_reply_send(f->wire.reply, reader_send,
                                      &f->wire.sockets[0], &sent),
                     EAGAIN);
    assert_int_equal(sent, n);
}

/* The replies to others are in memory that was given back. */
static store_reply_t *others(void)
{
    static char bytes[4 * STORE_REPLY_BLOCK];
    store_reply_t *reply = store_reply_make();

    memset(bytes, '!', sizeof bytes);
    store_reply_copy(reply, bytes, sizeof bytes);
    return reply;
}

/* The client takes so many bytes, and the rest when others have been served. */
static void full_stop_at(full_t *f, size_t n)
{
    static char got[sizeof f->want];
    store_reply_t *other;
    size_t sent;

    full_send(f, n);
    other = others();
    reader_takes(SIZE_MAX);
    assert_int_equal(store_reply_send(f->wire.reply, reader_send,
                                      &f->wire.sockets[0], &sent),
                     0);
    assert_int_equal(take(&f->wire, got, sizeof got), f->n);
    assert_memory_equal(got, f->want, f->n);
    store_reply_free(other);
    full_again(f);
}

/* Bytes behind a value fill the block, or more than that. The client stops in
 * front of them, or between them. */
static void y36_bytes_behind_a_value_may_fill_a_block(void **state)
{
    full_t *f = full_open();

    (void)state;
    for (size_t rest = 1; rest <= 32; rest++)
        for (size_t n = rest - 1; n <= rest + 1; n++)
            for (size_t cut = 0; cut < 3; cut++) {
                full_copy(f, STORE_REPLY_BLOCK - rest);
                full_value(f);
                full_copy(f, n);
                full_value(f);
                full_copy(f, 100);
                full_stop_at(f, STORE_REPLY_BLOCK - rest + LARGE + cut);
            }
    full_close(f);
}

/* The rest of a value that waits is copied to its block, if there is room. What
 * is added then is behind it. */
static void y36_the_rest_of_a_value_may_fill_a_block(void **state)
{
    full_t *f = full_open();

    (void)state;
    for (size_t rest = 1; rest <= 32; rest++)
        for (size_t room = rest - 1; room <= rest + 1; room++) {
            full_value(f);
            full_copy(f, STORE_REPLY_BLOCK - room);
            full_send(f, LARGE - rest);
            assert_int_equal(refs(&f->wire, "v"), room < rest);
            full_copy(f, 40);
            full_stop_at(f, rest - 1);
        }
    full_close(f);
}

/* What fits is in it, and nothing is added later. */
static void without_memory_a_reply_has_failed(void **state)
{
    full_t *f = full_open();

    (void)state;
    for (size_t rest = 1; rest <= 32; rest++) {
        full_copy(f, STORE_REPLY_BLOCK - rest);
        full_value(f);
        is_scarce = true;
        full_copy(f, rest);
        assert_false(store_reply_failed(f->wire.reply));
        full_value(f);
        assert_true(store_reply_failed(f->wire.reply));
        is_scarce = false;
        full_copy(f, 1);
        assert_int_equal(store_reply_pending(f->wire.reply),
                         STORE_REPLY_BLOCK + LARGE);
        full_again(f);
        assert_int_equal(refs(&f->wire, "v"), 0);
    }
    full_close(f);
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
        cmocka_unit_test(y36_bytes_behind_a_value_may_fill_a_block),
        cmocka_unit_test(y36_the_rest_of_a_value_may_fill_a_block),
        cmocka_unit_test(without_memory_a_reply_has_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
