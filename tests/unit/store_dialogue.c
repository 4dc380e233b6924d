/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The same bytes in any pieces give the same replies. What is too long or too
 * large is not kept. */

#include "tests/unit/support/wire.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/conversations.h"

#define PLACES 32

/* The replies to a conversation, in pieces. */
typedef struct {
    char *replies;
    size_t n;
} heard_t;

static heard_t hold(wire_t *wire, const conversation_t *c, size_t piece,
                    size_t first, unsigned budget)
{
    heard_t heard;

    wire_open(wire, 16);
    if (first > 0)
        wire_say(wire, c->bytes, first, budget);
    for (size_t at = first; at < c->n; at += piece)
        wire_say(wire, c->bytes + at, at + piece < c->n ? piece : c->n - at,
                 budget);
    heard.n = wire->n_replies;
    heard.replies = malloc(heard.n + 1);
    memcpy(heard.replies, wire->replies, heard.n);
    wire_close(wire);
    return heard;
}

static void same(const heard_t *whole, heard_t pieces)
{
    assert_int_equal(pieces.n, whole->n);
    assert_memory_equal(pieces.replies, whole->replies, whole->n);
    free(pieces.replies);
}

static void each_split_is_the_same(void **state)
{
    wire_t wire;

    (void)state;
    for (size_t i = 0; i < CONVERSATIONS; i++) {
        const conversation_t *c = &conversations[i];
        heard_t whole = hold(&wire, c, c->n, 0, 64);

        assert_true(whole.n > 0);
        for (size_t at = 1; at < c->n; at++)
            same(&whole, hold(&wire, c, c->n, at, 64));
        same(&whole, hold(&wire, c, 1, 0, 64));
        same(&whole, hold(&wire, c, 2, 0, 64));
        same(&whole, hold(&wire, c, c->n, 0, 1));
        free(whole.replies);
    }
}

static void a_value_is_read_into_its_item(void **state)
{
    static const size_t most[] = {1, 9000, 100, 1000000};
    wire_t wire;
    struct iovec iov[PLACES];
    size_t at = 0, n;
    unsigned i, j, places = 0;

    (void)state;
    wire_open(&wire, 16);
    wire_expect(&wire, "set a 1 0 60000\r\n", "");
    for (i = 0; i < sizeof most / sizeof *most; i++) {
        places = store_dialogue_room(wire.dialogue, iov, PLACES, most[i]);
        n = 0;
        for (j = 0; j < places; j++) {
            memcpy(iov[j].iov_base, shelf_value(1, 60000) + at + n,
                   iov[j].iov_len);
            n += iov[j].iov_len;
        }
        assert_int_equal(n, most[i] < 60000 - at ? most[i] : 60000 - at);
        store_dialogue_filled(wire.dialogue, n);
        at += n;
    }
    assert_true(places > 1);
    assert_int_equal(store_dialogue_room(wire.dialogue, iov, PLACES, 1), 0);
    wire_expect(&wire, "\r\nmg a s\r\n", "STORED\r\nHD s60000\r\n");
    assert_true(shelf_get(&wire.shelf, "a", 1, 60000));
    wire_close(&wire);
}

/* A piece has 8 KB. */
static void many_pieces_are_read_by_one_call(void **state)
{
    wire_t wire;
    struct iovec iov[PLACES];

    (void)state;
    wire_open(&wire, 16);
    wire_expect(&wire, "set a 0 0 100000\r\n", "");
    assert_int_equal(store_dialogue_room(wire.dialogue, iov, PLACES, 100000),
                     13);
    assert_int_equal(store_dialogue_room(wire.dialogue, iov, 5, 100000), 5);
    assert_int_equal(store_dialogue_room(wire.dialogue, iov, PLACES, 20000), 3);
    wire_close(&wire);
}

static void a_binary_value_needs_nothing_behind_it(void **state)
{
    static const char head[] = "\x80\x01\0\x01\x08\0\0\0\0\0\0\x0c"
                               "abcd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0k";
    wire_t wire;
    struct iovec iov;

    (void)state;
    wire_open(&wire, 16);
    wire_say(&wire, head, sizeof head - 1, 64);
    assert_int_equal(store_dialogue_room(wire.dialogue, &iov, 1, 9), 1);
    assert_int_equal(iov.iov_len, 3);
    memcpy(iov.iov_base, "xyz", 3);
    store_dialogue_filled(wire.dialogue, 3);
    wire_say(&wire, "", 0, 64);
    assert_int_equal(wire.n_replies, 24);
    wire_close(&wire);
}

/* n times a byte, between two strings. */
static char *stretch(const char *before, size_t n, const char *after)
{
    size_t b = strlen(before), a = strlen(after);
    char *text = malloc(b + n + a + 1);

    memcpy(text, before, b);
    memset(text + b, 'x', n);
    memcpy(text + b + n, after, a + 1);
    return text;
}

static void too_large_values_are_swallowed(void **state)
{
    char *text = stretch("set a 0 0 3000000\r\n", 3000000, "\r\nversion\r\n");
    wire_t wire;
    const char *replies;

    (void)state;
    wire_open(&wire, 16);
    wire_expect(&wire, "set a 0 0 1\r\n1\r\n", "STORED\r\n");
    replies = wire_ask(&wire, text);
    assert_ptr_equal(strstr(replies,
                            "SERVER_ERROR object too large for cache\r\n"
                            "VERSION 1.6."),
                     replies);
    /* The old value would be out of date. */
    wire_expect(&wire, "get a\r\n", "END\r\n");
    assert_int_equal(wire.shelf.space->figures->items, 0);
    free(text);
    wire_close(&wire);
}

/* What clients send now cannot be evicted. It has half of the space, which is of
 * 16 pages. */
static void large_values_at_a_time_have_half_of_the_space(void **state)
{
    enum { LARGE = 300000 };
    const char many[] = "SERVER_ERROR too many large values at a time\r\n";
    char *some = stretch("set a 0 0 300000\r\n", LARGE - 1, "");
    char *more = stretch("set b 0 0 300000\r\n", LARGE, "\r\n");
    char *meta = stretch("ms b 300000\r\n", LARGE, "\r\n");
    char *small = stretch("set c 0 0 100000\r\n", 100000, "\r\n");
    wire_t first, other;

    (void)state;
    wire_open(&first, 16);
    wire_join(&other, &first);
    wire_ask(&first, some);
    wire_expect(&other, more, many);
    wire_expect(&other, meta, many);
    wire_expect(&other, small, "STORED\r\n");
    wire_again(&other);
    assert_int_equal(wire_request(&other, 0x01, "\0\0\0\0\0\0\0", 8, "b",
                                  strchr(more, 'x'), 0),
                     0x82);
    wire_again(&other);
    wire_expect(&first, "x\r\n", "STORED\r\n");
    wire_expect(&other, more, "STORED\r\n");
    wire_expect(&other, meta, "HD\r\n");

    wire_ask(&first, some);
    wire_expect(&other, more, many);
    wire_again(&first); /* it leaves */
    wire_expect(&other, more, "STORED\r\n");
    assert_true(first.shelf.space->large_coming == 0);
    wire_leave(&other);
    wire_close(&first);
    free(some);
    free(more);
    free(meta);
    free(small);
}

static void long_lines_end_the_connection(void **state)
{
    char *good = stretch("set ", 2044, "\r\n"); /* 2,049 with the CR */
    char *text = stretch("get ", 2043, "\r\n"); /* 2,048 */
    wire_t wire;

    (void)state;
    wire_open(&wire, 16);
    wire_expect(&wire, text, "CLIENT_ERROR bad command line format\r\n");
    assert_false(store_dialogue_is_over(wire.dialogue));
    wire_expect(&wire, good, "");
    assert_true(store_dialogue_is_over(wire.dialogue));
    free(text);
    free(good);
    /* Without an end, too. */
    wire_again(&wire);
    text = stretch("", 2049, "");
    wire_expect(&wire, text, "");
    assert_true(store_dialogue_is_over(wire.dialogue));
    free(text);
    wire_close(&wire);
}

static void get_may_be_longer(void **state)
{
    size_t keys = 32000;
    char *text = malloc(4 + 2 * keys + 3);
    wire_t wire;

    (void)state;
    memcpy(text, "get", 4);
    for (size_t i = 0; i < keys; i++)
        memcpy(text + 3 + 2 * i, " a", 2);
    memcpy(text + 3 + 2 * keys, "\r\n", 3);
    wire_open(&wire, 16);
    wire_expect(&wire, "set a 0 0 4\r\nabcd\r\n", "STORED\r\n");
    wire_ask(&wire, text);
    assert_int_equal(wire.n_replies,
                     8 + keys * strlen("VALUE a 0 4\r\nabcd\r\n") +
                         strlen("END\r\n"));
    free(text);
    text = stretch("get ", 65536, "");
    wire_expect(&wire, text, "CLIENT_ERROR line too long\r\n");
    assert_true(store_dialogue_is_over(wire.dialogue));
    free(text);
    wire_close(&wire);
}

/* A client that asks for much and takes nothing: what waits is bounded. */
static void a_long_get_waits_for_its_client(void **state)
{
    unsigned budget = 640;
    char *value = stretch("set a 0 0 4000\r\n", 4000, "\r\n");
    char text[4003] = "get";
    wire_t wire;
    size_t used, again;

    (void)state;
    for (size_t i = 0; i < 1999; i++)
        memcpy(text + 3 + 2 * i, " a", 2);
    memcpy(text + 4001, "\r\n", 2);
    wire_open(&wire, 16);
    wire_expect(&wire, value, "STORED\r\n");
    used = store_dialogue_input(wire.dialogue, text, sizeof text, wire.reply,
                                &budget);
    assert_int_equal(budget, 0);
    assert_true(used > 250 && used < 350);
    assert_true(store_reply_pending(wire.reply) < 600000);
    /* Still the same: nothing was taken. */
    budget = 640;
    again = store_dialogue_input(wire.dialogue, text + used, sizeof text - used,
                                 wire.reply, &budget);
    assert_int_equal(again, 0);
    assert_int_equal(budget, 0);
    wire_say(&wire, text + used, sizeof text - used, 64);
    assert_int_equal(wire.n_replies, 8 + 1999 * 4018 + 5);
    free(value);
    wire_close(&wire);
}

/* Its other keys are longer than a line of another command may be. */
static void a_very_long_get_goes_on(void **state)
{
    const size_t keys = 5000;
    char *value = stretch("set a 0 0 1000\r\n", 1000, "\r\n");
    char *text = malloc(2 * keys + 6);
    wire_t wire;

    (void)state;
    memcpy(text, "get", 3);
    for (size_t i = 0; i < keys; i++)
        memcpy(text + 3 + 2 * i, " a", 2);
    memcpy(text + 3 + 2 * keys, "\r\n", 3);
    wire_open(&wire, 16);
    wire_expect(&wire, value, "STORED\r\n");
    wire_ask(&wire, text);
    assert_false(store_dialogue_is_over(wire.dialogue));
    assert_int_equal(wire.n_replies, 8 + keys * 1018 + 5);
    free(text);
    free(value);
    wire_close(&wire);
}

/* One client with long lines must not take the worker from the others. */
static void many_keys_count_as_many_commands(void **state)
{
    unsigned budget = 64;
    char text[4003] = "get";
    wire_t wire;

    (void)state;
    for (size_t i = 0; i < 1999; i++)
        memcpy(text + 3 + 2 * i, " a", 2);
    memcpy(text + 4001, "\r\n", 2);
    wire_open(&wire, 16);
    assert_in_range(store_dialogue_input(wire.dialogue, text, sizeof text,
                                         wire.reply, &budget),
                    100, 2100);
    assert_int_equal(budget, 0);
    wire_close(&wire);
}

static void large_copies_count_as_many_commands(void **state)
{
    static const char append[] = "append a 0 0 1 noreply\r\nx\r\n";
    const size_t n = sizeof append - 1;
    unsigned budget = 64;
    char *value = stretch("set a 0 0 100000\r\n", 100000, "\r\n");
    char text[64 * sizeof append];
    wire_t wire;

    (void)state;
    for (size_t i = 0; i < 64; i++)
        memcpy(text + i * n, append, n);
    wire_open(&wire, 16);
    wire_expect(&wire, value, "STORED\r\n");
    assert_in_range(
        store_dialogue_input(wire.dialogue, text, 64 * n, wire.reply, &budget),
        1, 16 * n);
    assert_int_equal(budget, 0);
    free(value);
    wire_close(&wire);
}

static void quit_uses_all(void **state)
{
    wire_t wire;

    (void)state;
    wire_open(&wire, 16);
    wire_expect(&wire, "quit\r\nversion\r\n", "");
    assert_true(store_dialogue_is_over(wire.dialogue));
    assert_int_equal(wire.n_rest, 0);
    wire_again(&wire);
    wire_expect(&wire, "GET / HTTP/1.0\r\nHost: x\r\n\r\n", "");
    assert_true(store_dialogue_is_over(wire.dialogue));
    wire_close(&wire);
}

/* It gives back the item of a value that has not arrived. */
static void a_client_may_leave_at_any_byte(void **state)
{
    wire_t wire;

    (void)state;
    wire_open(&wire, 16);
    for (int i = 0; i < 100; i++) {
        wire_expect(&wire, "set a 0 0 30000\r\nabc", "");
        wire_again(&wire);
    }
    assert_int_equal(shelf_check(&wire.shelf), 0);
    wire_close(&wire);
}

/* Those of yrmcds, when the head of the first request is there. */
static void counters_get_an_error(void **state)
{
    static const char reply[] = "\x91\2\x81\0\0\0\0\x2dopaq"
                                "this store has no counters: use lock, or incr";
    wire_t wire;

    (void)state;
    wire_open(&wire, 16);
    wire_say(&wire, "\x90\2\0\0\0\0\0\x0bopa", 11, 64);
    assert_int_equal(wire.n_replies, 0);
    assert_false(store_dialogue_is_over(wire.dialogue));
    wire_say(&wire, "q\0\0\0\1", 5, 64);
    assert_int_equal(wire.n_replies, sizeof reply - 1);
    assert_memory_equal(wire.replies, reply, sizeof reply - 1);
    assert_true(store_dialogue_is_over(wire.dialogue));
    wire_close(&wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_split_is_the_same),
        cmocka_unit_test(a_value_is_read_into_its_item),
        cmocka_unit_test(many_pieces_are_read_by_one_call),
        cmocka_unit_test(a_binary_value_needs_nothing_behind_it),
        cmocka_unit_test(too_large_values_are_swallowed),
        cmocka_unit_test(large_values_at_a_time_have_half_of_the_space),
        cmocka_unit_test(long_lines_end_the_connection),
        cmocka_unit_test(get_may_be_longer),
        cmocka_unit_test(a_long_get_waits_for_its_client),
        cmocka_unit_test(a_very_long_get_goes_on),
        cmocka_unit_test(many_keys_count_as_many_commands),
        cmocka_unit_test(large_copies_count_as_many_commands),
        cmocka_unit_test(quit_uses_all),
        cmocka_unit_test(a_client_may_leave_at_any_byte),
        cmocka_unit_test(counters_get_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
