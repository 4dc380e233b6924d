/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* The text protocol. The expected replies are those of memcached 1.6.18. */

#include "store/memory/region.h"
#include "store/memory/table.h"
#include "tests/unit/support/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BAD_LINE "CLIENT_ERROR bad command line format\r\n"

static void storage(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "set a 5 0 3\r\nabc\r\nget a\r\n",
                "STORED\r\nVALUE a 5 3\r\nabc\r\nEND\r\n");
    wire_expect(&w, "add a 0 0 1\r\n1\r\nreplace a 6 0 2\r\nxy\r\n",
                "NOT_STORED\r\nSTORED\r\n");
    wire_expect(&w, "append a 9 9 1\r\n+\r\nprepend a 9 9 1\r\n-\r\nget a\r\n",
                "STORED\r\nSTORED\r\nVALUE a 6 4\r\n-xy+\r\nEND\r\n");
    wire_expect(&w, "replace b 0 0 1\r\n1\r\nappend b 0 0 1\r\n1\r\n",
                "NOT_STORED\r\nNOT_STORED\r\n");
    wire_expect(&w, "add b 0 0 0\r\n\r\nget b a c\r\n",
                "STORED\r\nVALUE b 0 0\r\n\r\nVALUE a 6 4\r\n-xy+\r\nEND\r\n");
    wire_expect(&w, "set a 0 0 1 noreply\r\n1\r\nget a\r\n",
                "VALUE a 0 1\r\n1\r\nEND\r\n");
    wire_expect(&w, "set a 0 -1 1\r\n1\r\nget a\r\n", "STORED\r\nEND\r\n");
    wire_close(&w);
}

static void errors_of_storage(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "set a 0 0 3\r\nabcd\r\n",
                "CLIENT_ERROR bad data chunk\r\nERROR\r\n");
    wire_expect(&w, "set a 0 0 3 noreply\r\nabcd\r\n", "ERROR\r\n");
    wire_expect(&w, "set a x 0 1\r\nset a 1 x 1\r\nset a 1 0 x\r\n",
                BAD_LINE BAD_LINE BAD_LINE);
    wire_expect(&w, "set a 12abc 0 1\r\nset a -1 0 1\r\nset a 1 0 -1\r\n",
                BAD_LINE BAD_LINE BAD_LINE);
    wire_expect(&w, "set a 0 0\r\nset a 0 0 1 2 3\r\nset\r\n",
                "ERROR\r\nERROR\r\nERROR\r\n");
    /* The numbers of memcached have 64 bits, and it keeps 32. */
    wire_expect(&w, "set a 4294967297 0 1\r\n1\r\nget a\r\n",
                "STORED\r\nVALUE a 1 1\r\n1\r\nEND\r\n");
    wire_expect(&w, "set a 18446744073709551616 0 1\r\n", BAD_LINE);
    wire_close(&w);
}

static void compare_and_swap(void **state)
{
    wire_t w;
    unsigned long cas;
    char line[80];

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "cas a 0 0 1 1\r\n1\r\n", "NOT_FOUND\r\n");
    wire_ask(&w, "set a 0 0 1\r\n1\r\n");
    assert_int_equal(
        sscanf(wire_ask(&w, "gets a\r\n"), "VALUE a 0 1 %lu", &cas), 1);
    snprintf(line, sizeof line, "cas a 0 0 1 %lu\r\n2\r\n", cas + 1);
    wire_expect(&w, line, "EXISTS\r\n");
    snprintf(line, sizeof line, "cas a 0 0 1 %lu\r\n2\r\n", cas);
    wire_expect(&w, line, "STORED\r\n");
    wire_expect(&w, line, "EXISTS\r\n");
    wire_expect(&w, "cas a 0 0 1 0\r\n1\r\ncas a 0 0 1\r\ncas a 0 0 1 x\r\n",
                "EXISTS\r\nERROR\r\n" BAD_LINE);
    wire_close(&w);
}

static void numbers(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "set n 7 0 2\r\n10\r\nincr n 5\r\ndecr n 6\r\nget n\r\n",
                "STORED\r\n15\r\n9\r\nVALUE n 7 2\r\n9 \r\nEND\r\n");
    wire_expect(&w, "decr n 100\r\nincr n 100\r\nget n\r\n",
                "0\r\n100\r\nVALUE n 7 3\r\n100\r\nEND\r\n");
    wire_expect(&w, "incr n 18446744073709551615\r\nincr n noreply\r\n",
                "99\r\n");
    wire_expect(&w, "incr n 1 noreply\r\nget n\r\nincr x 1\r\n",
                "VALUE n 7 3\r\n100\r\nEND\r\nNOT_FOUND\r\n");
    wire_expect(&w, "incr n 1x\r\nincr n -1\r\nincr n\r\n",
                "CLIENT_ERROR invalid numeric delta argument\r\n"
                "CLIENT_ERROR invalid numeric delta argument\r\nERROR\r\n");
    wire_expect(&w, "set n 0 0 4\r\n12ab\r\nincr n 1\r\n",
                "STORED\r\nCLIENT_ERROR cannot increment or decrement "
                "non-numeric value\r\n");
    wire_expect(&w, "set n 0 0 5\r\n12 ab\r\nincr n 1\r\nget n\r\n",
                "STORED\r\n13\r\nVALUE n 0 5\r\n13   \r\nEND\r\n");
    wire_close(&w);
}

/* A number in front of much text: the rest becomes spaces. */
static void a_long_number(void **state)
{
    enum { LENGTH = 30000 };
    char line[LENGTH + 60], want[LENGTH + 60];
    int n = snprintf(line, sizeof line, "set n 0 0 %d\r\n7 ", LENGTH);
    wire_t w;

    (void)state;
    memset(line + n, 'x', LENGTH - 2);
    memcpy(line + n + LENGTH - 2, "\r\nincr n 3\r\n", 13);
    n = snprintf(want, sizeof want, "VALUE n 0 %d\r\n10", LENGTH);
    memset(want + n, ' ', LENGTH - 2);
    memcpy(want + n + LENGTH - 2, "\r\nEND\r\n", 8);
    wire_open(&w, 16);
    wire_expect(&w, line, "STORED\r\n10\r\n");
    wire_expect(&w, "get n\r\n", want);
    wire_close(&w);
}

static void deletion_and_time(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "set a 0 0 1\r\n1\r\ndelete a\r\ndelete a 0\r\n",
                "STORED\r\nDELETED\r\nNOT_FOUND\r\n");
    wire_expect(&w, "delete a 1\r\ndelete a noreply\r\ndelete a 0 noreply\r\n",
                "CLIENT_ERROR bad command line format.  "
                "Usage: delete <key> [noreply]\r\n");
    wire_expect(&w, "set a 0 10 1\r\n1\r\ntouch a 100\r\ntouch b 1\r\n",
                "STORED\r\nTOUCHED\r\nNOT_FOUND\r\n");
    shelf_later(&w.shelf, 50);
    wire_expect(&w, "gat 200 a b\r\n", "VALUE a 0 1\r\n1\r\nEND\r\n");
    shelf_later(&w.shelf, 150);
    wire_expect(&w, "get a\r\ngat x a\r\ntouch a x\r\n",
                "VALUE a 0 1\r\n1\r\nEND\r\n"
                "CLIENT_ERROR invalid exptime argument\r\n"
                "CLIENT_ERROR invalid exptime argument\r\n");
    shelf_later(&w.shelf, 60);
    wire_expect(&w, "get a\r\n", "END\r\n");
    wire_close(&w);
}

static void flushes(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    /* What is set after it is visible at once. */
    wire_expect(&w,
                "set a 0 0 1\r\n1\r\nflush_all\r\nset b 0 0 1\r\n2\r\n"
                "get a b\r\n",
                "STORED\r\nOK\r\nSTORED\r\nVALUE b 0 1\r\n2\r\nEND\r\n");
    wire_expect(&w, "flush_all 10\r\nget b\r\n",
                "OK\r\nVALUE b 0 1\r\n2\r\nEND\r\n");
    shelf_later(&w.shelf, 11);
    store_space_tick(w.shelf.space);
    wire_expect(&w, "get b\r\nflush_all noreply\r\nflush_all x\r\n",
                "END\r\nCLIENT_ERROR invalid exptime argument\r\n");
    wire_close(&w);
}

static void keys_and_lines(void **state)
{
    char key[300], line[700], want[700];
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    memset(key, 'k', sizeof key);
    key[250] = '\0';
    snprintf(line, sizeof line, "set %s 0 0 1\r\n1\r\nget %s\r\n", key, key);
    snprintf(want, sizeof want, "STORED\r\nVALUE %s 0 1\r\n1\r\nEND\r\n", key);
    wire_expect(&w, line, want);
    snprintf(line, sizeof line, "get a %sk b\r\n", key);
    wire_expect(&w, line, BAD_LINE);
    wire_expect(&w, "\r\n\n \r\nget\r\nGET a\r\nfoo\r\ngetx a\r\n",
                "ERROR\r\nERROR\r\nERROR\r\nERROR\r\nERROR\r\nERROR\r\n"
                "ERROR\r\n");
    wire_expect(&w, "  get  a  \nget a\r\n", "END\r\nEND\r\n");
    wire_close(&w);
}

static void administration(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_expect(&w, "shutdown\r\nwatch\r\nverbosity 1\r\nverbosity\r\n",
                "ERROR: shutdown not enabled\r\n"
                "CLIENT_ERROR watch commands not allowed\r\nOK\r\nERROR\r\n");
    wire_expect(&w,
                "slabs reassign 1 2\r\nlru mode flat\r\n"
                "lru_crawler crawl all\r\ncache_memlimit 64\r\n",
                "CLIENT_ERROR slab reassignment disabled\r\nERROR\r\n"
                "CLIENT_ERROR lru crawler disabled\r\n"
                "MEMLIMIT_ADJUST_FAILED out of bounds or unable to adjust\r\n");
    assert_memory_equal(wire_ask(&w, "version\r\n"), "VERSION 1.6.", 12);
    wire_close(&w);
}

static uint64_t figure(wire_t *w, const char *name)
{
    char want[80];
    const char *at;

    snprintf(want, sizeof want, "STAT %s ", name);
    at = strstr(wire_ask(w, "stats\r\n"), want);
    assert_non_null(at);
    return strtoull(at + strlen(want), NULL, 10);
}

static void statistics(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 16);
    wire_ask(&w, "set a 0 0 1\r\n1\r\nget a b\r\nincr a 1\r\ntouch x 1\r\n");
    assert_int_equal(figure(&w, "cmd_get"), 2);
    assert_int_equal(figure(&w, "get_hits"), 1);
    assert_int_equal(figure(&w, "get_misses"), 1);
    assert_int_equal(figure(&w, "incr_hits"), 1);
    assert_int_equal(figure(&w, "touch_misses"), 1);
    assert_int_equal(figure(&w, "curr_items"), 1);
    assert_int_equal(figure(&w, "limit_maxbytes"), 1 << 20);
    wire_expect(&w, "stats reset\r\n", "RESET\r\n");
    assert_int_equal(figure(&w, "cmd_get"), 0);
    assert_int_equal(figure(&w, "curr_items"), 1);
    assert_non_null(strstr(wire_ask(&w, "stats items\r\n"), ":number 1\r\n"));
    assert_non_null(
        strstr(wire_ask(&w, "stats slabs\r\n"), "STAT active_slabs 1\r\n"));
    assert_non_null(
        strstr(wire_ask(&w, "stats settings\r\n"), "STAT evictions on\r\n"));
    wire_expect(&w, "stats sizes\r\nstats foo\r\nstats ops\r\nstats conns\r\n",
                "STAT sizes_status disabled\r\nEND\r\n"
                "ERROR\r\nERROR\r\nERROR\r\n");
    wire_close(&w);
}

static void lists_of_keys(void **state)
{
    enum { ITEMS = 3000 };
    wire_t w;
    const char *replies;
    char line[80];

    (void)state;
    wire_open(&w, 64);
    wire_expect(&w, "keys\r\nlru_crawler metadump all\r\n", "END\r\nEND\r\n");
    for (int i = 0; i < ITEMS; i++) {
        snprintf(line, sizeof line, "set %c/%d 0 0 1 noreply\r\n1\r\n",
                 i % 3 ? 'a' : 'b', i);
        wire_ask(&w, line);
    }
    replies = wire_ask(&w, "keys\r\nversion\r\n");
    for (int i = 0; i < ITEMS; i++) {
        snprintf(line, sizeof line, "VALUE %c/%d\r\n", i % 3 ? 'a' : 'b', i);
        assert_non_null(strstr(replies, line));
    }
    assert_non_null(strstr(replies, "\r\nEND\r\nVERSION 1.6."));
    replies = wire_ask(&w, "keys b/\r\n");
    assert_non_null(strstr(replies, "VALUE b/0\r\n"));
    assert_null(strstr(replies, "VALUE a/"));
    replies = wire_ask(&w, "lru_crawler metadump all\r\n");
    assert_non_null(strstr(replies, "key=a%2F1 exp=-1 la="));
    wire_close(&w);
}

/* The host's clock is ahead of the store's since somebody has set it. */
static void times_are_those_of_the_host(void **state)
{
    const char *reply, *at;
    wire_t w;

    (void)state;
    wire_open(&w, 8);
    shelf_later(&w.shelf, -100000);
    wire_expect(&w, "set a 0 600 1\r\n1\r\n", "STORED\r\n");
    reply = wire_ask(&w, "lru_crawler metadump all\r\n");
    at = strstr(reply, "exp=");
    assert_non_null(at);
    assert_in_range(atoll(at + 4), time(NULL) + 500, time(NULL) + 600);
    at = strstr(reply, "la=");
    assert_non_null(at);
    assert_in_range(atoll(at + 3), time(NULL) - 100, time(NULL));
    store_region_figures()->began += 100000; /* it was set back */
    assert_in_range(figure(&w, "uptime"), 0, 100);
    wire_close(&w);
}

/* Nothing in a key looks like a reply. */
static void a_list_has_no_key_with_a_line_end(void **state)
{
    wire_t w;

    (void)state;
    wire_open(&w, 8);
    wire_expect(&w, "ms YQ0KRU5EDQpi 1 b\r\n1\r\n", "HD\r\n"); /* a CR LF END */
    wire_expect(&w, "ms YQpi 1 b\r\n1\r\nms YQ1i 1 b\r\n1\r\n", "HD\r\nHD\r\n");
    wire_expect(&w, "ms YSBi 1 b\r\n1\r\n", "HD\r\n"); /* a space */
    wire_expect(&w, "keys\r\n", "VALUE a b\r\nEND\r\n");
    assert_non_null(strstr(wire_ask(&w, "lru_crawler metadump all\r\n"),
                           "key=a%0D%0AEND%0D%0Ab "));
    wire_close(&w);
}

static unsigned count(const char *text, const char *word)
{
    unsigned n = 0;

    while ((text = strstr(text, word))) {
        text++;
        n++;
    }
    return n;
}

/* However many they are. A key of metadump takes three times its length. */
static void all_keys_of_a_bucket(void **state)
{
    enum { ITEMS = 150, LENGTH = 240 };
    const store_table_t *table;
    char key[LENGTH + 1];
    unsigned i, n = 0;
    wire_t w;

    (void)state;
    wire_open(&w, 8);
    table = w.shelf.space->table;
    for (i = 0; n < ITEMS; i++) {
        memset(key, '/', LENGTH);
        snprintf(key + LENGTH - 8, 9, "%08u", i);
        if (store_table_hash(key, LENGTH) & (store_table_buckets(table) - 1))
            continue;
        assert_true(shelf_set(&w.shelf, key, i, 1, 0) > 0);
        n++;
    }
    assert_int_equal(
        count(wire_ask(&w, "lru_crawler metadump all\r\n"), "key="), ITEMS);
    assert_int_equal(count(wire_ask(&w, "keys\r\n"), "VALUE "), ITEMS);
    wire_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage),
        cmocka_unit_test(errors_of_storage),
        cmocka_unit_test(compare_and_swap),
        cmocka_unit_test(numbers),
        cmocka_unit_test(a_long_number),
        cmocka_unit_test(deletion_and_time),
        cmocka_unit_test(flushes),
        cmocka_unit_test(keys_and_lines),
        cmocka_unit_test(administration),
        cmocka_unit_test(statistics),
        cmocka_unit_test(lists_of_keys),
        cmocka_unit_test(times_are_those_of_the_host),
        cmocka_unit_test(a_list_has_no_key_with_a_line_end),
        cmocka_unit_test(all_keys_of_a_bucket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
