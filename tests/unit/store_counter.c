/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* yrmcds' counters. The replies are those of yrmcds 1.1.9. */

#include "tests/unit/support/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/command/counter_wire.h"
#include "store/command/packet.h"

#define HEAD STORE_COUNTER_HEAD

enum { NOOP, GET, ACQUIRE, RELEASE, STATS = 0x10, DUMP = 0x11 };

/* Send a request. */
static void say(wire_t *w, uint8_t opcode, const void *body, uint32_t n)
{
    char head[HEAD] = {(char)STORE_COUNTER_MAGIC, (char)opcode};

    store_packet_put_u32(head + 4, n);
    memcpy(head + 8, "opaq", 4);
    free(w->replies);
    w->replies = NULL;
    w->n_replies = 0;
    wire_say(w, head, sizeof head, 64);
    wire_say(w, body, n, 64);
}

/* @return the status of the only response; its body is behind HEAD bytes */
static int heard(const wire_t *w, uint8_t opcode)
{
    assert_true(w->n_replies >= HEAD);
    assert_int_equal((uint8_t)w->replies[0], STORE_COUNTER_RESPONSE);
    assert_int_equal((uint8_t)w->replies[1], opcode);
    assert_int_equal(w->replies[3], 0);
    assert_memory_equal(w->replies + 8, "opaq", 4);
    assert_int_equal(w->n_replies, HEAD + store_packet_u32(w->replies + 4));
    return (uint8_t)w->replies[2];
}

/* The numbers, and then the name with its length. */
static int ask(wire_t *w, uint8_t opcode, const uint32_t *numbers, unsigned n,
               const char *name, size_t length)
{
    char *body = malloc(4 * n + 2 + length);
    int status;

    for (unsigned i = 0; i < n; i++)
        store_packet_put_u32(body + 4 * i, numbers[i]);
    body[4 * n] = (char)(length >> 8);
    body[4 * n + 1] = (char)length;
    memcpy(body + 4 * n + 2, name, length);
    say(w, opcode, body, (uint32_t)(4 * n + 2 + length));
    free(body);
    status = heard(w, opcode);
    return status;
}

static int acquire(wire_t *w, const char *name, uint32_t resources,
                   uint32_t maximum)
{
    uint32_t numbers[] = {resources, maximum};
    int status = ask(w, ACQUIRE, numbers, 2, name, strlen(name));

    if (status == 0) {
        assert_int_equal(w->n_replies, HEAD + 4);
        assert_int_equal(store_packet_u32(w->replies + HEAD), resources);
    }
    return status;
}

static int release(wire_t *w, const char *name, uint32_t resources)
{
    int status = ask(w, RELEASE, &resources, 1, name, strlen(name));

    if (status == 0)
        assert_int_equal(w->n_replies, HEAD);
    return status;
}

/* @return the consumption; -1: not found */
static int64_t get(wire_t *w, const char *name)
{
    int status = ask(w, GET, NULL, 0, name, strlen(name));

    if (status == STORE_COUNTER_NOT_FOUND)
        return -1;
    assert_int_equal(status, 0);
    assert_int_equal(w->n_replies, HEAD + 4);
    return store_packet_u32(w->replies + HEAD);
}

static void resources(void **state)
{
    wire_t a, b;

    (void)state;
    wire_open(&a, 16);
    wire_join(&b, &a);
    assert_int_equal(get(&a, "r"), -1);
    assert_int_equal(release(&a, "r", 0), STORE_COUNTER_NOT_FOUND);
    assert_int_equal(acquire(&a, "r", 3, 5), 0);
    assert_int_equal(acquire(&b, "r", 3, 5), STORE_COUNTER_UNAVAILABLE);
    assert_int_equal(acquire(&b, "r", 2, 5), 0);
    assert_int_equal(get(&b, "r"), 5);
    assert_int_equal(release(&a, "r", 4), STORE_COUNTER_NOT_ACQUIRED);
    assert_int_equal(release(&a, "r", 0), 0);
    assert_int_equal(release(&a, "r", 2), 0);
    assert_int_equal(acquire(&b, "r", 1, 4), 0);
    assert_int_equal(get(&a, "r"), 4);
    /* The maximum is that of the request. */
    assert_int_equal(acquire(&a, "r", 1, 4), STORE_COUNTER_UNAVAILABLE);
    assert_int_equal(acquire(&a, "r", 1, 100), 0);
    wire_leave(&b);
    assert_int_equal(get(&a, "r"), 2);
    assert_int_equal(release(&a, "r", 2), 0);
    assert_int_equal(release(&a, "r", 0), STORE_COUNTER_NOT_ACQUIRED);
    assert_int_equal(get(&a, "r"), 0);
    wire_close(&a);
}

/* yrmcds adds numbers of 32 bits. */
static void the_sum_does_not_wrap(void **state)
{
    wire_t a;

    (void)state;
    wire_open(&a, 16);
    assert_int_equal(acquire(&a, "r", UINT32_MAX, UINT32_MAX), 0);
    assert_int_equal(acquire(&a, "r", 2, 5), STORE_COUNTER_UNAVAILABLE);
    assert_int_equal(get(&a, "r"), UINT32_MAX);
    wire_close(&a);
}

static void wrong_requests(void **state)
{
    static const struct {
        uint8_t opcode;
        const char *body;
        uint32_t n;
        int status;
    } lines[] = {
        {NOOP, "", 0, 0},
        {NOOP, "abc", 3, 0},
        {GET, "", 0, STORE_COUNTER_INVALID},
        {GET, "\0", 1, STORE_COUNTER_INVALID},
        {GET, "\0\0", 2, STORE_COUNTER_INVALID},
        {GET, "\0\2a", 3, STORE_COUNTER_INVALID},
        {GET, "\0\1ab", 4, STORE_COUNTER_NOT_FOUND},
        {ACQUIRE, "\0\0\0\1\0\0\0\1\0", 9, STORE_COUNTER_INVALID},
        {ACQUIRE, "\0\0\0\0\0\0\0\1\0\1a", 11, STORE_COUNTER_INVALID},
        {ACQUIRE, "\0\0\0\2\0\0\0\1\0\1a", 11, STORE_COUNTER_INVALID},
        {ACQUIRE, "\0\0\0\1\0\0\0\1\0\0a", 11, STORE_COUNTER_INVALID},
        {ACQUIRE, "\0\0\0\1\0\0\0\1\0\2a", 11, STORE_COUNTER_INVALID},
        {ACQUIRE, "\0\0\0\1\0\0\0\1\0\1ab", 12, 0},
        {RELEASE, "\0\0\0\1\0", 5, STORE_COUNTER_INVALID},
        {RELEASE, "\0\0\0\1\0\0a", 7, STORE_COUNTER_INVALID},
        {RELEASE, "\0\0\0\1\0\1abc", 9, 0},
        {0x04, "", 0, STORE_COUNTER_UNKNOWN},
        {0xff, "xyz", 3, STORE_COUNTER_UNKNOWN},
    };
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        say(&w, lines[i].opcode, lines[i].body, lines[i].n);
        assert_int_equal(heard(&w, lines[i].opcode), lines[i].status);
    }
    wire_close(&w);
}

/* No request can have such a head. */
static void the_end(void **state)
{
    static const char *const heads[] = {
        "\x90\1\0\0\0\1\0\12opaq", "\x90\1\0\0\xff\xff\xff\xffopaq",
        "\x80\1\0\0\0\0\0\0opaq", "get some key"};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        wire_t w;

        (void)state;
        wire_open(&w, 16);
        assert_int_equal(get(&w, "r"), -1);
        wire_say(&w, heads[i], HEAD, 64);
        assert_true(store_session_is_over(w.session));
        assert_true(w.n_replies > (size_t)HEAD + 9 + HEAD);
        wire_close(&w);
    }
}

static void longest_name(void **state)
{
    uint32_t numbers[] = {1, 1};
    char *name = calloc(1, 65535);
    wire_t w;

    (void)state;
    wire_open(&w, 64);
    assert_int_equal(ask(&w, ACQUIRE, numbers, 2, name, 65535), 0);
    assert_int_equal(ask(&w, GET, NULL, 0, name, 65535), 0);
    assert_int_equal(ask(&w, GET, NULL, 0, name, 65534),
                     STORE_COUNTER_NOT_FOUND);
    say(&w, DUMP, "", 0);
    assert_int_equal(w.n_replies, 2 * HEAD + 10 + 65535);
    free(name);
    wire_close(&w);
}

/* A sixteenth of 16 pages is 64 KiB. What nobody holds makes room. */
static void memory_is_bounded(void **state)
{
    char name[1000];
    int held = 0, rv = 0;
    wire_t a, b;

    (void)state;
    wire_open(&a, 16);
    wire_join(&b, &a);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "%0900d", i);
        assert_int_equal(acquire(&a, name, 1, 1), 0);
        assert_int_equal(release(&a, name, 1), 0);
    }
    while (held < 500 && rv == 0) {
        snprintf(name, sizeof name, "%0900d", held);
        rv = acquire(&b, name, 1, 1);
        held += rv == 0;
    }
    assert_int_equal(rv, STORE_COUNTER_NO_MEMORY);
    assert_true(held >= 60 && held < 73);
    assert_int_equal(acquire(&a, "small", 1, 1), 0);
    wire_leave(&b);
    assert_int_equal(acquire(&a, name, 1, 1), 0);
    assert_true(store_counter_figures(a.shelf.space).bytes <= 65536);
    wire_close(&a);
}

static void a_connection_has_a_limit(void **state)
{
    char name[20];
    wire_t w;

    (void)state;
    wire_open(&w, 1024);
    for (int i = 0; i <= STORE_HOLDINGS_MAX; i++) {
        snprintf(name, sizeof name, "%d", i);
        assert_int_equal(acquire(&w, name, 1, 1),
                         i < STORE_HOLDINGS_MAX ? 0 : STORE_COUNTER_NO_MEMORY);
    }
    assert_non_null(strstr(w.replies + HEAD, "at most 1024"));
    assert_int_equal(acquire(&w, "7", 1, 2), 0);
    assert_int_equal(release(&w, "9", 1), 0);
    assert_int_equal(acquire(&w, "x", 1, 1), 0);
    wire_again(&w);
    assert_int_equal(get(&w, "7"), 0);
    wire_close(&w);
}

/* ---- what there is ---- */

typedef struct {
    unsigned n, consumption, most;
} dumped_t;

static dumped_t dump(wire_t *w)
{
    const char *at, *end;
    dumped_t sum = {0};

    say(w, DUMP, "", 0);
    end = w->replies + w->n_replies;
    for (at = w->replies; at < end - HEAD;
         at += HEAD + store_packet_u32(at + 4)) {
        assert_int_equal(at[2], 0);
        assert_int_equal(store_packet_u32(at + 4),
                         10 + store_packet_u16(at + HEAD + 8));
        sum.n++;
        sum.consumption += store_packet_u32(at + HEAD);
        sum.most += store_packet_u32(at + HEAD + 4);
    }
    assert_memory_equal(at, "\x91\x11\0\0\0\0\0\0opaq", HEAD);
    return sum;
}

static void a_list_of_all(void **state)
{
    enum { MANY = 900 };
    char name[20];
    dumped_t sum;
    wire_t w;

    (void)state;
    wire_open(&w, 1024);
    assert_int_equal(dump(&w).n, 0);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "%u", i);
        assert_int_equal(acquire(&w, name, 3, 3), 0);
        assert_int_equal(release(&w, name, 1), 0);
    }
    sum = dump(&w);
    assert_int_equal(sum.n, MANY);
    assert_int_equal(sum.consumption, MANY * 2);
    assert_int_equal(sum.most, MANY * 3);
    wire_close(&w);
}

static void the_maximum_is_of_the_day(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    assert_int_equal(acquire(&w, "held", 5, 5), 0);
    assert_int_equal(release(&w, "held", 4), 0);
    assert_int_equal(acquire(&w, "free", 5, 5), 0);
    assert_int_equal(release(&w, "free", 5), 0);
    assert_int_equal(dump(&w).most, 10);
    shelf_later(&w.shelf, 86400);
    /* "free" is gone, and "held" has not changed today. */
    assert_int_equal(dump(&w).most, 1);
    assert_int_equal(get(&w, "free"), -1);
    assert_int_equal(acquire(&w, "held", 1, 5), 0);
    assert_int_equal(release(&w, "held", 2), 0);
    assert_int_equal(dump(&w).most, 2);
    wire_close(&w);
}

static void statistics(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    assert_int_equal(acquire(&w, "r", 1, 1), 0);
    say(&w, STATS, "", 0);
    assert_int_equal(heard(&w, STATS), 0);
    assert_memory_equal(w.replies + HEAD,
                        "\0\7\0\1objects1\0\15\0\1total_objects1", 12 + 18);
    wire_again(&w);
    assert_non_null(strstr(wire_ask(&w, "stats\r\n"), "STAT counters 1\r\n"));
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources),
        cmocka_unit_test(the_sum_does_not_wrap),
        cmocka_unit_test(wrong_requests),
        cmocka_unit_test(the_end),
        cmocka_unit_test(longest_name),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_connection_has_a_limit),
        cmocka_unit_test(a_list_of_all),
        cmocka_unit_test(the_maximum_is_of_the_day),
        cmocka_unit_test(statistics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
