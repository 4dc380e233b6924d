/* Licensed under the Apache License, Version 2.0; see LICENSE. */

/* What an app sends over HTTP, in pieces of any size. */

#include <string.h>

#include "tests/unit/support/http_reader.h"
#include "tests/unit/support/scene.h"

/* ---- pieces ---- */

static const char *const responses[] = {
    OK "A: 1\r\nContent-Length: 5\r\n\r\nhello",
    OK CHUNKED "\r\n3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n",
    OK CHUNKED "\r\n3 \r\nabc\r\n0\r\nSum: 1\r\nB: 2\r\n\r\n",
    "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" OK "Content-Length: 0\r\n\r\n",
    "\r\n\n" OK "A: 1\r\n  2\r\n\t3 \r\nB:\r\nContent-Length: 1\r\n\r\nx",
    "HTTP/1.1 200\nA:1\nContent-Length: 1\n\nx",
    "HTTP/1.1 204 None\r\n\r\n",
};

/* Each place where it may be cut in two, and pieces of each size. */
static void a_response_in_any_pieces(void **state)
{
    char whole[500];
    apppool_http_parser_t parser;
    size_t i, first, piece, n;

    (void)state;
    for (i = 0; i < sizeof responses / sizeof *responses; i++) {
        n = strlen(responses[i]);
        assert_int_equal(http_read_all(&parser, responses[i], n, 0, n, 0),
                         APPPOOL_HTTP_END);
        strcpy(whole, http_seen);
        for (first = 0; first <= n; first++)
            for (piece = 1; piece <= n; piece += piece < 8 ? 1 : 7) {
                assert_int_equal(
                    http_read_all(&parser, responses[i], n, first, piece, 0),
                    APPPOOL_HTTP_END);
                assert_string_equal(http_seen, whole);
            }
    }
}

static void not_before_its_last_byte(void **state)
{
    apppool_http_parser_t parser;
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof responses / sizeof *responses; i++)
        for (n = strlen(responses[i]) - 1; n > 0; n--)
            assert_int_equal(http_read_all(&parser, responses[i], n, 0, n, 0),
                             APPPOOL_HTTP_MORE);
}

/* ---- what is in it ---- */

typedef struct {
    const char *bytes, *seen;
} pair_t;

static void what_is_in_it(void **state)
{
    static const pair_t pairs[] = {
        {OK "A: 1\r\nContent-Length: 5\r\n\r\nhello",
         "H200 OK|A=1;Content-Length=5;hello"},
        {OK CHUNKED "\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n",
         "H200 OK|Transfer-Encoding=chunked;abcd"},
        {"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" OK "Content-Length: 0\r\n\r\n",
         "I103 Early|Link=x;H200 OK|Content-Length=0;"},
        {OK "A: 1\r\n  2\r\n\t3 \r\nB: \r\nContent-Length: 0\r\n\r\n",
         "H200 OK|A=1    2  \t3;B=;Content-Length=0;"},
        {"HTTP/1.1 404\r\nContent-Length:0\r\n\r\n", "H404 |Content-Length=0;"},
        {OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
         "H200 OK|Content-Length=2;Content-Length=2;ok"},
        {OK "Content-Length: 2\r\n\r\nok" OK, "H200 OK|Content-Length=2;ok"},
    };
    apppool_http_parser_t parser;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_int_equal(http_read_text(&parser, pairs[i].bytes),
                         APPPOOL_HTTP_END);
        assert_string_equal(http_seen, pairs[i].seen);
    }
}

static void a_trailer_is_no_header(void **state)
{
    apppool_http_parser_t parser;

    (void)state;
    assert_int_equal(http_read_text(&parser, responses[2]), APPPOOL_HTTP_END);
    assert_null(apr_table_get(parser.fields, "Sum"));
    assert_string_equal(apr_table_get(parser.trailers, "Sum"), "1");
    assert_string_equal(apr_table_get(parser.trailers, "B"), "2");
    assert_int_equal(http_read_text(&parser, responses[1]), APPPOOL_HTTP_END);
    assert_null(parser.trailers);
}

/* ---- where it ends ---- */

static void no_body(void **state)
{
    static const char *const without[] = {
        "HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 304 Same\r\n" CHUNKED "\r\n"};
    static const char head[] = OK "Content-Length: 5\r\n\r\n";
    apppool_http_parser_t parser;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        assert_int_equal(http_read_text(&parser, without[i]), APPPOOL_HTTP_END);
        assert_false(apppool_http_parser_is_clean(&parser));
    }
    assert_int_equal(
        http_read_all(&parser, head, sizeof head - 1, 0, sizeof head, 1),
        APPPOOL_HTTP_END);
    assert_false(apppool_http_parser_is_clean(&parser));
}

/* The end of the connection is the end of a body without a length, and of
 * nothing else. */
static void the_end_of_the_connection(void **state)
{
    static const char *const cut[] = {"",
                                      "\r\n",
                                      "HTTP/1.1 200 OK",
                                      OK,
                                      OK "A: 1\r\n",
                                      OK "Content-Length: 5\r\n\r\nhell",
                                      OK CHUNKED "\r\n",
                                      OK CHUNKED "\r\n3\r\nabc\r\n",
                                      OK CHUNKED "\r\n3\r\nabc\r\n0\r\n",
                                      "HTTP/1.1 100 Continue\r\n\r\n"};
    apppool_http_parser_t parser;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof cut / sizeof *cut; i++) {
        assert_int_equal(http_read_text(&parser, cut[i]), APPPOOL_HTTP_MORE);
        assert_false(apppool_http_parser_end(&parser));
    }
    assert_int_equal(http_read_text(&parser, OK "\r\nto the end"),
                     APPPOOL_HTTP_MORE);
    assert_true(apppool_http_parser_end(&parser));
    assert_int_equal(apppool_http_parser_next(&parser), APPPOOL_HTTP_END);
    assert_string_equal(http_seen, "H200 OK|to the end");
    assert_false(apppool_http_parser_is_clean(&parser));
}

/* ---- may the next request use the connection? ---- */

static void clean_or_not(void **state)
{
    static const char *const unclean[] = {
        OK "Content-Length: 5\r\n\r\nhello\r\n",
        OK "Content-Length: 5\r\n\r\nhello" OK,
        OK CHUNKED "\r\n0\r\n\r\nx",
        OK CHUNKED "Content-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "\r\n" OK "Content-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"};
    apppool_http_parser_t parser;
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        assert_int_equal(http_read_text(&parser, responses[i]),
                         APPPOOL_HTTP_END);
        assert_true(apppool_http_parser_is_clean(&parser));
    }
    for (i = 0; i < sizeof unclean / sizeof *unclean; i++) {
        assert_int_equal(http_read_text(&parser, unclean[i]), APPPOOL_HTTP_END);
        assert_false(apppool_http_parser_is_clean(&parser));
    }
}

/* ---- what is wrong ---- */

static void wrong_ones(void **state)
{
    static const pair_t wrong[] = {
        {"nonsense\r\n\r\n", "status line"},
        {"HTTP/2 200 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 20 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 2000 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 020 OK\r\n\r\n", "status line"},
        {"HTTP/1.1\t200 OK\r\n\r\n", "status line"},
        {"HTTP/1.1 200 O\rK\r\n\r\n", "status line"},
        {"HTTP/1.1 101 Switching\r\n\r\n", "changes the protocol"},
        {OK "no field\r\n\r\n", "no colon"},
        {OK " A: 1\r\n\r\n", "begins with a space"},
        {OK "A : 1\r\n\r\n", "no token"},
        {OK ": 1\r\n\r\n", "no token"},
        {OK "A\x80: 1\r\n\r\n", "no token"},
        {OK "A: 1\rB: 2\r\n\r\n", "zero byte or CR"},
        {OK "Content-Length: x\r\n\r\n", "not a number"},
        {OK "Content-Length: -1\r\n\r\n", "not a number"},
        {OK "Content-Length: +1\r\n\r\n", "not a number"},
        {OK "Content-Length:\r\n\r\n", "not a number"},
        {OK "Content-Length: 2, 2\r\n\r\n", "not a number"},
        {OK "Content-Length: 9999999999999999999\r\n\r\n", "not a number"},
        {OK "Content-Length: 2\r\nContent-Length: 3\r\n\r\n", "two different"},
        {OK "Transfer-Encoding: gzip, chunked\r\n\r\n", "not `chunked'"},
        {OK "Transfer-Encoding: identity\r\n\r\n", "not `chunked'"},
        {OK CHUNKED CHUNKED "\r\n", "not `chunked'"},
        {OK CHUNKED "\r\nx\r\n", "not a number"},
        {OK CHUNKED "\r\n\r\n", "not a number"},
        {OK CHUNKED "\r\n-1\r\n", "not a number"},
        {OK CHUNKED "\r\n0x1\r\n", "not a number"},
        {OK CHUNKED "\r\n1g\r\n", "not a number"},
        {OK CHUNKED "\r\n1\nx", "not a number"},
        {OK CHUNKED "\r\n1;\nx", "control character"},
        {OK CHUNKED "\r\n1;a\x1b\r\nx", "control character"},
        {OK CHUNKED "\r\n0\r\nA: 1\n\r\n", "without CR"},
        {OK CHUNKED "\r\n0\r\n\rx", "CR alone"},
        {OK CHUNKED "\r\n1\rx", "CR alone"},
        {OK CHUNKED "\r\n1000000000000000\r\n", "not a number"},
        {OK CHUNKED "\r\n1\r\nxy", "longer than its size"},
        {OK CHUNKED "\r\n1\r\nx\ry", "longer than its size"},
        {OK CHUNKED "\r\n0\r\nno field\r\n\r\n", "no colon"},
    };
    apppool_http_parser_t parser;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(http_read_text(&parser, wrong[i].bytes),
                         APPPOOL_HTTP_WRONG);
        if (!strstr(parser.wrong, wrong[i].seen))
            fail_msg("%s: %s", wrong[i].bytes, parser.wrong);
        assert_int_equal(apppool_http_parser_next(&parser), APPPOOL_HTTP_WRONG);
        assert_false(apppool_http_parser_is_clean(&parser));
    }
}

static void a_zero_byte(void **state)
{
    static const char in_value[] = OK "A: 1\0002\r\n\r\n";
    static const char in_line[] = "HTTP/1.1 200 \0OK\r\n\r\n";
    static const char in_name[] = OK "A\0B: 1\r\n\r\n";
    apppool_http_parser_t parser;

    (void)state;
    assert_int_equal(
        http_read_all(&parser, in_value, sizeof in_value - 1, 0, 100, 0),
        APPPOOL_HTTP_WRONG);
    assert_int_equal(
        http_read_all(&parser, in_line, sizeof in_line - 1, 0, 100, 0),
        APPPOOL_HTTP_WRONG);
    assert_int_equal(
        http_read_all(&parser, in_name, sizeof in_name - 1, 0, 100, 0),
        APPPOOL_HTTP_WRONG);
}

/* What follows the header belongs to the other protocol. The header is larger
 * than the first buffer. */
static void another_protocol(void **state)
{
    static const char begin[] = "HTTP/1.1 101 Yes\r\nUpgrade: x\r\nA: ";
    apppool_http_parser_t parser;
    char whole[6100], *bytes = whole, *to;
    size_t n, some;
    apr_pool_t *pool;

    (void)state;
    apr_pool_create(&pool, NULL);
    memset(whole, 'a', sizeof whole);
    memcpy(whole, begin, sizeof begin - 1);
    strcpy(whole + sizeof begin - 1 + 6000, "\r\n\r\nHTTP/1.1 200");
    n = strlen(whole);
    apppool_http_parser_begin(&parser, pool, 0);
    parser.may_switch = 1;
    while (apppool_http_parser_next(&parser) == APPPOOL_HTTP_MORE && n > 0) {
        to = apppool_http_parser_room(&parser, &some);
        some = some < n ? some : n;
        memcpy(to, bytes, some);
        apppool_http_parser_fill(&parser, some);
        bytes += some;
        n -= some;
    }
    assert_int_equal(parser.status, 101);
    assert_string_equal(apr_table_get(parser.fields, "Upgrade"), "x");
    assert_int_equal(strlen(apr_table_get(parser.fields, "A")), 6000);
    assert_int_equal(apppool_http_parser_next(&parser), APPPOOL_HTTP_BODY);
    assert_memory_equal(parser.piece, "HTTP/1.1 200", parser.size);
    assert_int_equal(parser.size, 12);
    assert_int_equal(apppool_http_parser_next(&parser), APPPOOL_HTTP_MORE);
    apr_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_response_in_any_pieces),
        cmocka_unit_test(not_before_its_last_byte),
        cmocka_unit_test(what_is_in_it),
        cmocka_unit_test(a_trailer_is_no_header),
        cmocka_unit_test(no_body),
        cmocka_unit_test(the_end_of_the_connection),
        cmocka_unit_test(clean_or_not),
        cmocka_unit_test(wrong_ones),
        cmocka_unit_test(a_zero_byte),
        cmocka_unit_test(another_protocol),
    };

    return cmocka_run_group_tests(tests, http_reader_begin, http_reader_end);
}
